# SPDX-License-Identifier: GPL-3.0-or-later
"""Lists of rows as Blender draws them: what each list shows of a row is one short method."""

from __future__ import annotations

import bpy


class RowList:
    """The part of a UIList that all of Sinew's lists share."""

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
        """Draws one row. Blender calls it."""
        self.draw_row(layout, item)

    def draw_row(self, layout: bpy.types.UILayout, row: bpy.types.PropertyGroup) -> None:
        """Draws what the list shows of a row."""
        raise NotImplementedError
