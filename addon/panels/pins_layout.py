# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel about pins."""

from __future__ import annotations

import bpy

from ...solver.scene.settings.pin_settings import PIN_GROUP, PIN_SETTINGS, PIN_STIFFNESS
from .property_rows import draw_settings, locked_column


def draw_pins(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws what holds the body to its animated mesh."""
    obj = context.object
    column = locked_column(layout, context)
    draw_settings(column, obj, (PIN_GROUP, PIN_STIFFNESS))
    if obj.mode == "EDIT":
        column.operator("sinew.pin_selected", icon="PINNED")
    draw_settings(column, obj, (each for each in PIN_SETTINGS if each not in (PIN_GROUP, PIN_STIFFNESS)))
