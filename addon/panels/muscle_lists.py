# SPDX-License-Identifier: GPL-3.0-or-later
"""The rows of a muscle's heads, via points, points of its response curve, and poses."""

from __future__ import annotations

import bpy

from .ui_list_base import RowList

GROUP_SHARE = 0.55  # of a row's width


class SINEW_UL_muscle_heads(RowList, bpy.types.UIList):
    """The group of a head, and how active it is."""

    def draw_row(self, layout: bpy.types.UILayout, row: bpy.types.PropertyGroup) -> None:
        """Draws one head."""
        line = layout.split(factor=GROUP_SHARE, align=True)
        line.prop_search(row, "group", row.id_data, "vertex_groups", text="", results_are_suggestions=True)
        line.prop(row, "activation", text="", slider=True)


class SINEW_UL_via_points(RowList, bpy.types.UIList):
    """The object that the path runs through."""

    def draw_row(self, layout: bpy.types.UILayout, row: bpy.types.PropertyGroup) -> None:
        """Draws one via point."""
        layout.prop(row, "object", text="")


class SINEW_UL_response_points(RowList, bpy.types.UIList):
    """A share of the range, and the activation there."""

    def draw_row(self, layout: bpy.types.UILayout, row: bpy.types.PropertyGroup) -> None:
        """Draws one point."""
        line = layout.row(align=True)
        line.prop(row, "share", slider=True)
        line.prop(row, "activation", slider=True)


class SINEW_UL_activation_poses(RowList, bpy.types.UIList):
    """The name of a pose, and the activation in it."""

    def draw_row(self, layout: bpy.types.UILayout, row: bpy.types.PropertyGroup) -> None:
        """Draws one pose."""
        line = layout.split(factor=GROUP_SHARE, align=True)
        line.prop(row, "name", text="", emboss=False)
        line.prop(row, "activation", text="", slider=True)


CLASSES = (SINEW_UL_muscle_heads, SINEW_UL_via_points, SINEW_UL_response_points, SINEW_UL_activation_poses)
