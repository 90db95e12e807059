# SPDX-License-Identifier: GPL-3.0-or-later
"""Muscle in flesh: where its fibres begin and end, what they are, and how active they are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from ..runtime.arrays import Floats
from .fibres import Fibres
from .serialisation.schema_constraints import OneOf, shape
from .serialisation.sequence_coercion import convert_sequences
from .settings.activation_settings import HEAD_ACTIVATION, MUSCLE_STRENGTH
from .settings.muscle_settings import (
    ACTIVATION,
    ALONG_SHEAR,
    BULK_RATIO,
    CROSS_SHEAR,
    FASCIA_DEPTH,
    FASCIA_STIFFNESS,
    INSERTION_TENDON,
    MUSCLE_MODEL,
    OPTIMAL_STRETCH,
    ORIGIN_TENDON,
    PEAK_STRESS,
    TENDON_STIFFNESS,
)

SIMPLIFIED_MODEL, FULL_MODEL = MUSCLE_MODEL.words
END_WEIGHT = 0.5  # of a painted end, above which it is the end
# G1 and G2 of tendon in the full model [Pa], a hundred times that of muscle. Source: Blemker, Pinsky and Delp 2005
TENDON_SHEAR_MODULUS = 5.0e4


@dataclass(frozen=True)
class MuscleHead:
    """A part of a muscle that contracts on its own.

    Track: "body.KEY.head.NUMBER.activation" (), instead of `activation`; heads are numbered from 0.

    Attributes:
        weights: At the render vertices: a tet belongs to the head with the largest one there, of equal ones to the
            first, and to none where all are 0, (n,).
        activation: In [0, 1], added to that of the muscle.
    """

    weights: Annotated[Floats, shape("n")] = field(default_factory=lambda: np.zeros(0))
    activation: Annotated[float, HEAD_ACTIVATION.limits] = HEAD_ACTIVATION.default

    def __post_init__(self) -> None:
        """Takes lists for arrays."""
        convert_sequences(self)


@dataclass(frozen=True)
class Muscle:
    """Fibres that run from the origin to the insertion of a body of flesh and contract.

    Its contractile units are what no head has, then its heads; the activation of a unit is
    strength · min(activation + that of the head, 1).

    Tracks: "body.KEY.activation" () and "body.KEY.muscle_strength" (), instead of `activation` and `strength`.

    Attributes:
        activation: a in [0, 1].
        origin, insertion: At the render vertices: the ends are where these are above ½, (n,) each.
        origin_tendon, insertion_tendon: How far tendon reaches from there along the fibres [m].
        peak_stress: σ_max [Pa].
        tendon_stiffness: Stress of tendon at a strain of 3 %, over σ_max.
        optimal_stretch: λ_o, the stretch from the rest pose at which fibres pull hardest.
        model: "simplified": the law of the flesh beside the fibres; "full": shear along and across fibres instead.
        along_shear, cross_shear: G1 and G2 of the full model [Pa]; tendon beside muscle has at least
            `TENDON_SHEAR_MODULUS`.
        fascia_stiffness: E of what resists elongation near the surface [Pa].
        fascia_depth: Depth at which it ends [m].
        strength: Factor on all activations, in [0, 1].
        heads: Parts that contract on their own.
        bulk_ratio: κ / σ_max; from 33 on, an isometric contraction changes the volume by at most 1 %.
        fibres: Which way they run, and where they are tendon beside the ends.
    """

    activation: Annotated[float, ACTIVATION.limits] = ACTIVATION.default
    origin: Annotated[Floats, shape("n")] = field(default_factory=lambda: np.zeros(0))
    insertion: Annotated[Floats, shape("n")] = field(default_factory=lambda: np.zeros(0))
    origin_tendon: Annotated[float, ORIGIN_TENDON.limits] = ORIGIN_TENDON.default
    insertion_tendon: Annotated[float, INSERTION_TENDON.limits] = INSERTION_TENDON.default
    peak_stress: Annotated[float, PEAK_STRESS.limits] = PEAK_STRESS.default
    tendon_stiffness: Annotated[float, TENDON_STIFFNESS.limits] = TENDON_STIFFNESS.default
    optimal_stretch: Annotated[float, OPTIMAL_STRETCH.limits] = OPTIMAL_STRETCH.default
    model: Annotated[str, OneOf(MUSCLE_MODEL.words)] = SIMPLIFIED_MODEL
    along_shear: Annotated[float, ALONG_SHEAR.limits] = ALONG_SHEAR.default
    cross_shear: Annotated[float, CROSS_SHEAR.limits] = CROSS_SHEAR.default
    fascia_stiffness: Annotated[float, FASCIA_STIFFNESS.limits] = FASCIA_STIFFNESS.default
    fascia_depth: Annotated[float, FASCIA_DEPTH.limits] = FASCIA_DEPTH.default
    strength: Annotated[float, MUSCLE_STRENGTH.limits] = MUSCLE_STRENGTH.default
    heads: tuple[MuscleHead, ...] = ()
    bulk_ratio: Annotated[float, BULK_RATIO.limits] = BULK_RATIO.default
    fibres: Fibres = field(default_factory=Fibres)

    def __post_init__(self) -> None:
        """Takes lists for arrays."""
        convert_sequences(self)

    @property
    def tendon_stress(self) -> float:
        """σ_t of tendon at a strain of 3 % [Pa]."""
        return self.tendon_stiffness * self.peak_stress

    @property
    def bulk_modulus(self) -> float:
        """The least κ [Pa] of the body."""
        return self.bulk_ratio * self.peak_stress
