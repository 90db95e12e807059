# SPDX-License-Identifier: GPL-3.0-or-later
"""The panels about the heat of a body, and about heat sources."""

from __future__ import annotations

import bpy

from ...solver.scene.settings.heat_settings import HEAT_SETTINGS, HEAT_SOURCE_SETTINGS, SOFTENING, USE_HEAT
from ...solver.scene.settings.simulation_settings import AIR_TEMPERATURE
from ..baking import bake_status, frame_report_reader
from ..evaluation.sample_times import frame_range
from ..objects.heat_depth import heat_depth
from .flesh_locked_rows import draw_feature, feature_column
from .property_rows import draw_settings, locked_column
from .self_weight_hints import length_text
from .softening_list import TEMPERATURE_COLUMN_SHARE
from .text_rows import draw_wrapped


def draw_heat(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws how heat comes in, and what it does to the material."""
    obj, settings = context.object, context.object.sinew
    report = frame_report_reader.report(context.scene, obj)
    said = None if report.hottest is None else f"{report.coldest:.4g} to {report.hottest:.4g} °C at the last frame"
    shown = (setting for setting in HEAT_SETTINGS if setting not in (USE_HEAT, SOFTENING))
    column = draw_feature(layout, context, settings.use_heat, said, shown)
    draw_settings(column, context.scene, (AIR_TEMPERATURE,))
    if settings.use_heat:
        draw_wrapped(column, _depth_note(obj, context.scene), "INFO", context)
    if settings.use_heat and not settings.use_plasticity:
        draw_wrapped(column, "Without Plasticity it gets soft, but takes no new shape", "INFO", context)
    # like Add Ground also for a finished bake, whose note may ask for it
    part = layout.column()
    part.enabled = not bake_status.status(context.scene).is_running
    part.operator("sinew.add_heat_source", icon="OUTLINER_OB_FORCE_FIELD")
    _draw_softening(feature_column(layout, context, settings.use_heat), settings)


def _depth_note(obj: bpy.types.Object, scene: bpy.types.Scene) -> str:
    """Returns how deep heat gets while the scene is baked, and how long the body is."""
    first, last = frame_range(scene)
    depth, longest = (length_text(units, scene) for units in (heat_depth(obj, scene), max(obj.dimensions)))
    return f"Heat gets {depth} deep in {max(last - first, 0)} frames; the body is {longest} long"


def _draw_softening(layout: bpy.types.UILayout, settings: bpy.types.PropertyGroup) -> None:
    column = layout.column(align=True)
    column.use_property_split = False
    header = column.row()
    header.label(text="Softening Factors")
    rows = [row.temperature for row in settings.softening]
    if any(a >= b for a, b in zip(rows[:-1], rows[1:], strict=True)):
        part = header.row()
        part.alert = True
        part.operator("sinew.sort_softening", text="", icon="SORTSIZE")
    buttons = header.row(align=True)
    buttons.operator("sinew.add_softening", text="", icon="ADD")
    part = buttons.row(align=True)
    part.enabled = bool(rows)
    part.operator("sinew.remove_softening", text="", icon="REMOVE")
    if rows:
        names = column.split(factor=TEMPERATURE_COLUMN_SHARE, align=True)
        names.label(text="°C")
        names = names.row(align=True)
        for words in ("Stiffness", "Yield Strain", "Flow Rate"):
            names.label(text=words)
    column.template_list(
        "SINEW_UL_softening", "", settings, "softening", settings, "softening_index", rows=4 if rows else 2
    )


def draw_heat_source(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws how a heat source warms what is near it."""
    column = locked_column(layout, context)
    draw_settings(column, context.object, HEAT_SOURCE_SETTINGS)
