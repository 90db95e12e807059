# SPDX-License-Identifier: GPL-3.0-or-later
"""Nearly incompressible bodies: part of their energy is that of deformation gradients averaged at nodes.

Linear tets whose volume hardly changes can hardly bend: every one of them is a condition on its nodes, and there are
five times as many tets as nodes. So tets of a Poisson's ratio above `HIGHEST_PLAIN` keep but half of their shear
modulus and none of λ. The rest is borne at nodes, by the same law, of the volume-weighted mean F̄_a of the tets there:

    Ψ = Σ_t V_t ψ(F_t; μ/2, 0) + Σ_a V_a ψ(F̄_a; μ/2, λ),   F̄_a = Σ_t∋a (V_t / 4) F_t / V_a = Σ_b x_b ⊗ g_ab

Where F is the same in all tets, this is the law itself. F̄ is linear in the positions, so its tangent is the sum of
V_a G_aᵀ T_a G_a, symmetric, and positive semi-definite where T is clamped; inversion is met as in tets. What tets keep
holds down the checkerboards that averages do not see.

Source: Puso and Solberg 2006, A stabilized nodally integrated tetrahedral.
"""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from ..arrays import Bools, Floats, Indices
from ..model import Model

HIGHEST_PLAIN = 0.45  # Poisson's ratio up to which tets bear all
SHEAR_SHARE = 0.5  # of the shear modulus that nodes bear: with it beams of all fillings bend as well as at ν = 0.3


@dataclass(frozen=True, eq=False)
class Averaged:
    """What tets leave to their nodes.

    Attributes:
        is_averaged: Which tets do, (m,).
        mu, lam: The moduli that they leave [Pa], (m,).
    """

    is_averaged: Bools
    mu: Floats
    lam: Floats


@dataclass(frozen=True, eq=False)
class NodeAverages:
    """The k nodes of a model at which deformation gradients are averaged.

    Attributes:
        nodes: Their numbers, rising, (k,).
        place: Node → which of them it is, −1 for the others, (n,).
        gradient: g_ab [1/m] in the blocks of the model's pattern, row a; zero in rows of other nodes, (b, 3).
        volume: V_a [m³], (k,).
        law, mu, lam, share: As in `Hyperelastic`, of what nodes bear, (k,).
    """

    nodes: Indices
    place: Indices
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
        share=mean(share),
    )
