# SPDX-License-Identifier: GPL-3.0-or-later
"""The rows of a muscle's heads, via points, points of its response curve, and poses."""

from __future__ import annotations

import bpy

GROUP_SHARE = 0.55  # of a row's width


class SINEW_UL_muscle_heads(bpy.types.UIList):
    """The group of a head, and how active it is."""

    def draw_item(
        self,
        _context: bpy.types.Context,
        layout: bpy.types.UILayout,
        data: bpy.types.PropertyGroup,
        item: bpy.types.PropertyGroup,
        _icon: int,
        _active: bpy.types.PropertyGroup,
        _property: str,
    ) -> None:
        """Draws one head."""
        line = layout.split(factor=GROUP_SHARE, align=True)
        line.prop_search(item, "group", data.id_data, "vertex_groups", text="", results_are_suggestions=True)
        line.prop(item, "activation", text="", slider=True)


class SINEW_UL_via_points(bpy.types.UIList):
    """The object that the path runs through."""

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
        """Draws one via point."""
        layout.prop(item, "object", text="")


class SINEW_UL_response_points(bpy.types.UIList):
    """A share of the range, and the activation there."""

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
        """Draws one point."""
        line = layout.row(align=True)
        line.prop(item, "share", slider=True)
        line.prop(item, "activation", slider=True)


class SINEW_UL_activation_poses(bpy.types.UIList):
    """The name of a pose, and the activation in it."""

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
        """Draws one pose."""
        line = layout.split(factor=GROUP_SHARE, align=True)
        line.prop(item, "name", text="", emboss=False)
        line.prop(item, "activation", text="", slider=True)


CLASSES = (SINEW_UL_muscle_heads, SINEW_UL_via_points, SINEW_UL_response_points, SINEW_UL_activation_poses)
