# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that make colliders and add a ground."""

from __future__ import annotations

import bpy

from ..objects import initial_settings, new_role_objects
from .error_reporting import reporting_errors
from .selected_objects import selected_meshes


class SINEW_OT_make_collider(bpy.types.Operator):
    """Make the selected meshes colliders. They may move and deform"""

    bl_idname = "sinew.make_collider"
    bl_label = "Make Collider"
    bl_options = {"REGISTER", "UNDO"}

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Makes every selected mesh a collider, or none."""
        for obj in selected_meshes(context):
            initial_settings.make_new_collider(obj)
        return {"FINISHED"}


class SINEW_OT_add_ground(bpy.types.Operator):
    """Add an endless ground at height 0, or lower, so that every body has room to fall: half its height"""

    bl_idname = "sinew.add_ground"
    bl_label = "Add Ground"
    bl_options = {"REGISTER", "UNDO"}

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Adds the plane; the selection stays."""
        ground = new_role_objects.add_ground(context)
        self.report({"INFO"}, f'Added "{ground.name}"')
        return {"FINISHED"}


CLASSES = (SINEW_OT_make_collider, SINEW_OT_add_ground)
