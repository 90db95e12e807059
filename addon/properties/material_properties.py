# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties of a body's material, and what keeps them in step with its preset."""

from __future__ import annotations

from typing import Any

import bpy

from ...solver.scene.material_presets import NEARLY_INCOMPRESSIBLE
from ...solver.scene.settings.flesh_settings import BRITTLE, ELASTIC
from ...solver.scene.settings.material_settings import MATERIAL_PAINTS, MATERIAL_SETTINGS
from ...solver.scene.settings.preset_settings import MATERIAL_PRESET
from . import material_preset_filling
from .muscle_preset_filling import muscle_presets
from .property_factory import settings_group
from .sheet_preset_filling import sheet_presets
from .unit_proxies import proxy_properties

FLOAT32_TOLERANCE = 1.0e-6  # of Blender's 32 bits


def update_preset(settings: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    """Update callback of the preset: fills in its values."""
    material_preset_filling.apply_preset(settings)


def update_material_value(settings: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    """Update callback of a value: sets the menus of presets to Custom if the value differs from the preset's."""
    material_preset_filling.mark_custom(settings)
    muscle_presets.mark_custom(settings)
    sheet_presets.mark_custom(settings)


def update_poisson_ratio(settings: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
    """Update callback of Volume Preservation: lowers it to the limit of the body's motion."""
    limit_poisson_ratio(settings)
    update_material_value(settings, context)


def limit_poisson_ratio(settings: bpy.types.PropertyGroup) -> None:
    """Lowers Volume Preservation to the limit of soft bodies, for bodies that are not flesh."""
    if settings.motion in (ELASTIC, BRITTLE) and settings.poisson_ratio > NEARLY_INCOMPRESSIBLE + FLOAT32_TOLERANCE:
        settings.poisson_ratio = NEARLY_INCOMPRESSIBLE


MaterialProperties: Any = settings_group(
    "MaterialProperties",
    "Stiffness, volume preservation, density and damping, and paint that 0.2.0 did not have.",
    (MATERIAL_PRESET, *MATERIAL_SETTINGS, *(each for each in MATERIAL_PAINTS if each.since)),
    {
        **{setting.name: update_material_value for setting in MATERIAL_SETTINGS},
        "preset": update_preset,
        "poisson_ratio": update_poisson_ratio,
    },
    proxy_properties(MATERIAL_SETTINGS),
)
