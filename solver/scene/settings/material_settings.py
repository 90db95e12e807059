# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of a body's material: elasticity and damping, and their paint. The defaults are of the preset Rubber."""

from __future__ import annotations

from ..serialisation.schema_constraints import at_least, greater_than, right_open_range
from .setting import Setting, paint

# Poisson's ratio up to which tets of a soft body, and those of flesh, give the right stiffness
NEARLY_INCOMPRESSIBLE, NEARLY_INCOMPRESSIBLE_FLESH = 0.45, 0.49

YOUNGS_MODULUS = Setting(
    "youngs_modulus",
    "Stiffness",
    "How hard it is to stretch or squeeze the material",
    default=1.0e6,
    term="Young's modulus E",
    unit="Pa",
    limits=greater_than(0.0, "Stiffness", "Pa"),
    soft=(100.0, 1.0e11),
    precision=0,
    step=100000,
    field="Material.youngs_modulus",
    is_animated=True,
)
POISSON_RATIO = Setting(
    "poisson_ratio",
    "Volume Preservation",
    "How well the material keeps its volume: 0 squashes like cork, 0.45 bulges like rubber. "
    "Values above 0.45 are for flesh only",
    default=0.45,
    term="Poisson's ratio ν",
    limits=right_open_range(0.0, 0.5, "Volume Preservation"),
    maximum=NEARLY_INCOMPRESSIBLE_FLESH,
    is_share=True,
    field="Material.poisson_ratio",
    is_animated=True,
)
DENSITY = Setting(
    "density",
    "Density",
    "How heavy the material is. Water has 1000",
    default=930.0,
    term="Mass per volume ρ",
    unit="kg/m³",
    limits=greater_than(0.0, "Density", "kg/m³"),
    soft=(10.0, 10000.0),
    precision=1,
    step=1000,
    field="Material.density",
    is_animated=True,
)
MASS_DAMPING = Setting(
    "mass_damping",
    "Mass Damping",
    "Slows every motion, also falling, like a thick fluid",
    default=0.0,
    term="Rayleigh's mass damping α",
    unit="1/s",
    limits=at_least(0.0, "Mass Damping", "1/s"),
    soft=(None, 10.0),
    field="Material.mass_damping",
    is_animated=True,
)
STIFFNESS_DAMPING = Setting(
    "stiffness_damping",
    "Damping",
    "Stops wobbling and bouncing sooner. Lower is livelier; more Substeps Per Frame keep more of the bounce. "
    "Does not slow falling and turning",
    default=0.00424,
    term="Rayleigh's stiffness damping β",
    unit="s",
    limits=at_least(0.0, "Damping", "s"),
    soft=(None, 1.0),
    precision=4,
    field="Material.stiffness_damping",
    is_animated=True,
)

# the order is that of the properties, which the digest of a bake depends on
MATERIAL_SETTINGS = (YOUNGS_MODULUS, POISSON_RATIO, DENSITY, MASS_DAMPING, STIFFNESS_DAMPING)

STIFFNESS_GROUP = paint("stiffness_group", "Stiffness Group", "Stiffness", field="MaterialPaint.youngs_modulus")
VOLUME_GROUP = paint(
    "volume_group", "Volume Preservation Group", "Volume Preservation", field="MaterialPaint.poisson_ratio"
)
DENSITY_GROUP = paint("density_group", "Density Group", "Density", field="MaterialPaint.density")
DAMPING_GROUP = paint("damping_group", "Damping Group", "Damping", field="MaterialPaint.stiffness_damping", since="0.3")
MASS_DAMPING_GROUP = paint(
    "mass_damping_group", "Mass Damping Group", "Mass Damping", field="MaterialPaint.mass_damping", since="0.3"
)
# in the order of the settings that they multiply
MATERIAL_PAINTS = (STIFFNESS_GROUP, VOLUME_GROUP, DENSITY_GROUP, MASS_DAMPING_GROUP, DAMPING_GROUP)
