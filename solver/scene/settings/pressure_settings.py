# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of the pressure in closed bodies and shells."""

from __future__ import annotations

from ..serialisation.schema_constraints import at_least, closed_range, greater_than
from .setting import FIELD_DEFAULT, Setting, When, switch
from .size_and_start_settings import FOLLOWS_NO_POSE

ATMOSPHERE = 101_325.0  # standard pressure of the air [Pa]
MAX_PRESSURE = 1.0e9  # [Pa]
HAS_PRESSURE = When("use_pressure", (True,))
IS_SEALED = When("use_sealed_gas", (True,))

USE_PRESSURE = switch(
    "use_pressure",
    "Pressure",
    "Blow the body up, or suck it in. A hollow mesh, such as one with Solidify, is pressed from its inner wall, any "
    "other closed mesh is pulled outward at its surface",
    when=(FOLLOWS_NO_POSE,),
    since="0.3",
)
PRESSURE = Setting(
    "pressure",
    "Pressure",
    "Pressure inside above that outside. Negative sucks in. The wall of a ball stretches by about Pressure × radius / "
    "(2 × Stiffness × thickness)",
    default=1000.0,
    term="Gauge pressure p",
    unit="Pa",
    limits=closed_range(-MAX_PRESSURE, MAX_PRESSURE, "Pressure"),
    soft=(-100_000.0, 100_000.0),
    precision=1,
    step=10_000,
    when=(FOLLOWS_NO_POSE, HAS_PRESSURE),
    field="Pressure.pressure",
    is_animated=True,
    since="0.3",
)
USE_SEALED_GAS = switch(
    "use_sealed_gas",
    "Sealed",
    "No gas gets in or out: the pressure falls as the volume grows, and rises where the body is squeezed. "
    "Ideal gas of constant temperature, (p + Ambient Pressure) V = constant",
    when=(FOLLOWS_NO_POSE, HAS_PRESSURE),
    field="Pressure.is_sealed",
    otherwise=FIELD_DEFAULT,
    since="0.3",
)
TARGET_VOLUME = Setting(
    "target_volume",
    "Target Volume",
    "The volume at which the gas has the Pressure: 1 is that of the mesh as modeled, 2 twice as much",
    default=1.0,
    term="Volume over the modeled one",
    limits=greater_than(0.0, "Target Volume"),
    soft=(0.1, 5.0),
    step=10,
    when=(FOLLOWS_NO_POSE, HAS_PRESSURE, IS_SEALED),
    field="Pressure.target_volume",
    is_animated=True,
    since="0.3",
)
AMBIENT_PRESSURE = Setting(
    "ambient_pressure",
    "Ambient Pressure",
    "Pressure outside, which the gas has too at its Target Volume and a Pressure of 0. More resists squeezing more. "
    "The Pressure Scale of Blender's cloth",
    default=ATMOSPHERE,
    term="Absolute pressure of the surroundings",
    unit="Pa",
    limits=at_least(0.0, "Ambient Pressure", "Pa"),
    soft=(None, 200_000.0),
    precision=1,
    step=10_000,
    when=(FOLLOWS_NO_POSE, HAS_PRESSURE, IS_SEALED),
    field="Pressure.ambient_pressure",
    since="0.3",
)
PRESSURE_SETTINGS = (USE_PRESSURE, PRESSURE, USE_SEALED_GAS, TARGET_VOLUME, AMBIENT_PRESSURE)
