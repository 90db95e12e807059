# SPDX-License-Identifier: GPL-3.0-or-later
"""Muscle, tendon and aponeurosis by name: plain values and their sources.

Tendon and aponeurosis are one tissue in both sources. That of S07 has no preset: its bulk modulus of 80 kPa beside a
shear modulus of 140 kPa would be a negative Poisson's ratio.

Source: S07, section 2.5; Blemker, Pinsky and Delp 2005; Zajac 1989.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .material_presets import MATERIAL_PRESETS, NEARLY_INCOMPRESSIBLE
from .muscle import FULL_MODEL, SIMPLIFIED_MODEL, TENDON_SHEAR_MODULUS

RELAXED = MATERIAL_PRESETS["FLESH"]


@dataclass(frozen=True)
class MuscleTissue:
    """The numbers of a muscle, a tendon or an aponeurosis.

    Attributes:
        youngs_modulus: E [Pa] of the law of the flesh; the full model does not read it.
        poisson_ratio: ν of that law.
        law: Of the flesh.
        peak_stress: σ_max [Pa].
        bulk_ratio: κ / σ_max.
        tendon_stiffness: Stress of tendon at a strain of 3 %, over σ_max.
        model: Of the muscle.
        along_shear, cross_shear: G1 and G2 of the full model [Pa].
        tendon_only: Whether nothing of it contracts.
    """

    youngs_modulus: float = RELAXED.material.youngs_modulus
    poisson_ratio: float = NEARLY_INCOMPRESSIBLE
    law: str = "stable-neo-hookean"
    peak_stress: float = 3.0e5
    bulk_ratio: float = 33.0
    tendon_stiffness: float = 3.0
    model: str = SIMPLIFIED_MODEL
    along_shear: float = 500.0
    cross_shear: float = 500.0
    tendon_only: bool = False


@dataclass(frozen=True)
class MusclePreset:
    """A tissue with words for people.

    Attributes:
        key: Name in Blender's enum.
        label, description: For people.
        source: Where the values come from.
        tissue: The values.
    """

    key: str
    label: str
    description: str
    source: str
    tissue: MuscleTissue = field(default_factory=MuscleTissue)


_BLEMKER_STIFFNESS = 27.2  # 2.7 MPa (exp(46.4 · 0.03) − 1) / 300 kPa
_TENDON = MuscleTissue(
    tendon_stiffness=_BLEMKER_STIFFNESS,
    model=FULL_MODEL,
    along_shear=TENDON_SHEAR_MODULUS,
    cross_shear=TENDON_SHEAR_MODULUS,
    tendon_only=True,
)
_TABLE = (
    MusclePreset(
        "MUSCLE",
        "Muscle",
        "Pulls with 300 kPa and keeps its volume within 1 %",
        f"Peak stress: Zajac, 1989; Blemker et al., 2005. {RELAXED.source}",
    ),
    MusclePreset(
        "TENDON",
        "Tendon",
        "Does not contract, and hardly stretches along its fibres: 0.5 GPa from 3 % on",
        "Blemker et al., 2005: 2.7 MPa (exp(46.4 (λ - 1)) - 1), shear moduli 50 kPa",
        _TENDON,
    ),
    MusclePreset(
        "APONEUROSIS",
        "Aponeurosis",
        "A sheet of tendon over a muscle. Inside one, use Tendon Mesh or Tendon Group",
        "As Tendon: Blemker et al., 2005",
        _TENDON,
    ),
    MusclePreset(
        "MUSCLE_SIFAKIS",
        "Muscle of Sifakis",
        "For comparison: its volume hardly resists, so that an active muscle held at its length swells by a third",
        "Sifakis, 2007, section 2.5: 30 and 10 kPa (Mooney-Rivlin), bulk modulus 60 kPa, peak stress 80 kPa",
        # μ = 2 (30 + 10) kPa; E = 9 κ μ / (3 κ + μ), ν = (3 κ - 2 μ) / (2 (3 κ + μ))
        MuscleTissue(9.0 * 6.0e4 * 8.0e4 / 2.6e5, 2.0e4 / 5.2e5, "mooney-rivlin", 8.0e4, 0.75),
    ),
)
MUSCLE_PRESETS: dict[str, MusclePreset] = {preset.key: preset for preset in _TABLE}
