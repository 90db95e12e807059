# SPDX-License-Identifier: GPL-3.0-or-later
"""The two moduli of isotropic linear elasticity: Lamé's out of Young's modulus and Poisson's ratio, and back."""

from __future__ import annotations

from typing import TypeVar

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
