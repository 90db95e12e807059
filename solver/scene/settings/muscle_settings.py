# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of muscle: fibres in flesh that contract."""

from __future__ import annotations

from ..serialisation.schema_constraints import at_least, closed_range, greater_than
from .flesh_settings import IS_FLESH
from .setting import METRE, Choice, Setting, When, length, menu, switch, weight_group

IS_MUSCLE = When("use_muscle", (True,))
SIMPLIFIED, FULL = "SIMPLIFIED", "FULL"
HAS_FULL_MODEL = When("muscle_model", (FULL,))
MUSCLE = (IS_FLESH, IS_MUSCLE)


def _shear_modulus(name: str, label: str, tooltip: str, symbol: str) -> Setting:
    """Returns a shear modulus of the full model [Pa]."""
    return Setting(
        name,
        label,
        tooltip,
        default=500.0,
        term=f"Shear modulus {symbol}",
        unit="Pa",
        limits=greater_than(0.0, label, "Pa"),
        soft=(100.0, 1.0e5),
        precision=0,
        step=10_000,
        when=(*MUSCLE, HAS_FULL_MODEL),
        field=f"Muscle.{name}",
        since="0.3",
    )


USE_MUSCLE = switch(
    "use_muscle",
    "Muscle",
    "Fibres run through the flesh from its origin to its insertion. They pull as Activation says, and the muscle "
    "shortens and bulges",
    when=(IS_FLESH,),
    since="0.3",
)
ACTIVATION = Setting(
    "activation",
    "Activation",
    "How strongly the muscle contracts: 0 is relaxed, 1 is all it can",
    default=0.0,
    term="Activation a",
    limits=closed_range(0.0, 1.0, "Activation"),
    is_share=True,
    when=MUSCLE,
    field="Muscle.activation",
    is_animated=True,
    since="0.3",
)
ORIGIN_GROUP = weight_group(
    "origin_group",
    "Origin Group",
    "The end of the muscle that moves least, as at the shoulder: where this vertex group or attribute is above 0.5",
    when=MUSCLE,
    field="Muscle.origin",
    since="0.3",
)
INSERTION_GROUP = weight_group(
    "insertion_group",
    "Insertion Group",
    "The other end, on the bone that the muscle moves: where this vertex group or attribute is above 0.5",
    when=MUSCLE,
    field="Muscle.insertion",
    since="0.3",
)
ORIGIN_TENDON = length(
    "origin_tendon",
    "Origin Tendon",
    "How far the tendon reaches into the muscle from its origin, along the fibres. Tendon hardly stretches and does "
    "not contract",
    when=MUSCLE,
    soft=(None, 1.0),
    precision=4,
    field="Muscle.origin_tendon",
    since="0.3",
)
INSERTION_TENDON = length(
    "insertion_tendon",
    "Insertion Tendon",
    "How far the tendon reaches into the muscle from its insertion, along the fibres",
    when=MUSCLE,
    soft=(None, 1.0),
    precision=4,
    field="Muscle.insertion_tendon",
    since="0.3",
)
PEAK_STRESS = Setting(
    "peak_stress",
    "Peak Stress",
    "Pull of the fully active muscle at its best length, per area. 300 kPa in people (Zajac, 1989)",
    default=3.0e5,
    term="Peak isometric stress σ_max",
    unit="Pa",
    limits=greater_than(0.0, "Peak Stress", "Pa"),
    soft=(1.0e4, 1.0e6),
    precision=0,
    step=1_000_000,
    when=MUSCLE,
    field="Muscle.peak_stress",
    since="0.3",
)
TENDON_STIFFNESS = Setting(
    "tendon_stiffness",
    "Tendon Stiffness",
    "Pull of tendon that is stretched by 3 %, per area, over the Peak Stress. With 3, tendon with a third of the area "
    "of the belly stretches by 3 % at full pull, as in people (Zajac, 1989)",
    default=3.0,
    term="Stress of tendon at a strain of 3 %, over σ_max",
    limits=greater_than(0.0, "Tendon Stiffness"),
    soft=(0.3, 30.0),
    precision=1,
    step=100,
    when=MUSCLE,
    field="Muscle.tendon_stiffness",
    since="0.3",
)
BULK_RATIO = Setting(
    "bulk_ratio",
    "Volume Stiffness",
    "Resistance to a change of volume, over the Peak Stress. From 33 on, a contraction changes the volume by at most "
    "1 %; 0.75 lets it swell by a third (Sifakis, 2007, 2.5)",
    default=33.0,
    term="Bulk modulus κ / σ_max",
    limits=greater_than(0.0, "Volume Stiffness"),
    soft=(1.0, 333.0),
    precision=1,
    step=100,
    when=MUSCLE,
    field="Muscle.bulk_ratio",
    since="0.3",
)
OPTIMAL_STRETCH = Setting(
    "optimal_stretch",
    "Best Length",
    "Length of the fibres at which they pull hardest, over their length in the rest pose. Below 1, they are already "
    "stretched at rest, and do not go slack when a joint bends",
    default=1.0,
    term="Optimal stretch λ_o",
    limits=closed_range(0.3, 3.0, "Best Length"),
    soft=(0.6, 1.6),
    precision=2,
    when=MUSCLE,
    field="Muscle.optimal_stretch",
    since="0.3",
)
MUSCLE_MODEL = menu(
    "muscle_model",
    "Muscle Model",
    "What the muscle is beside its fibres",
    (
        Choice(SIMPLIFIED, "Simplified", "The Law of the panel Flesh, with its Stiffness (Sifakis, 2007, A.1)", 0),
        Choice(
            FULL,
            "Full",
            "Shear along and across the fibres, each of its own stiffness, instead of the Law (Blemker, Pinsky and "
            "Delp, 2005)",
            1,
        ),
    ),
    SIMPLIFIED,
    when=MUSCLE,
    field="Muscle.model",
    since="0.3",
)
ALONG_SHEAR = _shear_modulus(
    "along_shear",
    "Shear Along Fibres",
    "How hard fibres slide past each other: 500 Pa in muscle. Tendon in the muscle has at least 50 kPa (Blemker, "
    "Pinsky and Delp, 2005)",
    "G₁",
)
CROSS_SHEAR = _shear_modulus(
    "cross_shear",
    "Shear Across Fibres",
    "How hard the cross section of a bundle of fibres changes its shape: 500 Pa in muscle. Tendon in the muscle has at "
    "least 50 kPa (Blemker, Pinsky and Delp, 2005)",
    "G₂",
)
FASCIA_STIFFNESS = Setting(
    "fascia_stiffness",
    "Fascia Stiffness",
    "Resistance to being drawn out in any direction near the surface, as of the sheath around a muscle (Sifakis, 2007, "
    "2.5). 0: no sheath",
    default=0.0,
    term="Young's modulus of fascia",
    unit="Pa",
    limits=at_least(0.0, "Fascia Stiffness", "Pa"),
    soft=(None, 1.0e6),
    precision=0,
    step=100_000,
    when=MUSCLE,
    field="Muscle.fascia_stiffness",
    since="0.3",
)
FASCIA_DEPTH = length(
    "fascia_depth",
    "Fascia Depth",
    "How deep below the surface the fascia ends; it fades to there. Tets coarser than this hardly have any",
    0.01,
    limits=greater_than(0.0, "Fascia Depth", METRE),
    when=MUSCLE,
    soft=(0.001, 0.1),
    precision=4,
    field="Muscle.fascia_depth",
    since="0.3",
)
MUSCLE_SETTINGS = (
    USE_MUSCLE,
    ACTIVATION,
    ORIGIN_GROUP,
    INSERTION_GROUP,
    ORIGIN_TENDON,
    INSERTION_TENDON,
    PEAK_STRESS,
    TENDON_STIFFNESS,
    BULK_RATIO,
    OPTIMAL_STRETCH,
    FASCIA_STIFFNESS,
    FASCIA_DEPTH,
    MUSCLE_MODEL,
    ALONG_SHEAR,
    CROSS_SHEAR,
)
