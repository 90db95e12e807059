# SPDX-License-Identifier: GPL-3.0-or-later
"""The matrix of a mesh by its edges: what tets give to two nodes is summed per edge, and written for both of them.

Rows of the tangent have the sum zero, since a body that moves as a whole feels nothing. So the blocks on the diagonal
need no tets: they are minus the sum of their row. No two threads write to the same place, and every sum has its order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...linalg.block_pattern import BlockPattern, UInt32s
from ...mesh.local_tet_numbering import TET_EDGES
from ...runtime.arrays import Indices
from ...runtime.frozen_memo import derived
from ...runtime.jit import kernel
from ...runtime.simd.vec3 import prefetch, vec3, vec3_axpy, vec3_load, vec3_store, vec3_unpack, vec3_zero
from .tet_kernels import BLOCKS_OFFSET, RECORD_LENGTH

# Of many tets, what a part of them leaves, half a megabyte, is added up before it leaves the processor's cache: from
# memory that takes several times as long. Where neighbours come after each other, parts have most edges to themselves.
MIN_TETS_FOR_PARTS = 16384
TETS_PER_PART = 1024
PREFETCH_SHARES = 32  # shares of tets that memory is asked for ahead of their use: they lie here and there


@dataclass(frozen=True, eq=False)
class EdgePartition:
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
    upper: UInt32s
    lower: UInt32s
    start: UInt32s
    shares: UInt32s
    others: Indices


@derived
def edge_partition(pattern: BlockPattern) -> EdgePartition:
    """Returns the edges of a pattern, derived once from each."""
    blocks = pattern.corner_block.reshape(-1, 4, 4)
    there = np.stack([blocks[:, a, b] for a, b in TET_EDGES], axis=1).ravel()
    back = np.stack([blocks[:, b, a] for a, b in TET_EDGES], axis=1).ravel()
    upper = np.minimum(there, back)
    by_block = np.argsort(upper, kind="stable")
    share = (
        16 * np.repeat(np.arange(len(blocks), dtype=np.int64), 6)
        + 2 * np.tile(np.arange(6, dtype=np.int64), len(blocks))
        + (there > back)
    )
    first = np.flatnonzero(np.diff(upper[by_block], prepend=-1))
    parts = [(begin, min(begin + TETS_PER_PART, len(blocks))) for begin in range(0, len(blocks), TETS_PER_PART)]
    # shares of an edge come by rising tet
    part = by_block // (6 * TETS_PER_PART)
    lowest, highest = part[first], part[np.append(first[1:], len(part)) - 1]
    owner = np.where((lowest == highest) & (len(blocks) >= MIN_TETS_FOR_PARTS), lowest, len(parts))
    by_part = np.argsort(owner, kind="stable")
    count = np.diff(np.append(first, len(by_block)))[by_part]
    start = np.concatenate([[0], np.cumsum(count, dtype=np.int64)])
    # the shares of each edge, edge by edge in their new order
    moved = by_block[np.repeat(first[by_part] - start[:-1], count) + np.arange(len(by_block), dtype=np.int64)]
    unused = np.ones(pattern.block_count, bool)
    unused[there], unused[back], unused[pattern.diagonal] = False, False, False
    return EdgePartition(
        parts=parts,
        own=np.searchsorted(owner[by_part], np.arange(len(parts) + 1, dtype=np.int64)).tolist(),
        upper=upper[by_block][first][by_part].astype(np.uint32),
        lower=np.maximum(there, back)[by_block][first][by_part].astype(np.uint32),
        start=start.astype(np.uint32),
        shares=share[moved].astype(np.uint32),
        others=np.flatnonzero(unused).astype(np.int32),
    )


@kernel(inline=True, device_only=True)
def block_offset(share):
    """Returns where the block that a share says begins among the numbers of all records."""
    return RECORD_LENGTH * (share >> np.uint32(4)) + BLOCKS_OFFSET + 9 * ((share >> np.uint32(1)) & np.uint32(7))


@kernel(allow_fma=True)
def gather_edges(begin, end, upper, lower, start, shares, record, values):
    """Writes the blocks of the edges from `begin` to `end` [N/m], (b, 9)."""
    last = start[len(start) - 1] - np.uint32(1)
    for edge in range(begin, end):
        # what tets have the one way round, and what the other
        a, b, c, u, v, w = vec3_zero(), vec3_zero(), vec3_zero(), vec3_zero(), vec3_zero(), vec3_zero()
        for place in range(start[edge], start[edge + 1]):
            share = shares[place]
            ahead = block_offset(shares[min(place + np.uint32(PREFETCH_SHARES), last)])
            prefetch(record, ahead)
            prefetch(record, ahead + 8)
            there = 1.0 if share & np.uint32(1) == 0 else 0.0
            back = 1.0 - there
            block = block_offset(share)
            row = vec3_load(record, block)
            a, u = vec3_axpy(a, there, row), vec3_axpy(u, back, row)
            row = vec3_load(record, block + 3)
            b, v = vec3_axpy(b, there, row), vec3_axpy(v, back, row)
            row = vec3_load(record, block + 6)
            c, w = vec3_axpy(c, there, row), vec3_axpy(w, back, row)
        (a1, a2, a3), (b1, b2, b3), (c1, c2, c3) = vec3_unpack(a), vec3_unpack(b), vec3_unpack(c)
        (u1, u2, u3), (v1, v2, v3), (w1, w2, w3) = vec3_unpack(u), vec3_unpack(v), vec3_unpack(w)
        k = 9 * upper[edge]
        vec3_store(values, k, vec3_axpy(a, 1.0, vec3(u1, v1, w1)))
        vec3_store(values, k + 3, vec3_axpy(b, 1.0, vec3(u2, v2, w2)))
        vec3_store(values, k + 6, vec3_axpy(c, 1.0, vec3(u3, v3, w3)))
        k = 9 * lower[edge]
        vec3_store(values, k, vec3_axpy(u, 1.0, vec3(a1, b1, c1)))
        vec3_store(values, k + 3, vec3_axpy(v, 1.0, vec3(a2, b2, c2)))
        vec3_store(values, k + 6, vec3_axpy(w, 1.0, vec3(a3, b3, c3)))


@kernel(allow_fma=True)
def gather_nodes(begin, end, wanted, row_start, diagonal, corner_start, corners, record, values, force):
    """Writes the forces on the nodes from `begin` to `end` [N], (n, 3), and, where wanted, the diagonal blocks."""
    last = corner_start[len(corner_start) - 1] - np.uint32(1)
    for node in range(begin, end):
        pull = vec3_zero()
        for place in range(corner_start[node], corner_start[node + 1]):
            corner, w = corners[place] & np.uint32(3), RECORD_LENGTH * (corners[place] >> np.uint32(2))
            ahead = RECORD_LENGTH * (corners[min(place + np.uint32(PREFETCH_SHARES), last)] >> np.uint32(2))
            prefetch(record, ahead)
            prefetch(record, ahead + 8)
            if corner == 0:
                pull = vec3_axpy(pull, -1.0, vec3_load(record, w))
                pull = vec3_axpy(pull, -1.0, vec3_load(record, w + 3))
                pull = vec3_axpy(pull, -1.0, vec3_load(record, w + 6))
            else:
                pull = vec3_axpy(pull, 1.0, vec3_load(record, w + 3 * corner - 3))
        vec3_store(force, 3 * node, pull)
        if wanted:
            first, second, third, own = vec3_zero(), vec3_zero(), vec3_zero(), 9 * diagonal[node]
            for row in range(own, own + 9, 3):
                vec3_store(values, row, vec3_zero())
            for k in range(row_start[node], row_start[node + 1]):
                first = vec3_axpy(first, -1.0, vec3_load(values, 9 * k))
                second = vec3_axpy(second, -1.0, vec3_load(values, 9 * k + 3))
                third = vec3_axpy(third, -1.0, vec3_load(values, 9 * k + 6))
            (a, b, c), (d, e, f), (g, h, i) = vec3_unpack(first), vec3_unpack(second), vec3_unpack(third)
            # symmetric but for round-off, which is shared
            b, c, f = 0.5 * (b + d), 0.5 * (c + g), 0.5 * (f + h)
            vec3_store(values, own, vec3(a, b, c))
            vec3_store(values, own + 3, vec3(b, e, f))
            vec3_store(values, own + 6, vec3(c, f, i))
