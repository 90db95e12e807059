# SPDX-License-Identifier: GPL-3.0-or-later
"""The matrix of a mesh by its edges: what tets give to two nodes is summed per edge, and written for both of them.

Rows of the tangent have the sum zero, since a body that moves as a whole feels nothing. So the blocks on the diagonal
need no tets: they are minus the sum of their row. No two threads write to the same place, and every sum has its order.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from ..arrays import Indices
from ..jit import kernel
from ..late_dataclass import dataclass
from ..linear.pattern import BlockPattern, Unsigned
from ..linear.threes import add, load, nothing, numbers, prefetch, store, three
from .tet_pass import BLOCKS, RECORD

# Of many tets, what a part of them leaves, half a megabyte, is added up before it leaves the processor's cache: from
# memory that takes several times as long. Where neighbours come after each other, parts have most edges to themselves.
MANY = 16384
AT_ONCE = 1024
AHEAD = 32  # shares of tets that memory is asked for ahead of their use: they lie here and there
PAIRS = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))  # order of the blocks of a tet


@dataclass(frozen=True, eq=False)
class Edges:
    """The e edges of a mesh, part by part of its tets, and in the order of their blocks.

    Attributes:
        parts: Where parts of the tets begin and end.
        own: The first edge of those that each part has to itself; from the last number on edges of several, (k + 1,).
        upper, lower: Blocks of the edge above and below the diagonal, (e,).
        start: Where the shares of each edge begin in `shares`, (e + 1,).
        shares: What tets have in an edge: 16 · tet + 2 · number of the pair, plus one where the tet has the two nodes
            the other way round, (6m,).
        others: Blocks that no tet writes to, beside the diagonal.
    """

    parts: list[tuple[int, int]]
    own: list[int]
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
    by_block = np.argsort(upper, kind="stable")
    share = (
        16 * np.repeat(np.arange(len(blocks), dtype=np.int64), 6)
        + 2 * np.tile(np.arange(6, dtype=np.int64), len(blocks))
        + (there > back)
    )
    first = np.flatnonzero(np.diff(upper[by_block], prepend=-1))
    parts = [(begin, min(begin + AT_ONCE, len(blocks))) for begin in range(0, len(blocks), AT_ONCE)]
    # shares of an edge come by rising tet
    part = by_block // (6 * AT_ONCE)
    lowest, highest = part[first], part[np.append(first[1:], len(part)) - 1]
    owner = np.where((lowest == highest) & (len(blocks) >= MANY), lowest, len(parts))
    by_part = np.argsort(owner, kind="stable")
    count = np.diff(np.append(first, len(by_block)))[by_part]
    start = np.concatenate([[0], np.cumsum(count, dtype=np.int64)])
    # the shares of each edge, edge by edge in their new order
    moved = by_block[np.repeat(first[by_part] - start[:-1], count) + np.arange(len(by_block), dtype=np.int64)]
    unused = np.ones(pattern.block_count, bool)
    unused[there], unused[back], unused[pattern.diagonal] = False, False, False
    return Edges(
        parts=parts,
        own=np.searchsorted(owner[by_part], np.arange(len(parts) + 1, dtype=np.int64)).tolist(),
        upper=upper[by_block][first][by_part].astype(np.uint32),
        lower=np.maximum(there, back)[by_block][first][by_part].astype(np.uint32),
        start=start.astype(np.uint32),
        shares=share[moved].astype(np.uint32),
        others=np.flatnonzero(unused).astype(np.int32),
    )


@kernel(inline=True, inside=True)
def place_of(share):
    """Returns where the block that a share says begins among the numbers of all records."""
    return RECORD * (share >> np.uint32(4)) + BLOCKS + 9 * ((share >> np.uint32(1)) & np.uint32(7))


@kernel(contract=True)
def gather_edges(begin, end, upper, lower, start, shares, record, values):
    """Writes the blocks of the edges from `begin` to `end` [N/m], (b, 9)."""
    last = start[len(start) - 1] - np.uint32(1)
    for edge in range(begin, end):
        # what tets have the one way round, and what the other
        a, b, c, u, v, w = nothing(), nothing(), nothing(), nothing(), nothing(), nothing()
        for place in range(start[edge], start[edge + 1]):
            share = shares[place]
            ahead = place_of(shares[min(place + np.uint32(AHEAD), last)])
            prefetch(record, ahead)
            prefetch(record, ahead + 8)
            there = 1.0 if share & np.uint32(1) == 0 else 0.0
            back = 1.0 - there
            block = place_of(share)
            row = load(record, block)
            a, u = add(a, there, row), add(u, back, row)
            row = load(record, block + 3)
            b, v = add(b, there, row), add(v, back, row)
            row = load(record, block + 6)
            c, w = add(c, there, row), add(w, back, row)
        (a1, a2, a3), (b1, b2, b3), (c1, c2, c3) = numbers(a), numbers(b), numbers(c)
        (u1, u2, u3), (v1, v2, v3), (w1, w2, w3) = numbers(u), numbers(v), numbers(w)
        k = 9 * upper[edge]
        store(values, k, add(a, 1.0, three(u1, v1, w1)))
        store(values, k + 3, add(b, 1.0, three(u2, v2, w2)))
        store(values, k + 6, add(c, 1.0, three(u3, v3, w3)))
        k = 9 * lower[edge]
        store(values, k, add(u, 1.0, three(a1, b1, c1)))
        store(values, k + 3, add(v, 1.0, three(a2, b2, c2)))
        store(values, k + 6, add(w, 1.0, three(a3, b3, c3)))


@kernel(contract=True)
def gather_nodes(begin, end, wanted, row_start, diagonal, corner_start, corners, record, values, force):
    """Writes the forces on the nodes from `begin` to `end` [N], (n, 3), and, where wanted, the diagonal blocks."""
    last = corner_start[len(corner_start) - 1] - np.uint32(1)
    for node in range(begin, end):
        pull = nothing()
        for place in range(corner_start[node], corner_start[node + 1]):
            corner, w = corners[place] & np.uint32(3), RECORD * (corners[place] >> np.uint32(2))
            ahead = RECORD * (corners[min(place + np.uint32(AHEAD), last)] >> np.uint32(2))
            prefetch(record, ahead)
            prefetch(record, ahead + 8)
            if corner == 0:
                pull = add(pull, -1.0, load(record, w))
                pull = add(pull, -1.0, load(record, w + 3))
                pull = add(pull, -1.0, load(record, w + 6))
            else:
                pull = add(pull, 1.0, load(record, w + 3 * corner - 3))
        store(force, 3 * node, pull)
        if wanted:
            first, second, third, own = nothing(), nothing(), nothing(), 9 * diagonal[node]
            for row in range(own, own + 9, 3):
                store(values, row, nothing())
            for k in range(row_start[node], row_start[node + 1]):
                first = add(first, -1.0, load(values, 9 * k))
                second = add(second, -1.0, load(values, 9 * k + 3))
                third = add(third, -1.0, load(values, 9 * k + 6))
            (a, b, c), (d, e, f), (g, h, i) = numbers(first), numbers(second), numbers(third)
            # symmetric but for round-off, which is shared
            b, c, f = 0.5 * (b + d), 0.5 * (c + g), 0.5 * (f + h)
            store(values, own, three(a, b, c))
            store(values, own + 3, three(b, e, f))
            store(values, own + 6, three(c, f, i))
