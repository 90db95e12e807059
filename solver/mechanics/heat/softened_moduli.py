# SPDX-License-Identifier: GPL-3.0-or-later
"""Moduli of softened material: it gives way in shape, not in volume.

Wax that warms becomes soft as a liquid does: its shear modulus falls, and its bulk modulus κ only to a value at which
its own weight does not press it together, `LIQUID_BULK_FACTOR` times `HeatBodies.min_bulk`. With both scaled alike the
weight would; with κ kept, steps of molten ice did not converge. And what is soft or flows resists changes of its volume
itself, not of the trace of its strain (`mechanics/elements/added_volume_penalty.py`): measured on a cow of 1 m and 1236
tets, one second after it begins to melt it has 99.5 % of its volume in place of 98.3 %, and none of its tets stays
inside out in place of two or three.

The modulus of that pressure is this κ, and rises, as the stiffness falls or with the strain that has
flowed, to the least one that a melt has, where that is more: what flows like a liquid is pressed together as little.
Bodies that are too soft to stand have such a pressure without heat, too (`self_weight_volume_penalty.py`).
"""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Floats
from ...runtime.jit import kernel
from ..model import Model
from .temperature_dependent_material import ThermalFactors

LIQUID_BULK_FACTOR = 20.0  # bulk modulus to which softening leads, over the least one of a melt
LIQUID_STRAIN = 0.5  # strain that has flowed from which on material counts as one that flows


def softened_moduli(model: Model, by_heat: ThermalFactors, flowed: Floats) -> tuple[Floats, Floats, Floats]:
    """Returns Lamé's moduli [Pa], (m,) each, and the modulus of the pressure by volume, (m,), or (0,) for none.

    Args:
        model: Its moduli are those of the material as it is made.
        by_heat: What temperature makes of it.
        flowed: Strain that has flowed, (m,), or (0,) for none.
    """
    mu, lam, kappa = np.empty((3, model.tet_count))
    by_volume = write_softened_moduli(
        model.mu,
        model.lam,
        model.pressure_modulus,
        by_heat.stiffness,
        by_heat.melted,
        by_heat.is_heated,
        by_heat.min_bulk,
        flowed,
        mu,
        lam,
        kappa,
    )
    return mu, lam, kappa if by_volume else np.zeros(0)


@kernel()
def write_softened_moduli(
    mu, lam, pressure, stiffness, melted, is_heated, least_bulk, flowed, soft_mu, soft_lam, kappa
):
    """Writes what `softened_moduli` returns, and returns whether any tet has a pressure by volume.

    Up to a factor f of one on Young's modulus E the bulk modulus κ = λ + 2μ/3 becomes κ' = f κ + (1 − f) κ_melt, where
    κ_melt ≤ κ, and with E' = f E the shear modulus μ' = 3 κ' E' / (9 κ' − E'). Above, both grow alike: a larger E' may
    not exist at the same κ.
    """
    found = False
    for tet in range(len(mu)):
        f, bulk, strain = stiffness[tet], lam[tet] + 2.0 / 3.0 * mu[tet], 0.0
        if len(flowed) > 0:
            strain = flowed[tet]
        soft_mu[tet], soft_lam[tet], kappa[tet] = mu[tet], lam[tet], 0.0
        if f > 1.0:
            soft_mu[tet], soft_lam[tet], bulk = f * mu[tet], f * lam[tet], f * bulk
        elif f < 1.0:
            liquid_bulk = min(bulk, LIQUID_BULK_FACTOR * least_bulk[tet]) if least_bulk[tet] > 0.0 else bulk
            E = f * 9.0 * bulk * mu[tet] / (3.0 * bulk + mu[tet])
            bulk += (1.0 - f) * (liquid_bulk - bulk)
            soft_mu[tet] = 3.0 * bulk * E / (9.0 * bulk - E)
            soft_lam[tet] = bulk - 2.0 / 3.0 * soft_mu[tet]
        if len(pressure) > 0 and pressure[tet] > 0.0:
            kappa[tet], found = max(f, 1.0) * pressure[tet], True
        if is_heated[tet] and (melted[tet] or f < 1.0 or strain > 0.0):
            softness = 1.0 if melted[tet] else max(1.0 - f, min(strain / LIQUID_STRAIN, 1.0))
            kappa[tet] = bulk + softness * max(least_bulk[tet] - bulk, 0.0)
            found = True
    return found
