# SPDX-License-Identifier: GPL-3.0-or-later
"""What a body is made of."""

from __future__ import annotations

import bpy
from bpy.props import EnumProperty, FloatProperty

from ...solver.scene.material_presets import NEARLY_INCOMPRESSIBLE, NEARLY_INCOMPRESSIBLE_FLESH
from . import material_presets
from .property_options import FIXED_OPTIONS

FLOAT32_TOLERANCE = 1.0e-6  # of Blender's 32 bits


def preset_chosen(settings: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    """Fills in the values of the preset."""
    material_presets.apply_preset(settings)


def material_edited(settings: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    """Turns the menu of presets to Custom where a value no longer is the preset's."""
    material_presets.mark_custom(settings)


def poisson_ratio_edited(settings: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
    """Keeps Volume Preservation where the body's motion can take it."""
    limit_poisson_ratio(settings)
    material_edited(settings, context)


def limit_poisson_ratio(settings: bpy.types.PropertyGroup) -> None:
    """Lowers Volume Preservation to what a body that is no flesh can take."""
    if (
        settings.motion == material_presets.ELASTIC
        and settings.poisson_ratio > NEARLY_INCOMPRESSIBLE + FLOAT32_TOLERANCE
    ):
        settings.poisson_ratio = NEARLY_INCOMPRESSIBLE


class MaterialSettings:
    """Stiffness, volume preservation, density and damping."""

    preset: EnumProperty(
        name="Material",
        items=material_presets.PRESET_ITEMS,
        default=material_presets.DEFAULT_PRESET_KEY,
        update=preset_chosen,
        description=("Fills in stiffness, density and damping, and how the material flows, takes heat and breaks"),
        **FIXED_OPTIONS,
    )
    youngs_modulus: FloatProperty(
        name="Stiffness",
        description="Young's modulus E [Pa]: how hard it is to stretch or squeeze the material",
        default=material_presets.DEFAULT_VALUES["youngs_modulus"],
        min=0.0,
        soft_min=100.0,
        soft_max=1.0e11,
        precision=0,
        step=100000,
        update=material_edited,
        **FIXED_OPTIONS,
    )
    poisson_ratio: FloatProperty(
        name="Volume Preservation",
        description=(
            "Poisson's ratio ν: how much the sides bulge when the material is squeezed. "
            "Above 0.45 the tets of a Soft Body become too stiff to trust, so only flesh goes further"
        ),
        default=material_presets.DEFAULT_VALUES["poisson_ratio"],
        min=0.0,
        max=NEARLY_INCOMPRESSIBLE_FLESH,
        precision=3,
        step=1,
        subtype="FACTOR",
        update=poisson_ratio_edited,
        **FIXED_OPTIONS,
    )
    density: FloatProperty(
        name="Density",
        description="Mass per volume ρ [kg/m³]; water has 1000",
        default=material_presets.DEFAULT_VALUES["density"],
        min=0.0,
        soft_min=10.0,
        soft_max=10000.0,
        precision=1,
        step=1000,
        update=material_edited,
        **FIXED_OPTIONS,
    )
    mass_damping: FloatProperty(
        name="Drag",
        description="Damping by mass α [1/s]: slows every motion, falling too, as if in a thick fluid",
        default=material_presets.DEFAULT_VALUES["mass_damping"],
        min=0.0,
        soft_max=10.0,
        precision=3,
        step=1,
        update=material_edited,
        **FIXED_OPTIONS,
    )
    stiffness_damping: FloatProperty(
        name="Damping",
        description="Damping by stiffness β [s]: calms wobbling, and leaves falling and turning alone",
        default=material_presets.DEFAULT_VALUES["stiffness_damping"],
        min=0.0,
        soft_max=1.0,
        precision=4,
        step=1,
        update=material_edited,
        **FIXED_OPTIONS,
    )
