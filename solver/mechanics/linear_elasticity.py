# SPDX-License-Identifier: GPL-3.0-or-later
"""The isotropic linear elastic solid: its two moduli, its strain, stress and energy in a rotated frame."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from ..runtime.arrays import Floats

Number = TypeVar("Number", float, Floats)


def lame_moduli(youngs_modulus: Number, poisson_ratio: Number) -> tuple[Number, Number]:
    """Returns μ = E / 2(1 + ν) and λ = Eν / (1 + ν)(1 − 2ν) [Pa] for E [Pa] and −1 < ν < ½."""
    mu = youngs_modulus / (2.0 * (1.0 + poisson_ratio))
    lam = youngs_modulus * poisson_ratio / ((1.0 + poisson_ratio) * (1.0 - 2.0 * poisson_ratio))
    return mu, lam


def youngs_modulus(mu: Floats, lam: Floats) -> Floats:
    """Returns E = μ (3λ + 2μ) / (λ + μ) [Pa]."""
    return mu * (3.0 * lam + 2.0 * mu) / (lam + mu)


def corotated_strain(F: Floats, R: Floats) -> Floats:
    """Returns ε = sym(RᵀF) − I of deformation gradients F and rotations R, (…, 3, 3)."""
    U = np.swapaxes(R, -1, -2) @ F
    return 0.5 * (U + np.swapaxes(U, -1, -2)) - np.eye(3)


def stress(strain: Floats, mu: Floats, lam: Floats) -> Floats:
    """Returns σ = 2μ ε + λ tr(ε) I [Pa] of strains (…, 3, 3) and moduli (…)."""
    trace = np.trace(strain, axis1=-2, axis2=-1)
    return 2.0 * np.asarray(mu)[..., None, None] * strain + (lam * trace)[..., None, None] * np.eye(3)


def energy_density(strain: Floats, mu: Floats, lam: Floats) -> Floats:
    """Returns ψ = μ ε:ε + ½ λ tr(ε)² [J/m³] of strains (…, 3, 3) and moduli (…)."""
    trace = np.trace(strain, axis1=-2, axis2=-1)
    return mu * np.sum(strain * strain, axis=(-2, -1)) + 0.5 * lam * trace**2
