# SPDX-License-Identifier: GPL-3.0-or-later
"""The stiffness of small pieces as a dense matrix: what a sparse one costs is not its products, but its making."""

from __future__ import annotations

import numpy as np

from ..runtime.jit import kernel


@kernel()
def add_stiffness(tets, gradients, weight, mu, lam, middles, K):
    """Adds K of tets of ten nodes, Σ V / 20 (Σᵢ Gᵢₐ Gᵢᵦᵀ + Sₐ Sᵦᵀ) in Hooke's law, to its lower half, (3 n, 3 n).

    Args:
        tets, gradients: See `QuadraticMesh`.
        weight: V times the share of the moduli that a tet has [m³], (m,).
        mu, lam: Lamé's moduli [Pa].
        middles: `MIDDLES`.
        K: [N/m].
    """
    G = np.zeros((5, 10, 3))
    M = np.empty((3, 3))
    for tet in range(len(tets)):
        nodes, g = tets[tet], gradients[tet]
        G[:] = 0.0
        for i in range(4):
            for r in range(3):
                for j in range(4):
                    if j == i:
                        G[i, j, r] = 3.0 * g[j, r]
                    else:
                        G[i, j, r] = -g[j, r]
                        G[i, middles[i, j], r] = 4.0 * g[j, r]
                for a in range(10):
                    G[4, a, r] += G[i, a, r]
        scale = weight[tet] / 20.0
        for a in range(10):
            for b in range(10):
                if nodes[a] < nodes[b]:
                    continue
                for r in range(3):
                    for s in range(3):
                        value = 0.0
                        for i in range(5):
                            value += G[i, a, r] * G[i, b, s]
                        M[r, s] = scale * value
                trace = mu * (M[0, 0] + M[1, 1] + M[2, 2])
                row, column = 3 * nodes[a], 3 * nodes[b]
                for r in range(3):
                    for s in range(3):
                        K[row + r, column + s] += lam * M[r, s] + mu * M[s, r]
                    K[row + r, column + r] += trace
