# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel about the fibres of a muscle."""

from __future__ import annotations

import bpy

from ...solver.scene.settings.fibre_settings import (
    FIBRE_AXIS,
    FIBRE_CURVES,
    FIBRE_LATTICE,
    FIBRE_SETTINGS,
    FIBRE_SOURCE,
)
from .property_rows import draw_settings, locked_column

SOURCE_SETTINGS = (FIBRE_SOURCE, FIBRE_LATTICE, FIBRE_AXIS, FIBRE_CURVES)
OTHER_SETTINGS = tuple(each for each in FIBRE_SETTINGS if each not in SOURCE_SETTINGS)


def draw_fibres(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws what gives the fibres of a muscle their directions, and where they are tendon."""
    obj = context.object
    column = locked_column(layout, context)
    shown = (each for each in SOURCE_SETTINGS if each.counts(lambda name: getattr(obj.sinew, name)))
    draw_settings(column, obj, shown)
    draw_settings(column, obj, OTHER_SETTINGS)
