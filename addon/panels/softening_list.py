# SPDX-License-Identifier: GPL-3.0-or-later
"""The rows of the softening table."""

from __future__ import annotations

import bpy

from ..properties.softening_table_editing import ROW_PROPERTIES

# of a row's width
TEMPERATURE_COLUMN_SHARE = 0.2


class SINEW_UL_softening(bpy.types.UIList):
    """Temperature and the factors there, side by side."""

    def draw_item(
        self,
        _context: bpy.types.Context,
        layout: bpy.types.UILayout,
        _data: bpy.types.PropertyGroup,
        item: bpy.types.PropertyGroup,
        _icon: int,
        _active: bpy.types.PropertyGroup,
        _property: str,
    ) -> None:
        """Draws one row."""
        line = layout.split(factor=TEMPERATURE_COLUMN_SHARE, align=True)
        line.prop(item, ROW_PROPERTIES[0], text="", emboss=False)
        line = line.row(align=True)
        for name in ROW_PROPERTIES[1:]:
            line.prop(item, name, text="", emboss=False)
