# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators on a finished bake: Delete Bake, Go to the Body, and Restore Bake Results."""

from __future__ import annotations

import bpy
from bpy.props import IntProperty

from ...solver.runtime.errors import BadInput
from ..baking import attach_bake, bake_control, bake_status
from ..baking.addon_session import session
from ..cache import cache_paths
from ..runtime.memo import clear_results
from .error_reporting import reporting_errors
from .simulate import ALL_PASSES


class SINEW_OT_delete_bake(bpy.types.Operator):
    """Delete the bake of this scene from the disk and unlock its settings. This cannot be undone"""

    bl_idname = "sinew.delete_bake"
    bl_label = "Delete Bake"
    bl_options = {"UNDO"}

    bake_pass: IntProperty(
        name="Pass",
        description="Delete the bake of this pass alone. 0: of all passes",
        default=ALL_PASSES,
        options={"SKIP_SAVE"},
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Not while it is being baked."""
        return not session.is_baking(context.scene)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Asks first."""
        folder = cache_paths.cache_folder(context.scene).name
        which = "All frames" if self.bake_pass == ALL_PASSES else f"The frames of pass {self.bake_pass}"
        message = f"{which} in {folder} are deleted. This cannot be undone."
        ask = context.window_manager.invoke_confirm
        return ask(self, event, title="Delete Bake?", message=message, confirm_text="Delete", icon="WARNING")

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Deletes it."""
        foreign = bake_control.delete(context.scene, None if self.bake_pass == ALL_PASSES else self.bake_pass)
        clear_results()
        if foreign:
            self.report({"INFO"}, f"{len(foreign)} files that are not Sinew's stay in {foreign[0].parent}")
        return {"FINISHED"}


class SINEW_OT_activate_body(bpy.types.Operator):
    """Make the hidden body of this result the active object, to see its settings"""

    bl_idname = "sinew.activate_body"
    bl_label = "Go to the Body"
    bl_options = {"REGISTER", "UNDO"}

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Makes it active."""
        made = context.object
        body = made.sinew.result_of if made is not None else None
        if body is None:
            raise BadInput("nothing-selected")
        if body.name not in context.view_layer.objects:
            raise BadInput("body-not-in-view-layer", name=body.name)
        context.view_layer.objects.active = body
        return {"FINISHED"}


class SINEW_OT_show_bake(bpy.types.Operator):
    """Restore broken meshes and attributes that Undo removed"""

    bl_idname = "sinew.show_bake"
    bl_label = "Restore Bake Results"
    bl_options = {"REGISTER", "UNDO"}

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Restores them."""
        attach_bake.attach(context.scene, detach_missing=False)
        bake_status.invalidate()
        return {"FINISHED"}


CLASSES = (SINEW_OT_delete_bake, SINEW_OT_activate_body, SINEW_OT_show_bake)
