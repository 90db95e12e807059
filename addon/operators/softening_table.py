# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that add, remove and sort the rows of the softening table."""

from __future__ import annotations

import bpy

from ..properties import material_preset_filling, softening_table_editing
from ..properties.table_editing import add_row
from .error_reporting import reporting_errors
from .selected_objects import active_mesh
from .table_rows import remove_chosen_row

TEMPERATURE_STEP = 20.0  # from the last row to a new one [°C]


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
            softening_table_editing.write_rows(
                table, softening_table_editing.default_softening(settings.temperature, settings.melting_point)
            )
        else:
            last = table[-1]
            values = [getattr(last, name) for name in softening_table_editing.ROW_PROPERTIES]
            row = add_row(table)
            for name, value in zip(softening_table_editing.ROW_PROPERTIES, values, strict=True):
                setattr(row, name, value)
            row.temperature += TEMPERATURE_STEP
        settings.softening_index = len(table) - 1
        material_preset_filling.mark_custom(settings)
        return {"FINISHED"}


class SINEW_OT_remove_softening(bpy.types.Operator):
    """Remove the chosen row of the softening table"""

    bl_idname = "sinew.remove_softening"
    bl_label = "Remove Row"
    bl_options = {"REGISTER", "UNDO"}

    @reporting_errors
    def execute(self, context: bpy.types.Context) -> set[str]:
        """Removes the row; the one above it is chosen next."""
        obj = active_mesh(context)
        remove_chosen_row(obj, "softening", "row-linked")
        material_preset_filling.mark_custom(obj.sinew)
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
        rows = softening_table_editing.table_rows(table)
        softening_table_editing.write_rows(table, rows[rows[:, 0].argsort(kind="stable")])
        return {"FINISHED"}


CLASSES = (SINEW_OT_add_softening, SINEW_OT_remove_softening, SINEW_OT_sort_softening)
