# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodal averaging: part of the energy of nearly incompressible bodies is that of gradients F averaged at nodes.

Linear tets whose volume hardly changes can hardly bend: every one of them is a condition on its nodes, and there are
five times as many tets as nodes. So tets of a Poisson's ratio above `MAX_UNAVERAGED_POISSON_RATIO` keep but half of
their shear modulus, and as much of λ as a body of ν = 0.375 has with it. The rest is borne at nodes, by the same law,
of the volume-weighted mean F̄_a of the tets there:

    Ψ = Σ_t V_t ψ(F_t; μ/2, 3μ/2) + Σ_a V_a ψ(F̄_a; μ/2, λ − 3μ/2),   F̄_a = Σ_t∋a (V_t / 4) F_t / V_a = Σ_b x_b ⊗ g_ab

Where F is the same in all tets, this is the law itself. F̄ is linear in the positions, so its tangent is the sum of
V_a G_aᵀ T_a G_a, symmetric, and positive semi-definite where T is clamped; inversion is met as in tets. What tets keep
holds down the checkerboards that averages do not see. Without their part of λ, more tets turned inside out in limbs
that bend sharply; with more of it, beams are stiffer than at ν = 0.3 (tests/validate_locking_remedy.py).

Source: Puso and Solberg 2006, A stabilized nodally integrated tetrahedral.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...runtime.arrays import Bools, Floats, Indices
from ...runtime.frozen_memo import derived_from
from ..model import Model

MAX_UNAVERAGED_POISSON_RATIO = 0.45  # Poisson's ratio up to which tets bear all
# of the shear modulus that nodes bear: with it beams of all fillings bend as well as at ν = 0.3
NODAL_SHEAR_SHARE = 0.5
TET_LAME_RATIO = 3.0  # λ / μ of what tets keep


@dataclass(frozen=True, eq=False)
class NodalShare:
    """What tets leave to their nodes.

    Attributes:
        is_averaged: Which tets do, (m,).
        mu, lam: The moduli that they leave [Pa], (m,).
    """

    is_averaged: Bools
    mu: Floats
    lam: Floats

    def of_tets(self, rows: Indices) -> NodalShare | None:
        """Returns what some tets leave, (k,); None: nothing."""
        is_averaged = self.is_averaged[rows]
        return NodalShare(is_averaged, self.mu[rows], self.lam[rows]) if is_averaged.any() else None


@dataclass(frozen=True, eq=False)
class NodeAverages:
    """The k nodes of a model at which deformation gradients are averaged.

    Attributes:
        nodes: Their numbers, rising, (k,).
        place: Node → which of them it is, −1 for the others, (n,).
        gradient: g_ab [1/m] in the blocks of the model's pattern, row a; zero in rows of other nodes, (b, 3).
        volume: V_a [m³], (k,).
        law, mu, lam, parameter: As in `Hyperelastic`, of what nodes bear, (k,).
    """

    nodes: Indices
    place: Indices
    gradient: Floats
    volume: Floats
    law: np.ndarray
    mu: Floats
    lam: Floats
    parameter: Floats


def nodal_share(mu: Floats, lam: Floats, may: Bools | bool = True) -> NodalShare | None:
    """Returns what tets of Lamé's moduli μ, λ [Pa], (m,), leave to their nodes, where they may; None: nothing."""
    # ν = λ / (2 (λ + μ)), a little above so that 0.45 itself does not hang on round-off
    is_averaged = may & (lam > (1.0 + 1.0e-6) * 2.0 * MAX_UNAVERAGED_POISSON_RATIO * (lam + mu))
    if not is_averaged.any():
        return None
    kept = (1.0 - NODAL_SHEAR_SHARE) * mu
    given = np.where(is_averaged, lam - TET_LAME_RATIO * kept, 0.0)
    return NodalShare(is_averaged, NODAL_SHEAR_SHARE * mu * is_averaged, given)


def node_averages(model: Model, law: np.ndarray, parameter: Floats, left: NodalShare) -> NodeAverages:
    """Returns where deformation gradients are averaged, for rest shapes as they are in `model`; kept with it.

    Args:
        model: All bodies.
        law, parameter: Of tets, as in `Hyperelastic`, (m,).
        left: What tets leave to their nodes.
    """
    return derived_from(model, "node_averages", lambda: _make_averages(model, law, parameter, left), inputs=(left,))


def _make_averages(model: Model, law: np.ndarray, parameter: Floats, left: NodalShare) -> NodeAverages:
    tets, corners = model.tets, model.tets.ravel()
    quarter = 0.25 * model.volume * left.is_averaged
    whole = np.bincount(corners, np.repeat(quarter, 4), model.node_count).astype(np.float64)
    nodes = np.flatnonzero(whole > 0.0).astype(np.int32)
    place = np.full(model.node_count, -1, np.int32)
    place[nodes] = np.arange(len(nodes), dtype=np.int64)

    def mean(values: Floats) -> Floats:
        return np.asarray(np.bincount(corners, np.repeat(quarter * values, 4), model.node_count)[nodes] / whole[nodes])

    g = np.concatenate([-model.Dm_inverse.sum(axis=1, keepdims=True), model.Dm_inverse], axis=1)
    over = np.divide(1.0, whole, out=np.zeros_like(whole), where=whole > 0.0)
    weight = quarter[:, None] * over[tets]  # of each tet in the averages of its corners
    blocks = model.pattern.corner_block.reshape(-1)
    gradient = np.empty((model.pattern.block_count, 3))
    for axis in range(3):
        shares = (weight[:, :, None] * g[:, None, :, axis]).ravel()
        gradient[:, axis] = np.bincount(blocks, shares, model.pattern.block_count)
    laws = np.zeros(model.node_count, law.dtype)
    laws[tets[left.is_averaged].ravel()] = np.repeat(law[left.is_averaged], 4)
    return NodeAverages(
        nodes=nodes,
        place=place,
        gradient=gradient,
        volume=whole[nodes],
        law=laws[nodes],
        mu=mean(left.mu),
        lam=mean(left.lam),
        parameter=mean(parameter),
    )
