# SPDX-License-Identifier: GPL-3.0-or-later
"""The operator that removes objects from the simulation."""

from __future__ import annotations

import bpy

from ..objects import role_checks, roles
from ..properties.role_definitions import NONE
from .error_reporting import reporting_errors
from .selected_objects import selected_objects


class SINEW_OT_remove(bpy.types.Operator):
    """Remove the selected objects from the simulation. Their cache stays until Delete Bake"""

    bl_idname = "sinew.remove"
    bl_label = "Remove from Sinew"
    bl_options = {"REGISTER", "UNDO"}

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Clears the role of every selected object that has one."""
        for obj in selected_objects(context):
            if obj.sinew.role != NONE:
                role_checks.check_changeable(obj)
                roles.clear_role(obj)
        return {"FINISHED"}


CLASSES = (SINEW_OT_remove,)
