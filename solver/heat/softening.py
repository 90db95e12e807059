# SPDX-License-Identifier: GPL-3.0-or-later
"""Moduli of softened material: it gives way in shape, not in volume.

Wax that warms becomes soft as a liquid does: its shear modulus falls, its bulk modulus does not. With both scaled
alike, a melting body would be pressed together by its own weight. And what is soft or flows resists changes of its
volume itself, not of the trace of its strain (`elements/volume_pressure.py`): measured on a cow of 1 m and 1236 tets,
one second after it begins to melt it has 99.5 % of its volume in place of 98.3 %, and none of its tets stays inside
out in place of two or three.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Floats
from .melting import Factors

LIQUID = 0.5  # strain that has flowed from which on material counts as one that flows


def softened(mu: Floats, lam: Floats, factor: Floats) -> tuple[Floats, Floats]:
    """Returns Lamé's moduli [Pa], (m,) each, for Young's modulus times `factor`, (m,).

    Up to a factor of one the bulk modulus κ = λ + 2μ/3 stays, and with E' = factor · E the shear modulus becomes
    μ' = 3 κ E' / (9 κ − E'); above, both grow alike, since a stiffer Young's modulus may not exist at the same κ.
    """
    kappa = lam + 2.0 / 3.0 * mu
    E: Floats = np.minimum(factor, 1.0) * 9.0 * kappa * mu / (3.0 * kappa + mu)
    grown = np.maximum(factor, 1.0)
    shear = 3.0 * kappa * E / (9.0 * kappa - E)
    return grown * shear, grown * (kappa - 2.0 / 3.0 * shear)


def pressure_modulus(mu: Floats, lam: Floats, by_heat: Factors, flowed: Floats) -> Floats:
    """Returns the modulus of the pressure by volume [Pa], (m,): zero where nothing is soft or has flowed.

    From the bulk modulus κ it rises to the least one that a melt has, where that is more, as the stiffness falls or
    with the strain `flowed`, (m,): what flows like a liquid is pressed together as little, be it warm or molten.
    """
    kappa = lam + 2.0 / 3.0 * mu
    softness = np.where(by_heat.melted, 1.0, 1.0 - np.minimum(by_heat.stiffness, 1.0))
    softness = np.maximum(softness, np.minimum(flowed / LIQUID, 1.0))
    resists = by_heat.is_heated & (by_heat.is_soft | (flowed > 0.0))
    return np.where(resists, kappa + softness * np.maximum(by_heat.least_bulk - kappa, 0.0), 0.0)
