# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel about muscle in flesh."""

from __future__ import annotations

import bpy

from ...solver.scene.settings.muscle_settings import (
    ACTIVATION,
    INSERTION_GROUP,
    INSERTION_TENDON,
    MUSCLE_SETTINGS,
    ORIGIN_GROUP,
    ORIGIN_TENDON,
    USE_MUSCLE,
)
from ...solver.scene.settings.preset_settings import MUSCLE_PRESET
from .property_rows import draw_fold, draw_settings, locked_column

FIRST_SETTINGS = (ACTIVATION, ORIGIN_GROUP, INSERTION_GROUP, ORIGIN_TENDON, INSERTION_TENDON, MUSCLE_PRESET)
FOLDED_SETTINGS = tuple(each for each in MUSCLE_SETTINGS if each not in (USE_MUSCLE, *FIRST_SETTINGS))


def draw_muscle(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws where the fibres of a muscle begin and end and how active they are; below, what they are."""
    obj = context.object
    column = locked_column(layout, context)
    column.active = obj.sinew.use_muscle
    draw_settings(column, obj, FIRST_SETTINGS)
    folded = draw_fold(layout, "muscle")
    if folded is not None:
        column = locked_column(folded, context)
        column.active = obj.sinew.use_muscle
        draw_settings(column, obj, FOLDED_SETTINGS)
