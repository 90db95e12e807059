# SPDX-License-Identifier: GPL-3.0-or-later
"""The operator that moves Sinew's modifier in the stack."""

from __future__ import annotations

import bpy

from ..blender_data import sinew_modifier
from .error_reporting import reporting_errors
from .selected_objects import active_mesh_and_selected_bodies


class SINEW_OT_move_below_armature(bpy.types.Operator):
    """Move Sinew's modifier below the Armature, which then poses the input. Also on selected bodies that need it"""

    bl_idname = "sinew.move_below_armature"
    bl_label = "Move Sinew Below Armature"
    bl_options = {"REGISTER", "UNDO"}

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Moves the modifier of the active object, and of selected bodies that are posed after they are simulated."""
        active, *others = active_mesh_and_selected_bodies(context)
        for obj in (active, *filter(sinew_modifier.posing_modifiers_below, others)):
            sinew_modifier.reset_stack_index(obj)
        return {"FINISHED"}


CLASSES = (SINEW_OT_move_below_armature,)
