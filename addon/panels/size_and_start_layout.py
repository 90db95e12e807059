# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel about the size of a body for the physics, and about how it starts."""

from __future__ import annotations

import bpy

from ...solver.scene.settings.body_settings import (
    GRAVITY_IN_SHAPE,
    SIMULATED_SIZE,
    START_SETTINGS,
    USE_SIMULATED_SIZE,
)
from ..objects import roles
from .property_rows import draw_settings, locked_column
from .text_rows import draw_wrapped

GRAVITY_IN_SHAPE_NOTE = "Flesh sags from its modeled shape: model it as it would be without weight, or stiffen it"


def draw_size_and_start(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws how large the body seems to the physics, and how it starts."""
    settings = context.object.sinew
    layout = locked_column(layout, context)
    row = layout.row(heading="Simulated Size")
    row.prop(settings, "use_simulated_size", text="")
    part = row.row()
    part.enabled = settings.use_simulated_size
    part.prop(settings, "simulated_size", text="")
    row = layout.row()
    # what is on can be switched off, also where it should never have been on
    row.enabled = settings.gravity_in_shape or not roles.is_flesh(context.object)
    row.prop(settings, "gravity_in_shape")
    if roles.is_flesh(context.object):
        draw_wrapped(layout, GRAVITY_IN_SHAPE_NOTE, "INFO", context)
    special = (USE_SIMULATED_SIZE, SIMULATED_SIZE, GRAVITY_IN_SHAPE)
    draw_settings(layout, context.object, (each for each in START_SETTINGS if each not in special))
