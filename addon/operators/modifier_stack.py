# SPDX-License-Identifier: GPL-3.0-or-later
"""The operator that moves Sinew's modifier in the stack."""

from __future__ import annotations

import bpy

from ..blender_data import modifier_stack
from .error_reporting import reporting_errors
from .selected_objects import active_mesh


class SINEW_OT_move_below_armature(bpy.types.Operator):
    """Move Sinew's modifier below the Armature, which then poses the input instead of the result"""

    bl_idname = "sinew.move_below_armature"
    bl_label = "Move Sinew Below Armature"
    bl_options = {"REGISTER", "UNDO"}

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Moves the modifier of the active object."""
        modifier_stack.reset_stack_index(active_mesh(context))
        return {"FINISHED"}


CLASSES = (SINEW_OT_move_below_armature,)
