# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that make and add bone meshes."""

from __future__ import annotations

import bpy

from ...solver.scene.settings.flesh_settings import BONE_HOLD_SETTINGS
from ..objects import bone_rows, new_role_objects, role_checks, roles
from .error_reporting import reporting_errors
from .selected_objects import active_mesh, selected_objects


class SINEW_OT_make_bone(bpy.types.Operator):
    """Make the selected meshes bone meshes, which flesh follows. If the active object is flesh, it stays flesh"""

    bl_idname = "sinew.make_bone"
    bl_label = "Make Bone Mesh"
    bl_options = {"REGISTER", "UNDO"}

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Makes every selected mesh a bone, or none; not the flesh that they are selected together with."""
        chosen = selected_objects(context)
        others = [o for o in chosen if not (o == context.object and roles.is_flesh(o))]
        # an armature that is selected with its bone meshes is not meant
        bones = [o for o in others if o.type == "MESH"] or others or chosen
        for obj in bones:
            role_checks.check_bone(obj)
        for obj in bones:
            roles.make_bone(obj)
            if any(obj.sinew.is_property_set(setting.name) for setting in BONE_HOLD_SETTINGS):
                bone_rows.follow_bone(obj)
        return {"FINISHED"}


class SINEW_OT_add_bone(bpy.types.Operator):
    """Add a bone mesh along the middle of the flesh. You can move, shape, copy and animate it"""

    bl_idname = "sinew.add_bone"
    bl_label = "Add Bone Mesh"
    bl_options = {"REGISTER", "UNDO"}

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Adds the mesh; the selection stays."""
        bone = new_role_objects.add_bone(context, active_mesh(context))
        self.report({"INFO"}, f'Added "{bone.name}"')
        return {"FINISHED"}


CLASSES = (SINEW_OT_make_bone, SINEW_OT_add_bone)
