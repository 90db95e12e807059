# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel about the pressure in a body."""

from __future__ import annotations

import bpy

from ...solver.scene.settings.flesh_settings import POSE
from ...solver.scene.settings.pressure_settings import PRESSURE_SETTINGS, USE_PRESSURE
from .property_rows import draw_settings, locked_column
from .text_rows import draw_wrapped

POSE_NOTE = "Flesh that follows the pose has no pressure: choose Jiggle"


def draw_pressure(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws how a body is blown up."""
    column = locked_column(layout, context)
    column.active = context.object.sinew.use_pressure
    draw_settings(column, context.object, (each for each in PRESSURE_SETTINGS if each != USE_PRESSURE))
    if context.object.sinew.motion == POSE:
        draw_wrapped(layout, POSE_NOTE, "INFO", context)
