# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of a body's plasticity: when a deformation stays, and how fast."""

from __future__ import annotations

from ..serialisation.schema_constraints import at_least
from .setting import UNBOUNDED, Choice, Setting, When, menu, paint, switch

IS_PLASTIC = When("use_plasticity", (True,))
# how a body may flow (`Plasticity.law`)
PLASTICITY_LAW_CHOICES = (
    Choice("MULTIPLICATIVE", "Multiplicative", "Keeps the volume, however far the body is deformed (F = Fe Fp)", 0),
    Choice(
        "ADDITIVE",
        "Additive",
        "Faster, but loses volume. For lasting strains of a few percent (Müller and Gross, 2004)",
        1,
    ),
)

USE_PLASTICITY = switch(
    "use_plasticity",
    "Plasticity",
    "Dents stay: a deformation beyond the Yield Strain becomes the new shape. In sheets folds stay, as in paper",
)
LAW = menu(
    "plastic_law",
    "Law",
    "How the lasting deformation is stored (plastic strain)",
    PLASTICITY_LAW_CHOICES,
    "MULTIPLICATIVE",
    when=(IS_PLASTIC,),
    field="Plasticity.law",
)
YIELD_STRAIN = Setting(
    "yield_strain",
    "Yield Strain",
    "Deformation beyond this stays. 0.01 = stretched by 1 %. In a sheet it is the stretch of its surface where it is "
    "bent: half its Thickness over the radius of the bend",
    default=0.01,
    limits=at_least(0.0, "Yield Strain"),
    minimum=UNBOUNDED,
    soft=(0.0, 1.0),
    precision=4,
    when=(IS_PLASTIC,),
    field="Plasticity.yield_strain",
    is_animated=True,
)
FLOW = Setting(
    "flow",
    "Flow Rate",
    "How fast deformation becomes permanent. At 10, two thirds of it stay after a tenth of a second; at 0, nothing",
    default=10.0,
    term="Creep rate c",
    unit="1/s",
    limits=at_least(0.0, "Flow Rate", "1/s"),
    soft=(None, 100.0),
    step=10,
    when=(IS_PLASTIC,),
    field="Plasticity.flow",
    is_animated=True,
)
MAXIMUM_STRAIN = Setting(
    "maximum_strain",
    "Max Plastic Strain",
    "The largest deformation that can stay; the rest springs back. 0.5 = stretched by 50 %",
    default=10.0,
    term="Maximum plastic strain",
    limits=at_least(0.0, "Max Plastic Strain"),
    soft=(None, 10.0),
    when=(IS_PLASTIC,),
    field="Plasticity.maximum_strain",
    is_animated=True,
)
HARDENING = Setting(
    "hardening",
    "Hardening",
    "Bent metal gets harder to bend: the Yield Strain rises by this much per plastic strain of 1",
    default=0.0,
    term="Isotropic hardening modulus",
    limits=at_least(0.0, "Hardening"),
    soft=(None, 1.0),
    when=(IS_PLASTIC, When("plastic_law", ("MULTIPLICATIVE",))),
    field="Plasticity.hardening",
    otherwise=0.0,
)
YIELD_GROUP = paint(
    "yield_group", "Yield Strain Group", "Yield Strain", when=(IS_PLASTIC,), field="Plasticity.yield_paint"
)
FLOW_GROUP = paint("flow_group", "Flow Rate Group", "Flow Rate", when=(IS_PLASTIC,), field="Plasticity.flow_paint")
MAXIMUM_GROUP = paint(
    "maximum_group",
    "Max Plastic Strain Group",
    "Max Plastic Strain",
    when=(IS_PLASTIC,),
    field="Plasticity.maximum_paint",
)

PLASTICITY_SETTINGS = (
    USE_PLASTICITY,
    LAW,
    YIELD_STRAIN,
    FLOW,
    MAXIMUM_STRAIN,
    HARDENING,
    YIELD_GROUP,
    FLOW_GROUP,
    MAXIMUM_GROUP,
)
