# SPDX-License-Identifier: GPL-3.0-or-later
"""Adds what four points in up to four tets do to each other to a matrix: gradients and Hessians of their positions.

Points without a tet move as they are told, and have no rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..runtime.arrays import Floats, Indices
from ..runtime.jit import kernel
from .block_pattern import BlockPattern, UInt32s
from .coupled_islands import Int64s
from .pair_stiffness_assembly import PairPatterns

CORNER_PAIRS = np.array([[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]], np.int64)


@dataclass(frozen=True, eq=False)
class StencilBlocks:
    """The blocks of stencils in a wide pattern.

    Attributes:
        pattern: With these blocks, and coupled by them.
        place: Of `PairBlocks`, for each pair of corners in `CORNER_PAIRS`; −1 where one has no tet, (k, 6).
        added: Of the `WidenedPattern`.
        values: Blocks of the first pattern in the wide one, (b', 9).
    """

    pattern: BlockPattern
    place: Int64s
    added: UInt32s
    values: Floats


def stencil_blocks(
    pattern: BlockPattern, values: Floats, tets: Indices, stencil_tets: Indices, patterns: PairPatterns
) -> StencilBlocks:
    """Returns a matrix with room for stencils.

    Args:
        pattern, values: The matrix, (b, 9), not changed.
        tets: Nodes of the tets, (m, 4).
        stencil_tets: Tets of the corners, −1 for none, (k, 4).
        patterns: Of the workspace.
    """
    pairs = stencil_tets[:, CORNER_PAIRS]  # (k, 6, 2)
    both = (pairs >= 0).all(axis=2)
    place = np.full(both.shape, -1, np.int64)
    if not both.any():
        return StencilBlocks(pattern, place, np.zeros(0, np.uint32), values.copy())
    widening = patterns.widened(pattern, tets)
    blocks = widening.pair_blocks(pattern, pairs[both][:, 0], pairs[both][:, 1])
    place[both] = blocks.place
    blocks.widened.scatter(values, widening.wide)
    return StencilBlocks(blocks.pattern, place, blocks.widened.added_blocks, widening.wide)


@kernel()
def add_stencil_hessians(factor, stencil_tets, weights, hessian, place, tets, corner_block, added, values):
    """Adds factor · Wᵀ H W of stencils to the blocks.

    Args:
        factor: A number.
        stencil_tets, weights: Tets of the corners, and weights of their nodes in these, (k, 4) and (k, 4, 4).
        hessian: H, symmetric, (k, 12, 12).
        place, added: Of `StencilBlocks`.
        tets: Nodes of the tets, (m, 4).
        corner_block: Of the wide pattern.
        values: Its blocks, (b', 9), changed.
    """
    for k in range(len(stencil_tets)):
        pair = -1
        for i in range(4):
            t = stencil_tets[k, i]
            for a in range(4):
                for c in range(4):
                    if t >= 0:
                        w = factor * weights[k, i, a] * weights[k, i, c]
                        _add_block(values[corner_block[4 * t + a, c]], w, hessian[k], i, i)
            for j in range(i + 1, 4):
                pair += 1
                if place[k, pair] < 0:
                    continue
                first = 32 * place[k, pair]
                for a in range(4):
                    for c in range(4):
                        w = factor * weights[k, i, a] * weights[k, j, c]
                        _add_block(values[added[first + 4 * a + c]], w, hessian[k], i, j)
                        _add_block(values[added[first + 16 + 4 * c + a]], w, hessian[k], j, i)


@kernel(device_only=True)
def _add_block(block, factor, hessian, i, j):
    """Adds a factor times the block of the corners i and j to a block, (9,)."""
    if factor == 0.0:
        return
    for p in range(3):
        for q in range(3):
            block[3 * p + q] += factor * hessian[3 * i + p, 3 * j + q]


@kernel()
def add_stencil_gradients(factor, stencil_tets, weights, gradient, tets, out):
    """Adds factor · Wᵀ g of stencils, (k, 12), to nodes, (n, 3); see `add_stencil_hessians`."""
    for k in range(len(stencil_tets)):
        for i in range(4):
            t = stencil_tets[k, i]
            if t < 0:
                continue
            for a in range(4):
                w = factor * weights[k, i, a]
                for axis in range(3):
                    out[tets[t, a], axis] += w * gradient[k, 3 * i + axis]
