# SPDX-License-Identifier: GPL-3.0-or-later
"""Materials by name, as plain values with where they come from.

Poisson's ratio of what hardly changes its volume (rubber, flesh, water-rich gels) is 0.5 in the
literature; linear tets lock there, so those presets stop at `NEARLY_INCOMPRESSIBLE`. The loss tangents tan δ
are round numbers, chosen by eye within what is reported; they set the damping β = tan δ / (2π · 3 Hz), so
that a body swinging three times a second loses what the material would.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from .scene import Material

NEARLY_INCOMPRESSIBLE = 0.45
SWING = 3.0


@dataclass(frozen=True)
class Preset:
    """A material with words for people.

    Attributes:
        key: Name in files, on the command line and in Blender's enum.
        label: Name for people.
        description: What it looks like when it moves, for a tooltip.
        source: Where the values come from.
        material: The values.
    """

    key: str
    label: str
    description: str
    source: str
    material: Material


def _material(youngs_modulus: float, poisson_ratio: float, density: float, loss_tangent: float) -> Material:
    stiffness_damping = round(loss_tangent / (2.0 * math.pi * SWING), 5)
    return Material(youngs_modulus, poisson_ratio, density, 0.0, stiffness_damping)


_TABLE = (
    Preset(
        "JELLY",
        "Jelly",
        "Wobbles for a long time, sags under its own weight",
        "Gelatin gels of 5 to 10 %, as used for tissue phantoms: E 1 to 15 kPa, 1020 kg/m³; tan δ 0.08",
        _material(5.0e3, NEARLY_INCOMPRESSIBLE, 1020.0, 0.08),
    ),
    Preset(
        "FAT",
        "Fat",
        "The softest tissue: jiggles and settles slowly",
        "Samani et al., Phys. Med. Biol. 52, 2007: E 3.25 kPa; density 920 kg/m³ (ICRP 89); tan δ about 0.2",
        _material(3.25e3, NEARLY_INCOMPRESSIBLE, 920.0, 0.2),
    ),
    Preset(
        "FLESH",
        "Flesh",
        "Relaxed muscle under skin: follows the body, settles quickly",
        "Relaxed muscle: E 10 to 30 kPa (Gennisson et al., 2010); 1060 kg/m³ (Mendez and Keys, 1960); tan δ 0.3",
        _material(2.0e4, NEARLY_INCOMPRESSIBLE, 1060.0, 0.3),
    ),
    Preset(
        "FOAM",
        "Foam",
        "Light and squashable: loses volume under load, comes back",
        "Flexible polyurethane foam (Gibson and Ashby, Cellular Solids, 1997): E 30 to 150 kPa, ν about 0.3, tan δ 0.3",
        _material(6.0e4, 0.3, 40.0, 0.3),
    ),
    Preset(
        "RUBBER",
        "Rubber",
        "Soft rubber: bounces, bends, keeps its volume",
        "Natural rubber, soft (Gent, Engineering with Rubber, 2012): E 1 to 2 MPa, 930 kg/m³, tan δ 0.05 to 0.1",
        _material(1.0e6, NEARLY_INCOMPRESSIBLE, 930.0, 0.08),
    ),
    Preset(
        "CLAY",
        "Clay",
        "Heavy and dull: dents little, does not bounce",
        "Soft clay (Bowles, Foundation Analysis and Design, 1996): E 2 to 25 MPa, ν 0.4 to 0.5, 1800 kg/m³; tan δ 0.5",
        _material(2.0e6, 0.42, 1800.0, 0.5),
    ),
    Preset(
        "WAX",
        "Wax",
        "Stiff and light, bends before it breaks",
        "Paraffin wax at 20 °C, handbook values: E 60 to 200 MPa, ν 0.4, 900 kg/m³; tan δ 0.1",
        _material(6.0e7, 0.4, 900.0, 0.1),
    ),
    Preset(
        "WOOD",
        "Wood",
        "Softwood, the same in all directions: hardly bends",
        "Between along and across the grain of spruce (Wood Handbook, FPL-GTR-282): E 0.5 to 11 GPa, 400 kg/m³",
        _material(1.0e9, 0.35, 400.0, 0.02),
    ),
    Preset(
        "STONE",
        "Stone",
        "Sandstone: as good as rigid",
        "Sandstone (Goodman, Introduction to Rock Mechanics, 1989): E about 20 GPa, ν 0.2 to 0.3, 2300 kg/m³",
        _material(2.0e10, 0.25, 2300.0, 0.01),
    ),
    Preset(
        "GLASS",
        "Glass",
        "Window glass: as good as rigid",
        "Soda-lime glass (Ashby, Materials Selection, 2011): E 68 to 72 GPa, ν 0.22, 2500 kg/m³",
        _material(7.0e10, 0.22, 2500.0, 0.001),
    ),
)

PRESETS: dict[str, Preset] = {preset.key: preset for preset in _TABLE}
DEFAULT = "RUBBER"
