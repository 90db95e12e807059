# SPDX-License-Identifier: GPL-3.0-or-later
"""Elastic forces of tets of ten nodes, without a matrix: 0.6 kB of a tet are read, not 7; and what a solve does often.

A hundred small pieces have a thousand small solves, in which a call of a matrix product takes longer than the product.
"""

from __future__ import annotations

import numpy as np

from ..runtime.jit import kernel

# where the middle of the edge from corner i to corner j stands among the nodes of a tet
MIDDLES = np.array([[-1, 4, 5, 6], [4, -1, 7, 8], [5, 7, -1, 9], [6, 8, 9, -1]], np.int64)


@kernel()
def add_elastic_forces(tets, gradients, weight, mu, lam, middles, u, out):
    """Adds K u of tets to `out`, (n, 3).

    Args:
        tets, gradients: See `QuadraticMesh`.
        weight: ∫ λᵢ λⱼ dV over the material in a tet [m³], (m, 4, 4).
        mu, lam: Lamé's moduli [Pa].
        middles: `MIDDLES`.
        u: Displacements [m], (n, 3).
        out: Forces [N].
    """
    H, P, stress = np.empty((4, 3, 3)), np.empty((4, 3, 3)), np.empty((4, 3, 3))
    mean, total = np.empty((3, 3)), np.empty((3, 3))
    for tet in range(len(tets)):
        nodes, g = tets[tet], gradients[tet]
        for r in range(3):
            for s in range(3):
                mean[r, s] = 0.0
                for j in range(4):
                    mean[r, s] += u[nodes[j], r] * g[j, s]
        for i in range(4):
            for r in range(3):
                for s in range(3):
                    value = u[nodes[i], r] * g[i, s]
                    for j in range(4):
                        if j != i:
                            value += u[nodes[middles[i, j]], r] * g[j, s]
                    H[i, r, s] = 4.0 * value - mean[r, s]
        for i in range(4):
            trace = lam * (H[i, 0, 0] + H[i, 1, 1] + H[i, 2, 2])
            for r in range(3):
                for s in range(3):
                    stress[i, r, s] = mu * (H[i, r, s] + H[i, s, r])
                stress[i, r, r] += trace
        # what Hᵢ works against is Σ C : Hⱼ ∫ λᵢ λⱼ dV
        for i in range(4):
            for r in range(3):
                for s in range(3):
                    P[i, r, s] = 0.0
                    for j in range(4):
                        P[i, r, s] += weight[tet, i, j] * stress[j, r, s]
        for r in range(3):
            for s in range(3):
                total[r, s] = P[0, r, s] + P[1, r, s] + P[2, r, s] + P[3, r, s]
        for j in range(4):
            for r in range(3):
                value = 0.0
                for s in range(3):
                    value += (4.0 * P[j, r, s] - total[r, s]) * g[j, s]
                out[nodes[j], r] += value
            for i in range(j):
                for r in range(3):
                    value = 0.0
                    for s in range(3):
                        value += P[i, r, s] * g[j, s] + P[j, r, s] * g[i, s]
                    out[nodes[middles[i, j]], r] += 4.0 * value


@kernel()
def add_at_nodes(tets, values, out):
    """Adds values that tets have at their first k nodes, (m, k, c), to those of the nodes, (n, c)."""
    for tet in range(len(values)):
        for at in range(values.shape[1]):
            node = tets[tet, at]
            for c in range(values.shape[2]):
                out[node, c] += values[tet, at, c]


@kernel()
def inverse_blocks_into(blocks, out):
    """Writes the inverses of symmetric blocks, (n, 3, 3)."""
    for n in range(len(blocks)):
        A, B = blocks[n], out[n]
        a, b, c, d, e, f = A[0, 0], A[1, 1], A[2, 2], A[0, 1], A[1, 2], A[0, 2]
        p, q, r = b * c - e * e, e * f - d * c, d * e - b * f
        k = 1.0 / (a * p + d * q + f * r)
        B[0, 0], B[0, 1], B[0, 2] = k * p, k * q, k * r
        B[1, 0], B[1, 1], B[1, 2] = k * q, k * (a * c - f * f), k * (f * d - a * e)
        B[2, 0], B[2, 1], B[2, 2] = k * r, k * (f * d - a * e), k * (a * b - d * d)


@kernel()
def subtract_projections(basis, values):
    """Takes the projections on orthonormal columns, (n, 6), out of values, (n,)."""
    sums = np.zeros(6)
    for row in range(len(values)):
        for k in range(6):
            sums[k] += basis[row, k] * values[row]
    for row in range(len(values)):
        value = 0.0
        for k in range(6):
            value += basis[row, k] * sums[k]
        values[row] -= value
