# SPDX-License-Identifier: GPL-3.0-or-later
"""Adding what acts on points inside tets to a matrix and its right-hand side."""

from __future__ import annotations

from ..jit import kernel


@kernel()
def add_points(point_corner, weights, matrices, forces, corner_node, corner_block, values, b):
    """Adds Wᵀ A W to the blocks and Wᵀ f to the right-hand side for points at weights W of their tets.

    Args:
        point_corner: First corner 4 · tet of each point's tet, (k,).
        weights: (k, 4).
        matrices: Symmetric A, (k, 3, 3).
        forces: f, (k, 3).
        corner_node: Node of each corner 4 · tet + a, (4m,).
        corner_block: Of the `BlockPattern`.
        values: Blocks, (b, 9), changed.
        b: Right-hand side, (n, 3), changed.
    """
    for point in range(len(point_corner)):
        A = matrices[point]
        for a in range(4):
            w = weights[point, a]
            corner = point_corner[point] + a
            node = corner_node[corner]
            for i in range(3):
                b[node, i] += w * forces[point, i]
            for c in range(4):
                block = values[corner_block[corner, c]]
                for i in range(3):
                    for j in range(3):
                        block[3 * i + j] += w * weights[point, c] * A[i, j]
