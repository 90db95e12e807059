# SPDX-License-Identifier: GPL-3.0-or-later
"""Sinew's counts below those of Blender, where the overlay Statistics of a 3D view is on.

Blender draws its statistics itself and offers add-ons no place among them, so these rows stand where Blender's end at
the latest. They do not move when another object is selected, whose type has fewer rows.
"""

from __future__ import annotations

from typing import Any

import bpy

from ..baking.scene_counts import SceneCounts, scene_counts
from .draw_handler import DrawHandler

# of Blender's text in the corner of the view, in lines
LINE_HEIGHT, SECTION_MARGIN = 1.6, 0.6  # of the points of the font; of a line
STATISTICS_ROWS = 5  # at most: objects, vertices, edges, faces, triangles
ENGINE_ROWS = 2  # at most, in a rendered view: what Cycles says of its samples
WIDGET_UNIT = 20.0  # [pixels at 100 %]
LEFT_MARGIN, TOP_MARGIN, COLUMN_MARGIN = 0.5, 0.1, 0.5  # of a widget unit
SHADOW_BLUR, SHADOW_ALPHA = 3, 0.8
FONT = 0  # Blender's own


def draw() -> None:
    """Draws the counts of the scene. Blender calls it for every viewport."""
    context = bpy.context
    space = context.space_data
    if space is None or not (space.overlay.show_overlays and space.overlay.show_stats):
        return
    found = scene_counts(context.scene, context.view_layer)
    if found.rows:
        _draw_rows(context, found)


def rows_above(context: bpy.types.Context) -> float:
    """Returns how many lines of text Blender writes at most above the end of its statistics."""
    view, overlay, shading = context.preferences.view, context.space_data.overlay, context.space_data.shading
    rows = STATISTICS_ROWS + SECTION_MARGIN
    if not overlay.show_text:
        return rows
    is_playing = context.screen is not None and context.screen.is_animation_playing
    rows += view.show_view_name or (view.show_playback_fps and is_playing)
    rows += view.show_object_info
    has_grid = overlay.show_floor or overlay.show_axis_x or overlay.show_axis_y or overlay.show_axis_z
    rows += has_grid and context.region_data.is_orthographic_side_view  # the unit of the grid
    return rows + (ENGINE_ROWS if shading.type == "RENDERED" else 0)


def free_corner(area: Any, region: Any) -> tuple[float, float]:
    """Returns the left and upper end of what no toolbar or header covers [pixels of the region]."""
    left, top = 0.0, float(region.height)
    for other in area.regions:
        is_inside = region.x <= other.x < region.x + region.width and region.y <= other.y < region.y + region.height
        if other == region or not is_inside or min(other.width, other.height) <= 1:
            continue
        if other.alignment == "LEFT":
            left = max(left, float(other.x + other.width - region.x))
        elif other.alignment == "TOP":
            top = min(top, float(other.y - region.y))
    return left, top


def _draw_rows(context: bpy.types.Context, found: SceneCounts) -> None:
    import blf

    preferences = context.preferences
    scale, points = preferences.system.ui_scale, preferences.ui_styles[0].widget.points
    line, unit = LINE_HEIGHT * points * scale, WIDGET_UNIT * scale
    left, top = free_corner(context.area, context.region)
    blf.size(FONT, points * scale)
    blf.color(FONT, *preferences.themes[0].view_3d.space.text_hi, 1.0)
    blf.enable(FONT, blf.SHADOW)
    blf.shadow(FONT, SHADOW_BLUR, 0.0, 0.0, 0.0, SHADOW_ALPHA)
    blf.shadow_offset(FONT, 0, 0)
    x, y = left + LEFT_MARGIN * unit, top - TOP_MARGIN * unit - (rows_above(context) + SECTION_MARGIN) * line
    values = x + max(blf.dimensions(FONT, row.label)[0] for row in found.rows) + COLUMN_MARGIN * unit
    for row in found.rows:
        y -= line
        for place, words in ((x, row.label), (values, found.value_text(row))):
            blf.position(FONT, place, y, 0.0)
            blf.draw(FONT, words)
    blf.disable(FONT, blf.SHADOW)


_draw_handler = DrawHandler(draw, when="POST_PIXEL")
register, unregister = _draw_handler.register, _draw_handler.unregister
