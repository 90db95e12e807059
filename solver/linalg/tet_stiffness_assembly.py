# SPDX-License-Identifier: GPL-3.0-or-later
"""Adds forces of tets on their nodes, with the stiffness between them, to a matrix and its right-hand side."""

from __future__ import annotations

from ..runtime.jit import kernel


@kernel()
def add_tet_terms(dt, tet, stiffness, force, tets, corner_block, values, b):
    """Adds Δt² K to the blocks and Δt f to the right-hand side for some tets.

    Args:
        dt: Δt.
        tet: The tets, (k,).
        stiffness: K, (k, 4, 4, 3, 3).
        force: f, (k, 4, 3).
        tets: Nodes of all tets, (m, 4).
        corner_block: Of the `BlockPattern`.
        values: Blocks, (b, 9), changed.
        b: Right-hand side, (n, 3), changed.
    """
    for place in range(len(tet)):
        for a in range(4):
            node, blocks = tets[tet[place], a], corner_block[4 * tet[place] + a]
            for i in range(3):
                b[node, i] += dt * force[place, a, i]
            for c in range(4):
                block, K = values[blocks[c]], stiffness[place, a, c]
                for i in range(3):
                    for j in range(3):
                        block[3 * i + j] += dt * dt * K[i, j]
