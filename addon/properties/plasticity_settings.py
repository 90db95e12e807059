# SPDX-License-Identifier: GPL-3.0-or-later
"""How a body takes a new shape for good."""

from __future__ import annotations

from bpy.props import BoolProperty, EnumProperty, FloatProperty, StringProperty

from . import material_presets
from .enum_items import PLASTIC_LAWS
from .material_settings import material_edited
from .property_options import ANIMATED_OPTIONS, FIXED_OPTIONS


class PlasticSettings:
    """Yield, flow and how far it may go."""

    use_plasticity: BoolProperty(
        name="Plasticity",
        description="Dents stay: what is deformed by more than the Yield takes the new shape for good",
        default=False,
        **FIXED_OPTIONS,
    )
    plastic_law: EnumProperty(
        name="Law",
        items=PLASTIC_LAWS,
        default="MULTIPLICATIVE",
        description="How the new shape is kept",
        update=material_edited,
        **FIXED_OPTIONS,
    )
    yield_strain: FloatProperty(
        name="Yield",
        description=(
            "Strain from which on a deformation stays, as a part of the length: 0.01 is one in a hundred. "
            "Can be keyframed"
        ),
        default=material_presets.DEFAULT_VALUES["yield_strain"],
        soft_min=0.0,
        soft_max=1.0,
        precision=4,
        step=1,
        update=material_edited,
        **ANIMATED_OPTIONS,
    )
    flow: FloatProperty(
        name="Flow",
        description=(
            "How fast it takes the new shape [1/s]: after one second divided by this, two thirds of a deformation "
            "stay, in the end all but the Yield; 0 never flows. Can be keyframed"
        ),
        default=material_presets.DEFAULT_VALUES["flow"],
        min=0.0,
        soft_max=100.0,
        precision=3,
        step=10,
        update=material_edited,
        **ANIMATED_OPTIONS,
    )
    maximum_strain: FloatProperty(
        name="Maximum",
        description=(
            "Strain that can stay at most; beyond it the material springs back again: 0.5 is half of the length. "
            "Can be keyframed"
        ),
        default=material_presets.DEFAULT_VALUES["maximum_strain"],
        min=0.0,
        soft_max=10.0,
        precision=3,
        step=1,
        update=material_edited,
        **ANIMATED_OPTIONS,
    )
    hardening: FloatProperty(
        name="Hardening",
        description=(
            "How much the Yield grows with what already stayed, as metal does when it is bent to and fro: "
            "Yield + this × lasting strain (law Keeps Volume only)"
        ),
        default=material_presets.DEFAULT_VALUES["hardening"],
        min=0.0,
        soft_max=1.0,
        precision=3,
        step=1,
        update=material_edited,
        **FIXED_OPTIONS,
    )
    yield_group: StringProperty(
        name="Paint Yield",
        description="Vertex group or attribute that the Yield is multiplied with; inside, the nearest surface counts",
        **FIXED_OPTIONS,
    )
    flow_group: StringProperty(
        name="Paint Flow",
        description="Vertex group or attribute that the Flow is multiplied with; inside, the nearest surface counts",
        **FIXED_OPTIONS,
    )
    maximum_group: StringProperty(
        name="Paint Maximum",
        description="Vertex group or attribute that the Maximum is multiplied with; inside, the nearest surface counts",
        **FIXED_OPTIONS,
    )
