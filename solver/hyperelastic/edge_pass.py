# SPDX-License-Identifier: GPL-3.0-or-later
"""The matrix of a mesh by its edges: what tets give to two nodes is summed per edge, and written for both of them.

Rows of the tangent have the sum zero, since a body that moves as a whole feels nothing. So the blocks on the diagonal
need no tets: they are minus the sum of their row. No two threads write to the same place, and every sum has its order.
"""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from ..arrays import Indices
from ..jit import kernel
from ..linear.pattern import BlockPattern, Unsigned

PAIRS = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))  # order of the blocks of a tet


@dataclass(frozen=True, eq=False)
class Edges:
    """The e edges of a mesh, in the order of their blocks.

    Attributes:
        upper, lower: Blocks of the edge above and below the diagonal, (e,).
        start: Where the shares of each edge begin in `shares`, (e + 1,).
        shares: What tets have in an edge: 16 · tet + 2 · number of the pair, plus one where the tet has the two nodes
            the other way round, (6m,).
        others: Blocks that no tet writes to, beside the diagonal.
    """

    upper: Unsigned
    lower: Unsigned
    start: Unsigned
    shares: Unsigned
    others: Indices


_kept: WeakKeyDictionary[BlockPattern, Edges] = WeakKeyDictionary()


def edges_of(pattern: BlockPattern) -> Edges:
    """Returns the edges of a pattern, found once."""
    if pattern not in _kept:
        _kept[pattern] = _edges(pattern)
    return _kept[pattern]


def _edges(pattern: BlockPattern) -> Edges:
    blocks = pattern.corner_block.reshape(-1, 4, 4)
    there = np.stack([blocks[:, a, b] for a, b in PAIRS], axis=1).ravel()
    back = np.stack([blocks[:, b, a] for a, b in PAIRS], axis=1).ravel()
    upper = np.minimum(there, back)
    order = np.argsort(upper, kind="stable")
    share = 16 * np.repeat(np.arange(len(blocks)), 6) + 2 * np.tile(np.arange(6), len(blocks)) + (there > back)
    first = np.flatnonzero(np.diff(upper[order], prepend=-1))
    unused = np.ones(pattern.block_count, bool)
    unused[there], unused[back], unused[pattern.diagonal] = False, False, False
    return Edges(
        upper=upper[order][first].astype(np.uint32),
        lower=np.maximum(there, back)[order][first].astype(np.uint32),
        start=np.append(first, len(order)).astype(np.uint32),
        shares=share[order].astype(np.uint32),
        others=np.flatnonzero(unused).astype(np.int32),
    )


@kernel(contract=True)
def gather_edges(begin, end, upper, lower, start, shares, record, values):
    """Writes the blocks of the edges from `begin` to `end` [N/m], (b, 9)."""
    for edge in range(begin, end):
        a, b, c, d, e, f, g, h, i = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for place in range(start[edge], start[edge + 1]):
            share = shares[place]
            w = record[share >> np.uint32(4)]
            # the block as it is, or transposed: steps to the next row and column
            o = np.uint32(9) + np.uint32(9) * ((share >> np.uint32(1)) & np.uint32(7))
            r = np.uint32(3) - np.uint32(2) * (share & np.uint32(1))
            k = np.uint32(4) - r
            a, b, c = a + w[o], b + w[o + k], c + w[o + k + k]
            d, e, f = d + w[o + r], e + w[o + np.uint32(4)], f + w[o + np.uint32(4) + k]
            g, h, i = g + w[o + r + r], h + w[o + np.uint32(4) + r], i + w[o + np.uint32(8)]
        u, v = values[upper[edge]], values[lower[edge]]
        u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8] = a, b, c, d, e, f, g, h, i
        v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8] = a, d, g, b, e, h, c, f, i


@kernel(contract=True)
def gather_nodes(begin, end, wanted, row_start, diagonal, corner_start, corners, record, values, force):
    """Writes the forces on the nodes from `begin` to `end` [N], (n, 3), and, where wanted, the diagonal blocks."""
    for node in range(begin, end):
        fx, fy, fz = 0.0, 0.0, 0.0
        for place in range(corner_start[node], corner_start[node + 1]):
            a, w = corners[place] & np.uint32(3), record[corners[place] >> np.uint32(2)]
            if a == 0:
                fx, fy, fz = fx - (w[0] + w[3] + w[6]), fy - (w[1] + w[4] + w[7]), fz - (w[2] + w[5] + w[8])
            else:
                b = np.uint32(3) * (a - np.uint32(1))
                fx, fy, fz = fx + w[b], fy + w[b + np.uint32(1)], fz + w[b + np.uint32(2)]
        force[node, 0], force[node, 1], force[node, 2] = fx, fy, fz
        if wanted:
            a, b, c, d, e, f, g, h, i = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            own = diagonal[node]
            for k in range(row_start[node], row_start[node + 1]):
                if k != own:
                    v = values[k]
                    a, b, c, d, e = a - v[0], b - v[1], c - v[2], d - v[3], e - v[4]
                    f, g, h, i = f - v[5], g - v[6], h - v[7], i - v[8]
            # symmetric but for round-off, which is shared
            b, c, f, v = 0.5 * (b + d), 0.5 * (c + g), 0.5 * (f + h), values[own]
            v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8] = a, b, c, b, e, f, c, f, i
