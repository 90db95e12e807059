# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel about the goal of a body."""

from __future__ import annotations

import bpy

from ...solver.scene.settings.flesh_settings import POSE
from ...solver.scene.settings.goal_settings import GOAL_SETTINGS, USE_GOAL
from .property_rows import draw_settings, locked_column
from .text_rows import draw_wrapped

POSE_NOTE = "Flesh that follows the pose has no goal: choose Jiggle"


def draw_goal(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws how strongly a body is pulled towards its animated mesh."""
    column = locked_column(layout, context)
    column.active = context.object.sinew.use_goal
    draw_settings(column, context.object, (each for each in GOAL_SETTINGS if each != USE_GOAL))
    if context.object.sinew.motion == POSE:
        draw_wrapped(layout, POSE_NOTE, "INFO", context)
