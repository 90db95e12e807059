# SPDX-License-Identifier: GPL-3.0-or-later
"""Adds forces on points inside tets, with their stiffness and damping, to a matrix and its right-hand side."""

from __future__ import annotations

from ..runtime.jit import kernel


@kernel()
def add_point_terms(dt, tet, weights, stiffness, damping, force, tets, corner_block, values, b):
    """Adds Wᵀ A W to the blocks and Δt Wᵀ f to the right-hand side for points at weights W of tets, A = Δt² K + Δt C.

    Args:
        dt: Δt.
        tet: Tet of each point, (k,).
        weights: (k, 4).
        stiffness, damping: Symmetric K and C, (k, 3, 3).
        force: f, (k, 3).
        tets: Nodes of the tets, (m, 4).
        corner_block: Of the `BlockPattern`.
        values: Blocks, (b, 9), changed.
        b: Right-hand side, (n, 3), changed.
    """
    for point in range(len(tet)):
        K, C = stiffness[point], damping[point]
        for a in range(4):
            w = dt * weights[point, a]
            node, blocks = tets[tet[point], a], corner_block[4 * tet[point] + a]
            for i in range(3):
                b[node, i] += w * force[point, i]
            for c in range(4):
                block = values[blocks[c]]
                for i in range(3):
                    for j in range(3):
                        block[3 * i + j] += w * weights[point, c] * (dt * K[i, j] + C[i, j])


@kernel()
def save_blocks(tet, corner_block, values, is_kept, places, kept):
    """Copies every block of the tets of some points once; `restore_blocks` undoes what was added to them since.

    Args:
        tet, corner_block, values: As for `add_point_terms`.
        is_kept: Whether a block is among the copies, false before and again after `restore_blocks`, (b,).
        places: Out, the blocks copied, (b,).
        kept: Out, the copies, (b, 9).

    Returns:
        How many were copied.
    """
    count = 0
    for point in range(len(tet)):
        for a in range(4):
            for c in range(4):
                block = corner_block[4 * tet[point] + a, c]
                if not is_kept[block]:
                    is_kept[block] = True
                    places[count] = block
                    for i in range(9):
                        kept[count, i] = values[block, i]
                    count += 1
    return count


@kernel()
def restore_blocks(count, places, kept, is_kept, values):
    """Gives the `count` blocks that `save_blocks` copied their values back."""
    for k in range(count):
        block = places[k]
        is_kept[block] = False
        for i in range(9):
            values[block, i] = kept[k, i]
