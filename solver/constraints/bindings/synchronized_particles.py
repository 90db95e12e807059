# SPDX-License-Identifier: GPL-3.0-or-later
"""Particles that are synchronized with points of tets, drift from them within a step, and hand their drift down.

Before collisions a particle goes to its target x_e = Σ w x; these move it, and what it drifted by, Δx and Δv, the nodes
make up for before it is synchronized again. Of all changes δ of the nodes with W δ = Δ at the particles that drifted,
they take the one with the least Σ m δ²,

    δ = M⁻¹ Wᵀ λ,   W M⁻¹ Wᵀ λ = Δ,

so that λ is the mass with which each particle moves times its own share of the drift. One particle alone has
λ = m_e Δ, and its parents move by w_i (m_e / m_i) Δ. For velocities λ is an impulse: the nodes gain Σ λ.

Source: S07, sections 6.2 and 6.3.1; that particles which share parents are solved together is our own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...runtime.arrays import Floats, Indices, floats


@dataclass(frozen=True, eq=False)
class SynchronizedParticles:
    """Particles, p of them, and their targets.

    Attributes:
        tet, weights: Targets, in tets of the model, (p,) and (p, 4).
    """

    tet: Indices
    weights: Floats

    def synchronized(self, values: Floats, tets: Indices) -> Floats:
        """Returns positions [m] or velocities [m/s] of the targets, (p, 3), for those of nodes, (n, 3)."""
        return np.einsum("pa,pai->pi", self.weights, values[tets[self.tet]])

    def hand_down(self, drift: Floats, mass: Floats, tets: Indices) -> tuple[Floats, Floats]:
        """Returns by how much nodes change for a drift, (n, 3), and λ of the particles, (p, 3).

        Where particles that share a tet ask for what it cannot do, nodes come as near to it as they can.

        Args:
            drift: Δ of positions [m] or velocities [m/s], zero for particles that did not drift, (p, 3).
            mass: Of nodes, > 0 [kg], (n,).
            tets: Of the model, (m, 4).
        """
        change, share = np.zeros((len(mass), 3)), np.zeros_like(drift)
        rows = np.flatnonzero(drift.any(axis=1))
        if not len(rows):
            return change, share
        nodes, column = np.unique(tets[self.tet[rows]], return_inverse=True)
        W = np.zeros((len(rows), len(nodes)))
        np.add.at(W, (np.arange(len(rows), dtype=np.int64)[:, None], column.reshape(-1, 4)), self.weights[rows])
        inverse = 1.0 / mass[nodes]
        share[rows] = np.linalg.lstsq((W * inverse) @ W.T, drift[rows], rcond=None)[0]
        change[nodes] = inverse[:, None] * (W.T @ share[rows])
        return floats(change), floats(share)
