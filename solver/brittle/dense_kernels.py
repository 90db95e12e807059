# SPDX-License-Identifier: GPL-3.0-or-later
"""The stiffness of small pieces as a dense matrix: what a sparse one costs is not its products, but its making."""

from __future__ import annotations

import numpy as np

from ..runtime.jit import kernel


@kernel()
def add_stiffness(tets, gradients, moments, mu, lam, middles, K):
    """Adds K of tets of ten nodes, Σ ∫ λᵢ λⱼ dV Gᵢₐ Gⱼᵦᵀ in Hooke's law, to its lower half, (3 n, 3 n).

    Gᵢₐ is the gradient of the function of node a at corner i.

    Args:
        tets, gradients: See `QuadraticMesh`.
        moments: ∫ λᵢ λⱼ dV over the material in each tet [m³], (m, 4, 4).
        mu, lam: Lamé's moduli [Pa].
        middles: `MIDDLES`.
        K: [N/m].
    """
    G, weighted = np.zeros((4, 10, 3)), np.empty((4, 10, 3))
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
        for i in range(4):
            for a in range(10):
                for r in range(3):
                    value = 0.0
                    for j in range(4):
                        value += moments[tet, i, j] * G[j, a, r]
                    weighted[i, a, r] = value
        for a in range(10):
            for b in range(10):
                if nodes[a] < nodes[b]:
                    continue
                for r in range(3):
                    for s in range(3):
                        value = 0.0
                        for i in range(4):
                            value += G[i, a, r] * weighted[i, b, s]
                        M[r, s] = value
                trace = mu * (M[0, 0] + M[1, 1] + M[2, 2])
                row, column = 3 * nodes[a], 3 * nodes[b]
                for r in range(3):
                    for s in range(3):
                        K[row + r, column + s] += lam * M[r, s] + mu * M[s, r]
                    K[row + r, column + r] += trace
