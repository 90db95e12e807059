# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that make bodies, and that remove roles."""

from __future__ import annotations

import bpy

from ..objects import initial_settings, role_checks, roles
from ..properties.role_definitions import NONE
from .error_reporting import reporting_errors
from .selected_objects import selected_objects, selected_unshared_meshes


class SINEW_OT_make_body(bpy.types.Operator):
    """Make the selected meshes soft bodies, which Sinew fills with tets, simulates and bakes together"""

    bl_idname = "sinew.make_body"
    bl_label = "Make Body"
    bl_options = {"REGISTER", "UNDO"}

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Makes every selected mesh a body, or none."""
        for obj in selected_unshared_meshes(context):
            initial_settings.make_new_body(obj)
        return {"FINISHED"}


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


CLASSES = (SINEW_OT_make_body, SINEW_OT_remove)
