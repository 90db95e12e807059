# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that add heat sources and edit the softening table."""

from __future__ import annotations

import bpy

from ...solver.runtime.errors import BadInput
from ..objects import new_objects, role_checks, roles
from ..properties import material_presets
from .error_reporting import reporting_errors
from .selected_objects import active_mesh, selected_objects

TEMPERATURE_STEP = 20.0  # from the last row to a new one [°C]


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


class SINEW_OT_add_softening(bpy.types.Operator):
    """Add a row to the softening table. In an empty table, add a whole curve up to the Melting Point"""

    bl_idname = "sinew.add_softening"
    bl_label = "Add Row"
    bl_options = {"REGISTER", "UNDO"}

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Adds a row below the last one, or a curve to an empty table."""
        settings = active_mesh(context).sinew
        table = settings.softening
        if not len(table):
            material_presets.write_rows(
                table, material_presets.default_softening(settings.temperature, settings.melting_point)
            )
        else:
            last = table[-1]
            values = [getattr(last, name) for name in material_presets.ROW_PROPERTIES]
            row = material_presets.add_row(table)
            for name, value in zip(material_presets.ROW_PROPERTIES, values, strict=True):
                setattr(row, name, value)
            row.temperature += TEMPERATURE_STEP
        settings.softening_index = len(table) - 1
        material_presets.mark_custom(settings)
        return {"FINISHED"}


class SINEW_OT_remove_softening(bpy.types.Operator):
    """Remove the chosen row of the softening table"""

    bl_idname = "sinew.remove_softening"
    bl_label = "Remove Row"
    bl_options = {"REGISTER", "UNDO"}

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Removes the row; the one above it is chosen next."""
        settings = active_mesh(context).sinew
        index = settings.softening_index
        if index < len(settings.softening) and not material_presets.remove_row(settings.softening, index):
            raise BadInput("row-linked", name=settings.id_data.name)
        settings.softening_index = max(index - 1, 0)
        material_presets.mark_custom(settings)
        return {"FINISHED"}


class SINEW_OT_sort_softening(bpy.types.Operator):
    """Sort the rows of the softening table by temperature"""

    bl_idname = "sinew.sort_softening"
    bl_label = "Sort Rows"
    bl_options = {"REGISTER", "UNDO"}

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Sorts the rows."""
        table = active_mesh(context).sinew.softening
        rows = material_presets.table_rows(table)
        material_presets.write_rows(table, rows[rows[:, 0].argsort(kind="stable")])
        return {"FINISHED"}


CLASSES = (
    SINEW_OT_add_heat_source,
    SINEW_OT_make_heat_source,
    SINEW_OT_add_softening,
    SINEW_OT_remove_softening,
    SINEW_OT_sort_softening,
)
