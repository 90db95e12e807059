# SPDX-License-Identifier: GPL-3.0-or-later
"""The panels about what a body is made of: its elastic material, and its plasticity."""

from __future__ import annotations

import bpy

from ...solver.scene.settings.flesh_settings import POSE
from ...solver.scene.settings.material_settings import (
    DENSITY,
    MASS_DAMPING,
    MATERIAL_PAINTS,
    MATERIAL_SETTINGS,
    STIFFNESS_DAMPING,
)
from ...solver.scene.settings.plasticity_settings import LAW, PLASTICITY_SETTINGS, USE_PLASTICITY
from ...solver.scene.settings.preset_settings import SHEET_PRESET
from ...solver.scene.settings.rest_scale_settings import REST_SCALE_SETTINGS
from ...solver.scene.settings.setting import Setting
from ...solver.scene.settings.stretch_limit_settings import STRETCH_LIMIT_SETTINGS, USE_STRETCH_LIMIT
from ...solver.scene.settings.surface_detail_settings import SURFACE_DETAIL_SETTINGS, USE_SURFACE_DETAIL
from ..baking import frame_report_reader
from ..objects import roles
from ..objects.rigid_body_settings import counting_rigid_body
from . import self_weight_hints
from .flesh_locked_rows import draw_feature
from .hints import draw_hints
from .property_rows import draw_fold, draw_settings, locked_column
from .user_material_presets import draw_material_presets

DAMPING_SETTINGS = (STIFFNESS_DAMPING, MASS_DAMPING)


def draw_material(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws what the body is made of."""
    obj, settings = context.object, context.object.sinew
    column = locked_column(layout, context)
    if roles.is_sheet(obj):
        draw_settings(column, obj, (SHEET_PRESET,))
    else:
        column.prop(settings, "preset")
    read_elsewhere = DAMPING_SETTINGS if counting_rigid_body(obj) is None else (*DAMPING_SETTINGS, DENSITY)
    draw_settings(column, obj, (each for each in MATERIAL_SETTINGS if each not in read_elsewhere))
    _draw_damping(column, obj, STIFFNESS_DAMPING)
    draw_hints(layout, context, "material", self_weight_hints.body_hints(obj, context.scene))
    folded = draw_fold(layout, "material")
    if folded is not None:
        column = locked_column(folded, context)
        _draw_damping(column, obj, MASS_DAMPING)
        draw_material_presets(column)


def _draw_damping(layout: bpy.types.UILayout, obj: bpy.types.Object, setting: Setting) -> None:
    column = layout.column()
    column.active = obj.sinew.motion != POSE  # at rest nothing swings
    draw_settings(column, obj, (setting,))


def draw_material_paint(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws what is painted on the body."""
    draw_settings(locked_column(layout, context), context.object, MATERIAL_PAINTS)


def draw_rest_scale(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws at which size the body is without stress, where, and along what."""
    draw_settings(locked_column(layout, context), context.object, REST_SCALE_SETTINGS)


def draw_stretch_limit(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws how far the body stretches before it stiffens, and where."""
    column = locked_column(layout, context)
    column.active = context.object.sinew.use_stretch_limit
    draw_settings(column, context.object, (each for each in STRETCH_LIMIT_SETTINGS if each != USE_STRETCH_LIMIT))


def draw_surface_detail(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws the settings of surface detail, and the deepest dent so far."""
    dent = frame_report_reader.report(context.scene, context.object).deepest_dent
    said = None if dent is None else f"Deepest dent so far: {1e3 * dent:.3g} mm"
    shown = (setting for setting in SURFACE_DETAIL_SETTINGS if setting != USE_SURFACE_DETAIL)
    draw_feature(layout, context, context.object.sinew.use_surface_detail, said, shown)


def draw_plasticity(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws the settings of plasticity, and the largest plastic strain so far."""
    obj, settings = context.object, context.object.sinew
    strain = frame_report_reader.report(context.scene, obj).largest_plastic_strain
    said = None if strain is None else f"Largest plastic strain so far: {strain:.3g}"
    hidden = (USE_PLASTICITY, LAW) if roles.is_sheet(obj) else (USE_PLASTICITY,)
    shown = (setting for setting in PLASTICITY_SETTINGS if setting not in hidden)
    column = draw_feature(layout, context, settings.use_plasticity, said, shown)
    if roles.is_sheet(obj) and settings.yield_strain > 0.0:
        thickness = settings.sheet_thickness * context.scene.unit_settings.scale_length
        radius = 0.5 * thickness / settings.yield_strain
        column.label(text=f"Bends tighter than a radius of {1000.0 * radius:.3g} mm stay", icon="BLANK1")
