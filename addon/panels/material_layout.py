# SPDX-License-Identifier: GPL-3.0-or-later
"""The panels about what a body is made of: its elastic material, and its plasticity."""

from __future__ import annotations

import bpy

from ...solver.scene.settings.flesh_settings import POSE
from ...solver.scene.settings.material_settings import MASS_DAMPING, MATERIAL_SETTINGS, STIFFNESS_DAMPING
from ...solver.scene.settings.plasticity_settings import PLASTICITY_SETTINGS, USE_PLASTICITY
from ..baking import bake_report
from . import self_weight_layout
from .feature_rows import draw_flesh_note, feature_column
from .property_rows import draw_settings, locked_column

DAMPING_SETTINGS = (STIFFNESS_DAMPING, MASS_DAMPING)


def draw_material(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws what the body is made of."""
    settings = context.object.sinew
    layout = locked_column(layout, context)
    layout.prop(settings, "preset")
    draw_settings(layout, context.object, (each for each in MATERIAL_SETTINGS if each not in DAMPING_SETTINGS))
    column = layout.column()
    column.active = settings.motion != POSE  # at rest nothing swings
    draw_settings(column, context.object, DAMPING_SETTINGS)
    self_weight_layout.draw_fixes(layout, context)


def draw_plasticity(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws the settings of plasticity, and the largest plastic strain so far."""
    obj, settings = context.object, context.object.sinew
    draw_flesh_note(layout, context)
    report = bake_report.report(context.scene, obj)
    if report.largest_plastic_strain is not None and settings.use_plasticity:
        layout.label(text=f"Largest plastic strain so far: {report.largest_plastic_strain:.3g}", icon="INFO")
    column = feature_column(layout, context, settings.use_plasticity)
    draw_settings(column, obj, (setting for setting in PLASTICITY_SETTINGS if setting != USE_PLASTICITY))
