# SPDX-License-Identifier: GPL-3.0-or-later
"""How a body takes up heat, what heat makes of it, and what gives heat."""

from __future__ import annotations

import bpy
from bpy.props import BoolProperty, CollectionProperty, FloatProperty, IntProperty

from . import material_presets
from .material_settings import material_edited
from .property_options import ANIMATED_OPTIONS, FIXED_OPTIONS

ABSOLUTE_ZERO = -273.15
FACTOR_OPTIONS = {"min": 0.0, "soft_max": 10.0, "precision": 4, "step": 1, **FIXED_OPTIONS}


def _row_edited(row: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    material_presets.mark_custom(row.id_data.sinew)


class SinewSoftening(bpy.types.PropertyGroup):
    """One row of the table that says what a temperature makes of a material."""

    temperature: FloatProperty(
        name="Temperature",
        description="[°C]; between the rows of the table the factors change evenly",
        default=20.0,
        min=ABSOLUTE_ZERO,
        soft_max=2000.0,
        precision=1,
        step=100,
        update=_row_edited,
        **FIXED_OPTIONS,
    )
    stiffness: FloatProperty(
        name="Stiffness ×",
        description="What Stiffness is multiplied with here",
        default=1.0,
        update=_row_edited,
        **FACTOR_OPTIONS,
    )
    yield_strain: FloatProperty(
        name="Yield ×",
        description="What the Yield is multiplied with here",
        default=1.0,
        update=_row_edited,
        **FACTOR_OPTIONS,
    )
    flow: FloatProperty(
        name="Flow ×",
        description="What the Flow is multiplied with here",
        default=1.0,
        update=_row_edited,
        **FACTOR_OPTIONS,
    )


class HeatSettings:
    """Temperature, how heat moves, and what it softens."""

    use_heat: BoolProperty(
        name="Heat",
        description="The body has a temperature: heat sources and the air warm it, and it softens and melts",
        default=False,
        **FIXED_OPTIONS,
    )
    temperature: FloatProperty(
        name="Temperature",
        description="Of the whole body at the first frame [°C]",
        default=material_presets.DEFAULT_VALUES["temperature"],
        min=ABSOLUTE_ZERO,
        soft_min=-50.0,
        soft_max=2000.0,
        precision=1,
        step=100,
        **FIXED_OPTIONS,
    )
    conductivity: FloatProperty(
        name="Conductivity",
        description="How well heat moves inside, k [W/(m K)]: wax has 0.25, glass 1, steel 50",
        default=material_presets.DEFAULT_VALUES["conductivity"],
        min=0.0,
        soft_max=400.0,
        precision=3,
        step=1,
        update=material_edited,
        **FIXED_OPTIONS,
    )
    heat_capacity: FloatProperty(
        name="Heat Capacity",
        description="Heat that it takes to warm a kilogram by one degree, c [J/(kg K)]: water takes 4180, wax 2100",
        default=material_presets.DEFAULT_VALUES["heat_capacity"],
        min=0.0,
        soft_min=100.0,
        soft_max=5000.0,
        precision=0,
        step=1000,
        update=material_edited,
        **FIXED_OPTIONS,
    )
    heat_exchange: FloatProperty(
        name="Heat Exchange",
        description="How well the surface gives heat to the air [W/(m² K)]: 10 in a room, 100 in strong wind",
        default=material_presets.DEFAULT_VALUES["heat_exchange"],
        min=0.0,
        soft_max=1000.0,
        precision=1,
        step=100,
        **FIXED_OPTIONS,
    )
    melting_point: FloatProperty(
        name="Melting Point",
        description="From this temperature on the material flows however little it is deformed [°C]",
        default=material_presets.DEFAULT_VALUES["melting_point"],
        min=ABSOLUTE_ZERO,
        soft_max=2000.0,
        precision=1,
        step=100,
        update=material_edited,
        **FIXED_OPTIONS,
    )
    softening: CollectionProperty(
        type=SinewSoftening,
        name="Softening",
        description="What temperatures make of Stiffness, Yield and Flow",
        options=set(),
        override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"},
    )
    softening_index: IntProperty(name="Row", options={"HIDDEN"}, override=FIXED_OPTIONS["override"])


def _radius_changed(settings: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    from ..objects import roles

    roles.show_radius(settings.id_data)


class HeatSourceSettings:
    """How a heat source warms or cools what is near it."""

    source_temperature: FloatProperty(
        name="Temperature",
        description="Of the heat source [°C]; a cold one cools. Can be keyframed",
        default=200.0,
        min=ABSOLUTE_ZERO,
        soft_min=-100.0,
        soft_max=2000.0,
        precision=1,
        step=100,
        **ANIMATED_OPTIONS,
    )
    source_radius: FloatProperty(
        name="Radius",
        description=(
            "How far from the source, a point or the surface of a mesh, the material is heated [m]. "
            "The same heat is spread over a larger radius: raise Heat Transfer with it"
        ),
        default=0.2,
        min=0.0,
        soft_min=0.001,
        soft_max=10.0,
        precision=3,
        step=1,
        subtype="DISTANCE",
        unit="LENGTH",
        update=_radius_changed,
        **FIXED_OPTIONS,
    )
    source_exchange: FloatProperty(
        name="Heat Transfer",
        description=(
            "How fast the source heats what is within its Radius [W/(m² K)]: 500 like hot water, 5000 like a flame "
            "held against it, which take minutes; ten times as much melts wax in seconds"
        ),
        default=50000.0,
        min=0.0,
        soft_max=200000.0,
        precision=0,
        step=1000,
        **FIXED_OPTIONS,
    )
