# SPDX-License-Identifier: GPL-3.0-or-later
"""The rows of the softening table."""

from __future__ import annotations

import bpy

from ..presets import ROW


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
        _index: int = 0,
    ) -> None:
        """Draws one row."""
        line = layout.row(align=True)
        for name in ROW:
            line.prop(item, name, text="", emboss=False)
