# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel about the size of a body for the physics, and about how it starts."""

from __future__ import annotations

import bpy

from ...solver.scene.settings.size_and_start_settings import (
    ANIMATED,
    SIMULATED_SIZE,
    START_SETTINGS,
    USE_SIMULATED_SIZE,
)
from ..blender_data import start_property
from ..objects.rigid_body_settings import counting_rigid_body
from .property_rows import draw_settings, locked_column


def draw_size_and_start(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws how large the body seems to the physics, and how it starts."""
    settings = context.object.sinew
    layout = locked_column(layout, context)
    row = layout.row(heading="Simulated Size")
    row.prop(settings, "use_simulated_size", text="")
    part = row.row()
    part.enabled = settings.use_simulated_size
    part.prop(settings, "simulated_size", text="")
    special = [USE_SIMULATED_SIZE, SIMULATED_SIZE]
    if counting_rigid_body(context.object) is not None:
        special.append(ANIMATED)  # that of Blender's Rigid Body panel counts
    if start_property.has(context.object):
        layout.label(text="Starts as kept from a live run", icon="REW")
        layout.operator("sinew.remove_start", icon="X")
    draw_settings(layout, context.object, (each for each in START_SETTINGS if each not in special))
