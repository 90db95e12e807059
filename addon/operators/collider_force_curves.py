# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that create and remove curves of the forces on colliders."""

from __future__ import annotations

import bpy

from ...solver.runtime.errors import BadInput
from ..baking import attach_force_curves
from ..blender_data import collider_force_curves
from .error_reporting import reporting_errors
from .selected_objects import selected_and_active


class SINEW_OT_create_force_curves(bpy.types.Operator):
    """Give the active and selected colliders the animated properties sinew_force and sinew_torque, for drivers"""

    bl_idname = "sinew.create_force_curves"
    bl_label = "Create Force Curves"
    bl_options = {"REGISTER", "UNDO"}

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Makes them, in the place of those of another bake."""
        made = attach_force_curves.create_curves(context.scene, selected_and_active(context))
        if not made:
            raise BadInput("forces-not-baked", name=context.scene.name)
        self.report({"INFO"}, f"Force curves on {', '.join(made)}")
        return {"FINISHED"}


class SINEW_OT_remove_force_curves(bpy.types.Operator):
    """Remove the force curves and their properties from the active and all selected colliders"""

    bl_idname = "sinew.remove_force_curves"
    bl_label = "Remove Force Curves"
    bl_options = {"REGISTER", "UNDO"}

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Takes them off."""
        for obj in selected_and_active(context):
            collider_force_curves.remove_curves(obj)
        return {"FINISHED"}


CLASSES = (SINEW_OT_create_force_curves, SINEW_OT_remove_force_curves)
