# SPDX-License-Identifier: GPL-3.0-or-later
"""The elastic energy of tets that resist by rotations R: V (μ ε : ε + ½ λ tr² ε + ½ κ (J − 1)²), ε = sym(RᵀF) − I."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...mechanics.elements.element_rotations import compute_rotations
from ...mechanics.model import Model, rest_shape_inverses
from ...mesh.tetrahedralize.leaf_tets import LeafTets
from ...runtime.arrays import Floats, floats
from ...scene.formulation import DEFAULT_FORMULATION, FormulationSettings


@dataclass(frozen=True)
class ElasticBody:
    """What all tets of a body have in common.

    Attributes:
        method: How they resist.
        density: ρ [kg/m³].
        mu, lam, kappa: Moduli [Pa]: μ, λ of the trace of the strain, and κ of a change of the volume itself.
    """

    method: FormulationSettings
    density: float
    mu: float
    lam: float
    kappa: float


def elastic_body(model: Model, number: int) -> ElasticBody:
    """Returns what all tets of a body of a model have in common, whose material is not painted."""
    first = model.bodies[number].tets.start
    return ElasticBody(
        method=model.methods[number] if model.methods else DEFAULT_FORMULATION,
        density=float(model.density[first]),
        mu=float(model.mu[first]),
        lam=float(model.lam_by_strain[first]),
        kappa=float(model.pressure_modulus[first]) if len(model.pressure_modulus) else 0.0,
    )


def tet_energies(body: ElasticBody, leaves: LeafTets, which: np.ndarray, x: Floats) -> Floats:
    """Returns the elastic energy of some tets of a body [J], (k,).

    Args:
        body: What they have in common.
        leaves: All its tets.
        which: Which of them, (k,).
        x: Places of its nodes [m], (n, 3).
    """
    nodes, tets, fill, _ = leaves.filling
    tets = np.ascontiguousarray(tets[which])
    Dm_inverse, volume = rest_shape_inverses(nodes, tets)
    corners, R = x[tets], np.empty((len(tets), 3, 3))
    compute_rotations(body.method, floats(x), tets, floats(Dm_inverse), R)
    F = np.swapaxes(corners[:, 1:] - corners[:, :1], 1, 2) @ Dm_inverse
    S = np.swapaxes(R, 1, 2) @ F
    e = 0.5 * (S + np.swapaxes(S, 1, 2)) - np.eye(3)
    density = body.mu * np.einsum("mij,mij->m", e, e) + 0.5 * body.lam * np.einsum("mii->m", e) ** 2
    density += 0.5 * body.kappa * (np.linalg.det(F) - 1.0) ** 2
    return floats(volume * fill[which] * density)
