# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel about the shape of a drawn muscle."""

from __future__ import annotations

import bpy

from ...solver.scene.settings.muscle_shape_settings import MUSCLE_SHAPE_SETTINGS
from ..objects.drawn_muscles import is_drawn
from .property_rows import draw_settings, locked_column
from .text_rows import draw_wrapped

MODELED_NOTE = "Draw Muscle (Add) makes muscles whose shape follows these settings. This mesh was modeled"
SHAPE_KEYS_NOTE = "The shape keys of the mesh keep it as it is"


def draw_muscle_shape(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws what the mesh of a drawn muscle is rebuilt from; tendons and pennation are in the panels of the muscle."""
    obj = context.object
    if not is_drawn(obj):
        draw_wrapped(layout, MODELED_NOTE, "INFO", context)
    elif obj.data.shape_keys is not None:
        draw_wrapped(layout, SHAPE_KEYS_NOTE, "INFO", context)
    column = locked_column(layout, context)
    column.active = is_drawn(obj) and obj.data.shape_keys is None
    draw_settings(column, obj, MUSCLE_SHAPE_SETTINGS)
    column.operator("sinew.rebuild_muscle_shape", icon="FILE_REFRESH")
