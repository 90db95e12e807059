# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that add and make heat sources."""

from __future__ import annotations

import bpy

from ..objects import new_role_objects, role_checks, roles
from .error_reporting import reporting_errors
from .selected_objects import selected_objects


class SINEW_OT_add_heat_source(bpy.types.Operator):
    """Adds a heat source that suits the active body."""

    bl_idname = "sinew.add_heat_source"
    bl_label = "Add Heat Source"
    bl_description = (
        "Add an empty above the active body, hot and large enough to melt it; at the 3D cursor if that has no Heat. "
        "A Heat Speed of 1 becomes one at which heat gets through a third of the body in 60 frames"
    )
    bl_options = {"REGISTER", "UNDO"}

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Adds the empty and sets the Heat Speed of the active body; the selection stays."""
        source = new_role_objects.add_heat_source(context)
        body = context.object
        speed = f", Heat Speed {body.sinew.heat_speed:.3g}" if new_role_objects.is_heated(body, context.scene) else ""
        self.report({"INFO"}, f'Added "{source.name}"{speed}')
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
