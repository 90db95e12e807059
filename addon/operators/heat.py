# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that add and make heat sources."""

from __future__ import annotations

import bpy

from ..objects import new_objects, role_checks, roles
from .error_reporting import reporting_errors
from .selected_objects import selected_objects


class SINEW_OT_add_heat_source(bpy.types.Operator):
    """Add an empty at the 3D cursor that warms bodies within its Radius. You can move and animate it"""

    bl_idname = "sinew.add_heat_source"
    bl_label = "Add Heat Source"
    bl_options = {"REGISTER", "UNDO"}

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Adds the empty; the selection stays."""
        source = new_objects.add_heat_source(context)
        self.report({"INFO"}, f'Added "{source.name}"')
        return {"FINISHED"}


class SINEW_OT_make_heat_source(bpy.types.Operator):
    """Make the selected empties and meshes heat sources: a mesh warms what is near its surface"""

    bl_idname = "sinew.make_heat_source"
    bl_label = "Make Heat Source"
    bl_options = {"REGISTER", "UNDO"}

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Makes every selected object a heat source, or none."""
        chosen = selected_objects(context)
        for obj in chosen:
            role_checks.check_heat_source(obj)
        for obj in chosen:
            roles.make_heat_source(obj)
        return {"FINISHED"}


CLASSES = (SINEW_OT_add_heat_source, SINEW_OT_make_heat_source)
