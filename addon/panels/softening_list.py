# SPDX-License-Identifier: GPL-3.0-or-later
"""The rows of the softening table."""

from __future__ import annotations

import bpy

from ..properties.softening_table_editing import ROW_PROPERTIES
from .ui_list_base import RowList

# of a row's width
TEMPERATURE_COLUMN_SHARE = 0.2


class SINEW_UL_softening(RowList, bpy.types.UIList):
    """Temperature and the factors there, side by side."""

    def draw_row(self, layout: bpy.types.UILayout, row: bpy.types.PropertyGroup) -> None:
        """Draws one row."""
        line = layout.split(factor=TEMPERATURE_COLUMN_SHARE, align=True)
        line.prop(row, ROW_PROPERTIES[0], text="", emboss=False)
        line = line.row(align=True)
        for name in ROW_PROPERTIES[1:]:
            line.prop(row, name, text="", emboss=False)
