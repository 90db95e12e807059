# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that make flesh, and that move Sinew's modifier below the armature."""

from __future__ import annotations

import bpy

from ..baking.error_messages import reporting_errors
from ..blender_data import modifier_stack
from ..objects import first_settings
from .selection import active_mesh, selected_unshared_meshes


class SINEW_OT_make_flesh(bpy.types.Operator):
    """Make the selected meshes flesh, which follows its bones, bulges and folds"""

    bl_idname = "sinew.make_flesh"
    bl_label = "Make Flesh"
    bl_options = {"REGISTER", "UNDO"}

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Makes every selected mesh flesh, or none."""
        for obj in selected_unshared_meshes(context):
            first_settings.make_new_flesh(obj)
        return {"FINISHED"}


class SINEW_OT_move_below_armature(bpy.types.Operator):
    """Move Sinew's modifier below the Armature, which then poses the input instead of the result"""

    bl_idname = "sinew.move_below_armature"
    bl_label = "Move Sinew Below It"
    bl_options = {"REGISTER", "UNDO"}

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Moves the modifier of the active object."""
        modifier_stack.reset_stack_index(active_mesh(context))
        return {"FINISHED"}


CLASSES = (SINEW_OT_make_flesh, SINEW_OT_move_below_armature)
