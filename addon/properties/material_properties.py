# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties of a body's material, and what keeps them in step with its preset."""

from __future__ import annotations

from typing import Any

import bpy

from ...solver.scene.material_presets import NEARLY_INCOMPRESSIBLE
from ...solver.scene.settings.flesh_settings import ELASTIC
from ...solver.scene.settings.material_settings import MATERIAL_SETTINGS
from ...solver.scene.settings.preset_settings import MATERIAL_PRESET
from . import material_presets
from .display_twins import twin_properties
from .property_factory import settings_group

FLOAT32_TOLERANCE = 1.0e-6  # of Blender's 32 bits


def preset_chosen(settings: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    """Fills in the values of the preset."""
    material_presets.apply_preset(settings)


def material_edited(settings: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    """Sets the menu of presets to Custom where a value differs from the preset's."""
    material_presets.mark_custom(settings)


def poisson_ratio_edited(settings: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
    """Limits Volume Preservation to what the body's motion allows."""
    limit_poisson_ratio(settings)
    material_edited(settings, context)


def limit_poisson_ratio(settings: bpy.types.PropertyGroup) -> None:
    """Lowers Volume Preservation to what a body that is no flesh allows."""
    if settings.motion == ELASTIC and settings.poisson_ratio > NEARLY_INCOMPRESSIBLE + FLOAT32_TOLERANCE:
        settings.poisson_ratio = NEARLY_INCOMPRESSIBLE


MaterialProperties: Any = settings_group(
    "MaterialProperties",
    "Stiffness, volume preservation, density and damping.",
    (MATERIAL_PRESET, *MATERIAL_SETTINGS),
    {
        **{setting.name: material_edited for setting in MATERIAL_SETTINGS},
        "preset": preset_chosen,
        "poisson_ratio": poisson_ratio_edited,
    },
    twin_properties(MATERIAL_SETTINGS),
)
