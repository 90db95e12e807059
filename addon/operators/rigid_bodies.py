# SPDX-License-Identifier: GPL-3.0-or-later
"""Make Rigid: of the selected meshes, or of all in Blender's rigid body world."""

from __future__ import annotations

import bpy

from ...solver.runtime.errors import BadInput
from ..objects import initial_settings, role_checks, roles
from ..objects.rigid_body_settings import rigid_body_world_meshes
from .error_reporting import reporting_errors
from .selected_objects import selected_meshes


class SINEW_OT_make_rigid(bpy.types.Operator):
    """Make the selected meshes rigid bodies with Blender's Rigid Body settings. Passive ones become colliders"""

    bl_idname = "sinew.make_rigid"
    bl_label = "Make Rigid"
    bl_options = {"REGISTER", "UNDO"}

    is_whole_world: bpy.props.BoolProperty(
        name="Rigid Body World",
        description="All meshes of Blender's rigid body world instead of the selected ones",
        default=False,
        options={"SKIP_SAVE"},
    )

    @classmethod
    def description(cls, _context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        """Says which meshes, for the two buttons."""
        if not properties.is_whole_world:
            return str(cls.__doc__)
        return "Let Sinew move what Blender's rigid body world moves, by the same settings and constraints"

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Makes every mesh a rigid body or a collider, or none."""
        chosen = self._meshes(context)
        moving = [obj for obj in chosen if obj.rigid_body is None or obj.rigid_body.type == "ACTIVE"]
        role_checks.check_unshared([*(o for o in roles.bodies(context.scene) if o not in chosen), *moving])
        for obj in chosen:
            initial_settings.make_new_rigid_body(obj)
        rest = len(chosen) - len(moving)
        made = [(len(moving), "rigid bodies" if len(moving) != 1 else "rigid body")]
        made += [(rest, "colliders" if rest != 1 else "collider")] if rest else []
        self.report({"INFO"}, "Made " + " and ".join(f"{count} {what}" for count, what in made))
        return {"FINISHED"}

    def _meshes(self, context: bpy.types.Context) -> list[bpy.types.Object]:
        if not self.is_whole_world:
            return selected_meshes(context)
        found = sorted(rigid_body_world_meshes(context.scene), key=lambda obj: obj.name)
        if not found:
            raise BadInput("rigid-world-empty", name=context.scene.name)
        for obj in found:
            role_checks.check_object(obj)
        return found


CLASSES = (SINEW_OT_make_rigid,)
