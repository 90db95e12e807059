# SPDX-License-Identifier: GPL-3.0-or-later
"""Materials by name: plain values and their sources.

Every preset has its stiffness and density. Those that are known for it also say how the material flows, takes heat
and breaks; `features` names what of that is switched on when an artist chooses the preset.

Poisson's ratio of what hardly changes its volume (rubber, flesh, water-rich gels) is 0.5 in the
literature; linear tets lock there, so those presets stop at `NEARLY_INCOMPRESSIBLE`. The loss tangents tan δ
are round numbers, chosen by eye within what is reported; they set the damping β = tan δ / (2π · 3 Hz), so
that a body swinging three times a second loses what the material would. Softening curves are drawn by eye through
what is known: the value at room temperature, and liquid at the melting point. Where the literature has the energy G
that a crack takes per area, the toughness is K = √(E G).
"""

from __future__ import annotations

import difflib
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..runtime.arrays import Floats
from ..runtime.errors import BadInput
from .material import Fracture, Heat, Material, Plasticity

NEARLY_INCOMPRESSIBLE = 0.45
# Flesh that follows a pose does not lock (`mechanics/hyperelastic/nodal_averaging.py`), and goes on to here
NEARLY_INCOMPRESSIBLE_FLESH = 0.49
SWING_FREQUENCY_HZ = 3.0
# pressure that leaves a dent, over the yield stress: Tabor, The Hardness of Metals (1951)
INDENTATION_PRESSURE_RATIO = 3.0
# of `MaterialPreset.features`, of what no step can follow: sound passes a body of it within one
BRITTLE_FEATURE = "brittle"


@dataclass(frozen=True)
class MaterialPreset:
    """A material with words for people.

    Attributes:
        key: Name in files, on the command line and in Blender's enum.
        label: Name for people.
        description: What it looks like when it moves, for a tooltip.
        source: Where the values come from.
        material: The values.
        plasticity, heat, fracture: Values of these too, or None where nothing is known; `heat.temperature` and
            `heat.exchange` belong to the scene, not to the material.
        features: Which of "plasticity", "heat", "fracture" and "brittle" the material is chosen for; what is brittle
            has fracture.
    """

    key: str
    label: str
    description: str
    source: str
    material: Material
    plasticity: Plasticity | None = None
    heat: Heat | None = None
    fracture: Fracture | None = None
    features: tuple[str, ...] = ()


def _material(youngs_modulus: float, poisson_ratio: float, density: float, loss_tangent: float) -> Material:
    stiffness_damping = round(loss_tangent / (2.0 * math.pi * SWING_FREQUENCY_HZ), 5)
    return Material(youngs_modulus, poisson_ratio, density, 0.0, stiffness_damping)


def _softening_curve(*rows: tuple[float, float, float, float]) -> Floats:
    return np.array(rows)


_TABLE = (
    MaterialPreset(
        "JELLY",
        "Jelly",
        "Wobbles for a long time, sags under its own weight",
        "Gelatin gels of 5 to 10 %, as used for tissue phantoms: E 1 to 15 kPa, 1020 kg/m³; tan δ 0.08. "
        "10 % gels tear with 1.1 J/m² and more (Forte et al., 2015) and melt at 35 °C",
        _material(5.0e3, NEARLY_INCOMPRESSIBLE, 1020.0, 0.08),
        heat=Heat(conductivity=0.5, heat_capacity=3900.0, melting_point=35.0),
        fracture=Fracture(5.0e3, 150.0),
    ),
    MaterialPreset(
        "FAT",
        "Fat",
        "The softest tissue: jiggles and settles slowly",
        "Samani et al., Phys. Med. Biol. 52, 2007: E 3.25 kPa; density 920 kg/m³ (ICRP 89); tan δ about 0.2",
        _material(3.25e3, NEARLY_INCOMPRESSIBLE, 920.0, 0.2),
    ),
    MaterialPreset(
        "FLESH",
        "Flesh",
        "Relaxed muscle under skin: follows the body, settles quickly",
        "Relaxed muscle: E 10 to 30 kPa (Gennisson et al., 2010); 1060 kg/m³ (Mendez and Keys, 1960); tan δ 0.3",
        _material(2.0e4, NEARLY_INCOMPRESSIBLE, 1060.0, 0.3),
    ),
    MaterialPreset(
        "SKIN",
        "Skin",
        "Tough as skin is: stretches little, and hardly jiggles",
        "Forearm under suction: E 129 kPa (Diridollou et al., Skin Res. Technol. 6, 2000); about 1100 kg/m³ (Duck, "
        "Physical Properties of Tissue, 1990); tan δ about 0.3",
        _material(1.3e5, NEARLY_INCOMPRESSIBLE, 1100.0, 0.3),
    ),
    MaterialPreset(
        "MUSCLE",
        "Muscle at Rest",
        "Firm, as muscles are simulated: bulges more than it wobbles",
        "Stiffness as in Sifakis (thesis, 2007, section 2.5), whose muscle obeys Mooney-Rivlin: choose that under Law "
        "in the panel Flesh for the same; shear modulus 2 (30 + 10) kPa; 1060 kg/m³ (Mendez and Keys, 1960); tan δ 0.3",
        _material(2.3e5, NEARLY_INCOMPRESSIBLE, 1060.0, 0.3),
    ),
    MaterialPreset(
        "FOAM",
        "Foam",
        "Light and squashable: loses volume under load, comes back",
        "Flexible polyurethane foam (Gibson and Ashby, Cellular Solids, 1997): E 30 to 150 kPa, ν about 0.3, tan δ 0.3",
        _material(6.0e4, 0.3, 40.0, 0.3),
    ),
    MaterialPreset(
        "RUBBER",
        "Rubber",
        "Soft rubber: bounces, bends, keeps its volume",
        "Natural rubber, soft (Gent, Engineering with Rubber, 2012): E 1 to 2 MPa, 930 kg/m³, tan δ 0.05 to 0.1",
        _material(1.0e6, NEARLY_INCOMPRESSIBLE, 930.0, 0.08),
    ),
    MaterialPreset(
        "TEARING_RUBBER",
        "Rubber That Tears",
        "Weak rubber: stretches to more than twice its length, then tears from its weakest place",
        "Unfilled styrene-butadiene rubber (Gent, Engineering with Rubber, 2012): strength about 2 MPa; a tear takes "
        "1 to 10 kJ/m² (Rivlin and Thomas, 1953)",
        _material(1.0e6, NEARLY_INCOMPRESSIBLE, 940.0, 0.08),
        fracture=Fracture(1.5e6, 5.0e4),
        features=("fracture",),
    ),
    MaterialPreset(
        "CLAY",
        "Clay",
        "Heavy and dull: dents stay, does not bounce",
        "Soft clay (Bowles, Foundation Analysis and Design, 1996): E 2 to 25 MPa, ν 0.4 to 0.5, 1800 kg/m³; tan δ 0.5. "
        "Shear strength about E / 200 (Bowles), toughness 4 to 37 kPa √m (Harison et al., 1994)",
        _material(2.0e6, 0.42, 1800.0, 0.5),
        Plasticity(yield_strain=0.01, flow=20.0),
        Heat(conductivity=1.2, heat_capacity=1500.0, melting_point=1200.0),
        Fracture(3.0e4, 1.0e4),
        ("plasticity",),
    ),
    MaterialPreset(
        "WAX",
        "Wax",
        "Stiff and light: bends and stays bent, melts near something hot",
        "Paraffin wax at 20 °C, handbook values: E 60 to 200 MPa, ν 0.4, 900 kg/m³; tan δ 0.1. "
        "Strength 1 MPa (DeSain et al., AIAA 2009-5115), toughness for 100 J/m²; melts at 58 °C",
        _material(6.0e7, 0.4, 900.0, 0.1),
        Plasticity(yield_strain=0.02, flow=5.0),
        Heat(
            conductivity=0.25,
            heat_capacity=2200.0,
            melting_point=58.0,
            softening=_softening_curve(
                (20.0, 1.0, 1.0, 1.0), (40.0, 0.3, 0.4, 3.0), (52.0, 0.03, 0.1, 20.0), (58.0, 0.001, 0.01, 50.0)
            ),
        ),
        Fracture(1.0e6, 8.0e4),
        ("plasticity", "heat"),
    ),
    MaterialPreset(
        "CHOCOLATE",
        "Chocolate",
        "Snaps when it is cold, bends and melts when it is warm",
        "Round numbers near Bikos et al., J. Mater. Sci. 58, 2023, and Samaras et al., Soft Matter 20, 2024: E and "
        "strength of milk chocolate at 20 °C; toughness for 60 J/m²; 1250 kg/m³, melts at 33 °C; tan δ 0.1",
        _material(1.0e8, 0.4, 1250.0, 0.1),
        Plasticity(yield_strain=0.015, flow=5.0),
        Heat(
            conductivity=0.25,
            heat_capacity=1700.0,
            melting_point=33.0,
            softening=_softening_curve(
                (20.0, 1.0, 1.0, 1.0), (28.0, 0.4, 0.3, 2.0), (32.0, 0.03, 0.05, 10.0), (34.0, 5.0e-4, 0.01, 50.0)
            ),
        ),
        Fracture(1.0e6, 8.0e4),
        ("plasticity", "heat", "fracture"),
    ),
    MaterialPreset(
        "ICE",
        "Ice",
        "Hard and brittle, starts at -10 °C and melts above 0 °C, in warm air too",
        "Petrovic, J. Mater. Sci. 38, 2003: strength 0.7 to 3 MPa, toughness 0.05 to 0.15 MPa √m. E 9.3 GPa, ν 0.33 "
        "(Schulson and Duval, Creep and Fracture of Ice, 2009); 917 kg/m³, k 2.2 W/(m K), c 2050 J/(kg K) (CRC "
        "Handbook). Without latent heat: it melts sooner than ice does",
        _material(9.3e9, 0.33, 917.0, 0.02),
        Plasticity(yield_strain=0.02, flow=5.0),
        Heat(
            temperature=-10.0,
            conductivity=2.2,
            heat_capacity=2050.0,
            melting_point=0.0,
            softening=_softening_curve(
                (-10.0, 1.0, 1.0, 1.0), (-2.0, 0.5, 1.0, 1.0), (-0.5, 0.01, 0.1, 20.0), (0.0, 5.0e-6, 0.01, 50.0)
            ),
        ),
        Fracture(1.0e6, 1.0e5),
        ("plasticity", "heat"),
    ),
    MaterialPreset(
        "WOOD",
        "Wood",
        "Softwood, the same in all directions: hardly bends",
        "Between along and across the grain of spruce (Wood Handbook, FPL-GTR-282): E 0.5 to 11 GPa, 400 kg/m³. "
        "Strength 3 MPa across, 60 MPa along the grain",
        _material(1.0e9, 0.35, 400.0, 0.02),
        fracture=Fracture(1.0e7, 5.0e5),
    ),
    MaterialPreset(
        "STONE",
        "Stone",
        "Sandstone: as good as rigid, and breaks when it falls",
        "Sandstone (Goodman, Introduction to Rock Mechanics, 1989): E about 20 GPa, ν 0.2 to 0.3, 2300 kg/m³. "
        "Strength in tension 1 to 10 MPa, toughness 0.3 to 1 MPa √m",
        _material(2.0e10, 0.25, 2300.0, 0.01),
        fracture=Fracture(4.0e6, 5.0e5),
        features=("fracture", BRITTLE_FEATURE),
    ),
    MaterialPreset(
        "PLASTER",
        "Plaster",
        "Dry plaster of Paris: light, rigid, breaks to crumbs",
        "Plaster of Paris (Vekinis, Ashby and Beaumont, J. Mater. Sci. 28, 1993): E 3 to 5 GPa, strength 2 to 4 MPa, "
        "toughness 0.14 MPa √m; 1100 kg/m³",
        _material(4.0e9, 0.2, 1100.0, 0.01),
        heat=Heat(conductivity=0.4, heat_capacity=1100.0, melting_point=1450.0),
        fracture=Fracture(3.0e6, 1.4e5),
        features=("fracture", BRITTLE_FEATURE),
    ),
    MaterialPreset(
        "GLASS",
        "Glass",
        "Window glass: as good as rigid, and shatters",
        "Soda-lime glass (Ashby, Materials Selection, 2011): E 68 to 72 GPa, ν 0.22, 2500 kg/m³. "
        "Annealed: strength 30 to 90 MPa, toughness 0.6 to 0.8 MPa √m; softens at 730 °C",
        _material(7.0e10, 0.22, 2500.0, 0.001),
        heat=Heat(
            conductivity=1.0,
            heat_capacity=840.0,
            melting_point=1000.0,
            softening=_softening_curve((20.0, 1.0, 1.0, 1.0), (550.0, 1.0, 1.0, 1.0), (730.0, 1.0e-4, 0.01, 10.0)),
        ),
        fracture=Fracture(4.5e7, 7.0e5),
        features=("fracture", BRITTLE_FEATURE),
    ),
)

MATERIAL_PRESETS: dict[str, MaterialPreset] = {preset.key: preset for preset in _TABLE}


@dataclass(frozen=True)
class SizedPreset:
    """A material whose Young's modulus follows from the size of the object, so that small and large ones look alike.

    Attributes:
        preset: Its other values, and words for people.
        self_weight_strain: ρ g H / E, with the height H of a body, or 6 V / A of flesh, which hangs.
    """

    preset: MaterialPreset
    self_weight_strain: float


def _sized(key: str, base: str, label: str, description: str, strain: float, **changes: Any) -> SizedPreset:
    return SizedPreset(
        replace(
            MATERIAL_PRESETS[base],
            key=key,
            label=label,
            description=f"{description} (ρ g H / E = {strain:g})",
            source=f"Density and damping of {MATERIAL_PRESETS[base].label}; E from the size of the object",
            **changes,
        ),
        strain,
    )


SIZED_PRESETS: dict[str, SizedPreset] = {
    each.preset.key: each
    for each in (
        _sized(
            "JELLY_BY_SIZE",
            "JELLY",
            "Jelly by Size",
            "As stiff as a jelly of this height has to be: it stands and wobbles at any size",
            0.05,
            heat=None,
            fracture=None,
        ),
        _sized(
            "CLAY_BY_SIZE",
            "CLAY",
            "Clay by Size",
            "As stiff as clay of this height has to be: it stands at any size, and a fall dents it",
            0.02,
            plasticity=Plasticity(yield_strain=0.04, flow=20.0),
            heat=None,
            fracture=None,
        ),
        _sized(
            "FLESH_BY_SIZE",
            "FLESH",
            "Flesh by Size",
            "As stiff as flesh this thick has to be to stay on its bones at any size",
            0.08,
        ),
    )
}
DEFAULT_PRESET_KEY = "RUBBER"


def find_preset(name: str) -> MaterialPreset:
    """Returns the preset of a key or label, however it is written.

    Raises:
        BadInput: "no-such-preset"; names those that are called nearly so, or all.
    """
    wanted = _normalised_name(name)
    for preset in MATERIAL_PRESETS.values():
        if wanted in (_normalised_name(preset.key), _normalised_name(preset.label)):
            return preset
    near = difflib.get_close_matches(wanted, [_normalised_name(key) for key in MATERIAL_PRESETS], 3, 0.6)
    keys = [key.lower() for key in MATERIAL_PRESETS if not near or _normalised_name(key) in near]
    raise BadInput("no-such-preset", name=name, advice=f"Choose {'one of ' if len(keys) > 1 else ''}{', '.join(keys)}")


def _normalised_name(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())
