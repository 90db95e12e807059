# SPDX-License-Identifier: GPL-3.0-or-later
"""The panel about the fibres of a muscle."""

from __future__ import annotations

import bpy

from ...solver.scene.settings.fibre_settings import (
    FIBRE_AXIS,
    FIBRE_CURVES,
    FIBRE_DISPLAY_SETTINGS,
    FIBRE_LATTICE,
    FIBRE_SETTINGS,
    FIBRE_SOURCE,
)
from ..baking import bake_status, fibre_preview
from ..evaluation.sample_times import rest_frame
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
    column.operator("sinew.join_tendon", icon="MOD_BOOLEAN")
    _draw_display(layout, context)


def _draw_display(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws what is seen of the fibres in the viewport, and the button that builds them before a bake."""
    obj, scene = context.object, context.scene
    column = layout.column(heading="Viewport Display")
    draw_settings(column, obj, FIBRE_DISPLAY_SETTINGS)
    known = bake_status.status(scene)
    if known.frame is not None and not known.outdated:
        return  # the bake has them
    preview = fibre_preview.preview_of(scene, obj)
    is_searching = fibre_preview.is_searching(scene)
    column.operator("sinew.build_fibres", text="Building Fibres …" if is_searching else "Build Fibres", icon="CURVES")
    if preview is None or is_searching or not obj.sinew.show_fibres:
        return
    if not fibre_preview.is_current(scene, preview):
        column.label(text="Something has changed since", icon="INFO")
    elif scene.frame_current != rest_frame(scene):
        column.label(text=f"Shown at frame {rest_frame(scene)} until it is baked", icon="INFO")
