# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes of a scene: begin a new one, play, compare and delete those that are there."""

from __future__ import annotations

import bpy
from bpy.props import StringProperty

from ...solver.bake.cache import delete_bake
from ...solver.runtime.errors import BadInput
from ..baking import attach_bake, bake_control, bake_status
from ..baking.addon_session import session
from ..cache import cache_folder_status, cache_paths, takes
from ..cache.takes import Take
from ..objects import take_ghosts
from .error_reporting import reporting_errors


def _chosen(scene: bpy.types.Scene, name: str) -> Take:
    take = takes.find_take(scene, name)
    if take is None:
        raise BadInput("no-such-take", name=name, scene=scene.name)
    return take


def _switch(scene: bpy.types.Scene, name: str) -> None:
    """Makes a scene play a take, or nothing where it has no bake yet."""
    scene.sinew.take = name
    cache_folder_status.invalidate()
    session.forget_messages(scene)
    attach_bake.restore(scene)
    bake_status.invalidate()


class TakeOperator:
    """What operators share that act on a take of the scene."""

    bl_options = {"UNDO"}

    take: StringProperty(name="Take", options={"HIDDEN", "SKIP_SAVE"})

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Not while the scene is being baked."""
        return not session.is_baking(context.scene)


class SINEW_OT_new_take(bpy.types.Operator):
    """Keep this bake, and begin another take with a cache of its own"""

    bl_idname = "sinew.new_take"
    bl_label = "New Take"
    bl_options = {"UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Only with a bake that is to be kept, in a folder that Sinew chooses."""
        if context.scene.sinew.cache_path:
            cls.poll_message_set("The field Cache names a folder. Empty it, or change it for each bake")
            return False
        return not session.is_baking(context.scene) and bake_status.status(context.scene).frame is not None

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Names the next take."""
        kept = f"{context.scene.sinew.take.strip() or 'the first one'} is kept"
        if cache_paths.is_borrowed(context.scene):  # after Save As: no take of this file, so it is in no list
            folder = cache_paths.cache_folder(context.scene)
            kept = f'the bake so far stays with the file that made it, in "{folder.name}"'
        _switch(context.scene, takes.next_name(context.scene))
        self.report({"INFO"}, f"{context.scene.sinew.take} begins, and {kept}")
        return {"FINISHED"}


class SINEW_OT_play_take(TakeOperator, bpy.types.Operator):
    """Play this take"""

    bl_idname = "sinew.play_take"
    bl_label = "Play Take"

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Plays it."""
        _switch(context.scene, _chosen(context.scene, self.take).name)
        take_ghosts.remove(context.scene, self.take)
        return {"FINISHED"}


class SINEW_OT_compare_take(TakeOperator, bpy.types.Operator):
    """Show this take as a wireframe ghost beside the one that plays, or hide it"""

    bl_idname = "sinew.compare_take"
    bl_label = "Compare Take"

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Shows or removes its ghosts."""
        if self.take in take_ghosts.shown_takes(context.scene):
            take_ghosts.remove(context.scene, self.take)
            return {"FINISHED"}
        take = _chosen(context.scene, self.take)
        if not take_ghosts.show(context.scene, take.name, take.folder):
            raise BadInput("take-of-other-meshes", name=take.name)
        return {"FINISHED"}


class SINEW_OT_delete_take(TakeOperator, bpy.types.Operator):
    """Delete the bake of this take from the disk. This cannot be undone"""

    bl_idname = "sinew.delete_take"
    bl_label = "Delete Take"

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Asks first."""
        message = f"All frames in {_chosen(context.scene, self.take).folder.name} are deleted. This cannot be undone."
        ask = context.window_manager.invoke_confirm
        return ask(self, event, title="Delete Take?", message=message, confirm_text="Delete", icon="WARNING")

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Deletes it."""
        scene = context.scene
        take = _chosen(scene, self.take)
        if scene.sinew.protect:
            raise BadInput("bake-protected", name=scene.name)
        if take.folder == cache_paths.cache_folder(scene):
            bake_control.delete(scene)
        else:
            delete_bake(take.folder)
        take_ghosts.remove(scene, take.name)
        cache_folder_status.invalidate()
        return {"FINISHED"}


CLASSES = (SINEW_OT_new_take, SINEW_OT_play_take, SINEW_OT_compare_take, SINEW_OT_delete_take)
