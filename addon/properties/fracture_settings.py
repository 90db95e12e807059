# SPDX-License-Identifier: GPL-3.0-or-later
"""When and where a body breaks, and what is made of it."""

from __future__ import annotations

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, PointerProperty, StringProperty

from . import material_presets
from .enum_items import ATTRIBUTES
from .material_settings import material_edited
from .property_options import ANIMATED_OPTIONS, FIXED_OPTIONS


def _result_edited(settings: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    """Makes what stands in for a baked body as it is wanted now."""
    from ..baking import attach_bake

    attach_bake.refresh_result(settings.id_data)


class FractureSettings:
    """Strength, where it is weaker, and how many pieces there may be."""

    use_fracture: BoolProperty(
        name="Fracture",
        description="The body cracks and falls to pieces where it is stressed by more than it bears",
        default=False,
        **FIXED_OPTIONS,
    )
    breaking_stress: FloatProperty(
        name="Breaking Stress",
        description=(
            "Pull per area at which the material tears apart [Pa]; "
            "compare it with the Largest Stress of a bake. Can be keyframed"
        ),
        default=material_presets.DEFAULT_VALUES["breaking_stress"],
        soft_min=100.0,
        soft_max=1.0e9,
        precision=0,
        step=100000,
        update=material_edited,
        **ANIMATED_OPTIONS,
    )
    use_toughness: BoolProperty(
        name="Toughness",
        description=(
            "Set how hard it is to make a crack longer, apart from starting one; "
            "off: as hard as breaking anew, by the size of the tets"
        ),
        default=False,
        update=material_edited,
        **FIXED_OPTIONS,
    )
    toughness: FloatProperty(
        name="Toughness",
        description=(
            "Fracture toughness K [Pa √m]: how much a notch or a crack bears before it grows. "
            "Small values are brittle: glass has 700,000, wax 150,000"
        ),
        default=material_presets.DEFAULT_VALUES["toughness"],
        min=0.0,
        soft_min=100.0,
        soft_max=1.0e8,
        precision=0,
        step=100000,
        update=material_edited,
        **FIXED_OPTIONS,
    )
    scatter: FloatProperty(
        name="Scatter",
        description="How much the strength differs from place to place: cracks get ragged",
        default=material_presets.DEFAULT_VALUES["scatter"],
        min=0.0,
        max=0.9,
        precision=2,
        step=1,
        subtype="FACTOR",
        **FIXED_OPTIONS,
    )
    seed: IntProperty(
        name="Seed",
        description="Another number gives other cracks, the same number the same ones",
        default=0,
        min=0,
        **FIXED_OPTIONS,
    )
    strength_group: StringProperty(
        name="Paint Strength",
        description=(
            "Vertex group or attribute that the Breaking Stress is multiplied with; inside, the nearest surface counts"
        ),
        **FIXED_OPTIONS,
    )
    unbreakable_group: StringProperty(
        name="Unbreakable",
        description="Vertex group or attribute: what has a weight above one half never breaks, nor what is below it",
        **FIXED_OPTIONS,
    )
    most_splits: IntProperty(
        name="Splits per Step",
        description="How many points may split in one step; the rest waits for the next one, and the bake says so",
        default=material_presets.DEFAULT_VALUES["most_splits"],
        min=1,
        soft_max=1000,
        **FIXED_OPTIONS,
    )
    most_pieces: IntProperty(
        name="Most Pieces",
        description="How many pieces there may be; from then on the body cracks no further, and the bake says so",
        default=material_presets.DEFAULT_VALUES["most_pieces"],
        min=2,
        soft_max=10000,
        **FIXED_OPTIONS,
    )


class ResultSettings:
    """What the bake gives to the renderer."""

    attributes: EnumProperty(
        name="Attributes",
        items=ATTRIBUTES,
        default=set(),
        description="What is written per vertex and frame, to be used in materials",
        options={"ENUM_FLAG"},
        override={"LIBRARY_OVERRIDABLE"},
    )
    broken_material: PointerProperty(
        type=bpy.types.Material,
        name="Inside",
        description="Material of the broken faces; empty: a plain grey one",
        update=_result_edited,
        options=set(),
        override={"LIBRARY_OVERRIDABLE"},
    )
    separate_pieces: BoolProperty(
        name="Separate Pieces",
        description="Make an object of each piece, to be edited one by one; off: one object for all",
        default=False,
        update=_result_edited,
        **FIXED_OPTIONS,
    )
