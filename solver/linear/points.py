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


@kernel()
def keep_blocks(point_corner, corner_block, values, is_kept, places, kept):
    """Copies every block of the tets of some points once; `put_back` undoes what was added to them since.

    Args:
        point_corner, corner_block, values: As for `add_points`.
        is_kept: Whether a block is among the copies, false before and again after `put_back`, (b,).
        places: Out, the blocks copied, (b,).
        kept: Out, the copies, (b, 9).

    Returns:
        How many were copied.
    """
    count = 0
    for point in range(len(point_corner)):
        for a in range(4):
            for c in range(4):
                block = corner_block[point_corner[point] + a, c]
                if not is_kept[block]:
                    is_kept[block] = True
                    places[count] = block
                    for i in range(9):
                        kept[count, i] = values[block, i]
                    count += 1
    return count


@kernel()
def put_back(count, places, kept, is_kept, values):
    """Gives the `count` blocks that `keep_blocks` copied their values back."""
    for k in range(count):
        block = places[k]
        is_kept[block] = False
        for i in range(9):
            values[block, i] = kept[k, i]
