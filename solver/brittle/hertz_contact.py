# SPDX-License-Identifier: GPL-3.0-or-later
"""Hertz's law of two curved elastic bodies: the force F = K δ^(3/2) at an approach δ of bodies that touch at a point.

The gap between the bodies before they touch is x² / 2R' + y² / 2R'' with the relative principal radii R' ≥ R'': the
curvatures of both add up. With E* of both and the eccentricity e of the ellipse of contact with half axes a ≥ b,

    R' / R'' = ((a/b)² E(e) − K(e)) / (K(e) − E(e)),

    F = 4/3 E* √Rₑ (δ / F₂)^(3/2),  Rₑ = √(R' R''),

where E(e) and K(e) are the complete elliptic integrals; F₂ is one where R' = R''.

Source: Johnson (1985), section 4.2, equations 4.22 to 4.26.
"""

from __future__ import annotations

import math

import numpy as np
import scipy.optimize
import scipy.special

from ..runtime.arrays import Floats

ROUND_RATIO = 1.0 + 1.0e-9  # of the radii, below which the contact is round
FLATTEST_PARAMETER = 1.0 - 1.0e-14  # e² of what is nearly a line of contact


def reduced_modulus(youngs_modulus: float, poisson_ratio: float, other_modulus: float, other_ratio: float) -> float:
    """Returns E* with 1 / E* = (1 − ν₁²) / E₁ + (1 − ν₂²) / E₂ [Pa]; a body of infinite E₂ does not give way."""
    return 1.0 / ((1.0 - poisson_ratio**2) / youngs_modulus + (1.0 - other_ratio**2) / other_modulus)


def hertz_stiffness(modulus: float, radius: float, larger_radius: float | None = None) -> float:
    """Returns K of F = K δ^(3/2) [N m^(−3/2)].

    Args:
        modulus: E* [Pa].
        radius: R'', the smaller one of the relative principal radii [m].
        larger_radius: R' [m]; None: the same.
    """
    larger = radius if larger_radius is None else larger_radius
    equivalent = math.sqrt(radius * larger)
    return 4.0 / 3.0 * modulus * math.sqrt(equivalent) / approach_factor(larger / radius) ** 1.5


def approach_factor(ratio: float) -> float:
    """Returns F₂ for R' / R'' ≥ 1: how much nearer than a round contact of the same Rₑ an elliptical one comes."""
    if ratio < ROUND_RATIO:
        return 1.0
    m = elliptic_parameter(ratio)
    first, second = scipy.special.ellipk(m), scipy.special.ellipe(m)
    axes = math.sqrt(1.0 - m)  # b / a
    cubed = 4.0 / (math.pi * m) * axes**1.5 * math.sqrt((second / axes**2 - first) * (first - second))
    return float(2.0 / math.pi * math.sqrt(axes) * first / cubed ** (1.0 / 3.0))


def elliptic_parameter(ratio: float) -> float:
    """Returns m = e² of the ellipse of contact for R' / R'' ≥ `ROUND_RATIO`; it ends where the contact is a line."""

    def misses(log_of_axes: float) -> float:
        m = -math.expm1(2.0 * log_of_axes)
        first, second = scipy.special.ellipk(m), scipy.special.ellipe(m)
        return math.log((second * math.exp(-2.0 * log_of_axes) - first) / (first - second)) - math.log(ratio)

    low, high = 0.5 * math.log1p(-FLATTEST_PARAMETER), -1.0e-10
    if misses(low) < 0.0:
        return FLATTEST_PARAMETER
    return -math.expm1(2.0 * float(scipy.optimize.brentq(misses, low, high, xtol=1e-14)))


def relative_radii(
    curvature: Floats, other: Floats, normal: Floats, sharpest: float, flattest: float
) -> tuple[float, float]:
    """Returns R'' ≤ R' [m] of two surfaces that touch.

    Args:
        curvature, other: Of both as tensors in space, positive where a body bulges [1/m], (3, 3); see
            `mesh/geometry/principal_curvatures.py`.
        normal: At the place, (3,).
        sharpest, flattest: Least and largest radius [m]: edges are not sharper, and faces that lie on each other
            do not touch as larger balls than that.
    """
    n = normal / np.linalg.norm(normal)
    across = np.eye(3) - np.outer(n, n)
    # the normal's own direction comes last
    values = np.linalg.eigvalsh(across @ (curvature + other) @ across - np.outer(n, n) * 2.0 / sharpest)
    low, high = np.clip(np.sort(values[1:]), 1.0 / flattest, 1.0 / sharpest).tolist()
    return 1.0 / high, 1.0 / low
