# SPDX-License-Identifier: GPL-3.0-or-later
"""Lattices around the nodes of tets, each twice as wide as the one before, and the weights that tie them.

Every connected part of a mesh has lattices of its own, laid out from its lowest corner: no coarse node couples what no
tet joins, and a coarse mesh beside a fine one gets a coarse lattice. Each cubic cell is cut into the six tets of Kuhn,
so that a node hangs on four lattice nodes, and a lattice node that lies on an edge of the next lattice on two. Linear
motions, and with them all rigid ones, are passed on exactly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Floats
from ...runtime.jit import kernel
from ..block_pattern import BlockPattern, UInt32s

# Spacing of the finest lattice, in mean lengths of edges of its part
FINEST_SPACING = 2.0
# Parts of up to so many lattice nodes are solved by Cholesky's factors; parts that couplings join, all together
MAX_DENSE_NODES, MAX_DENSE_NODES_OF_JOINED_PARTS = 60, 120
NODES_OF_A_CELL = 8  # no lattice has fewer: a part with no more is as coarse as it gets
# Of more parts than this even single cells make a matrix that takes longer to factor than lattices of their own save
MAX_JOINED_PARTS = 40
# Smaller weights count as none: they would change nothing in a cycle
MIN_WEIGHT = 1.0e-5
# A lattice of more nodes than this share of those of its part before is passed over for one twice as wide, unless it is
# its part's last. Small pieces beside a large body, which no lattice makes fewer, have no say in its own
MAX_COARSENING_RATIO = 0.6
MAX_CELLS_PER_AXIS = 2**14  # per axis, so that keys fit in 64 bits

Int64s = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Prolongation:
    """How the nodes of one level are interpolated from those of the next: prolongation P, row by row, n rows.

    Attributes:
        start: Where each row begins, (n + 1,).
        node: Coarse nodes, (w,).
        weight: Their weights, positive, of sum 1 in every row, (w,).
        part: Connected part of every coarse node, rising, (c,).
    """

    start: UInt32s
    node: UInt32s
    weight: Floats
    part: Int64s


def lattice_prolongations(X: Floats, pattern: BlockPattern, parts_are_joined: bool = False) -> list[Prolongation]:
    """Returns the embeddings of all levels for nodes at rest at X [m], (n, 3).

    The last lattices are small enough for one dense matrix for each part or, where couplings join the parts, for all.
    """
    part, low, high, length = connected_parts(X, pattern)
    most = MAX_DENSE_NODES
    if parts_are_joined:
        most = max(MAX_DENSE_NODES_OF_JOINED_PARTS // len(low), NODES_OF_A_CELL)
    size, spacing = high - low, FINEST_SPACING * length
    # nodes without tets, and tets much smaller than their part: nothing is to be coarsened finely there
    spacing = np.maximum(spacing, size.max(axis=1) / MAX_CELLS_PER_AXIS)
    spacing[spacing == 0.0] = 1.0

    place = (X - low[part]) / spacing[part][:, None]
    levels: list[Prolongation] = []
    while True:
        level, cell, above = _prolongation(place, part)
        now = np.bincount(above, minlength=len(low))
        is_large = now > most
        is_kept = is_large & (now > MAX_COARSENING_RATIO * np.bincount(part, minlength=len(low)))
        if is_kept.any():
            place[is_kept[part]] *= 0.5
            continue
        levels.append(level)
        if not is_large.any():
            return levels
        place, part = 0.5 * cell, above


def connected_parts(X: Floats, pattern: BlockPattern) -> tuple[Int64s, Floats, Floats, Floats]:
    """Returns the connected parts of a mesh, by their lowest node: part of every node, (n,), and of each the rest.

    These are the lowest and highest corner of its box [m], (k, 3), and the mean length of its edges [m], 0 where there
    are none, (k,).
    """
    n = pattern.node_count
    part, waiting, total, edges = np.full(n, -1, np.int64), np.empty(n, np.int64), np.zeros(n), np.zeros(n)
    low, high = np.full((n, 3), np.inf), np.full((n, 3), -np.inf)
    k = find_connected_parts(X, pattern.row_start, pattern.column, part, waiting, low, high, total, edges)
    return part, low[:k], high[:k], total[:k] / np.maximum(edges[:k], 1.0)


@kernel()
def find_connected_parts(X, row_start, column, part, waiting, low, high, total, edges):
    """Writes what `connected_parts` returns, with sum and number of lengths for their mean; returns how many there are.

    `waiting` is work space, (n,). At first `part` is −1, `low` and `high` are no box, and sums are zero: to write that
    here, whole arrays at once, takes two seconds to compile.
    """
    count = 0
    for first in range(len(part)):
        if part[first] >= 0:
            continue
        part[first], waiting[0] = count, first
        begin, end = 0, 1
        while begin < end:
            i = waiting[begin]
            begin += 1
            for axis in range(3):
                low[count, axis] = min(low[count, axis], X[i, axis])
                high[count, axis] = max(high[count, axis], X[i, axis])
            for k in range(row_start[i], row_start[i + 1]):
                j = column[k]
                if part[j] < 0:
                    part[j] = count
                    waiting[end] = j
                    end += 1
                if j > i:
                    x, y, z = X[j, 0] - X[i, 0], X[j, 1] - X[i, 1], X[j, 2] - X[i, 2]
                    total[count] += math.sqrt(x * x + y * y + z * z)
                    edges[count] += 1.0
        count += 1
    return count


def _prolongation(place: Floats, part: Int64s) -> tuple[Prolongation, Int64s, Int64s]:
    """Returns the embedding of nodes at `place`, in units of the lattice, and cell and part of the lattice nodes."""
    cell = np.floor(place).astype(np.int64)
    share = place - cell
    order = np.argsort(-share, axis=1, kind="stable")
    falling = np.take_along_axis(share, order, axis=1)
    weight = -np.diff(falling, axis=1, prepend=1.0, append=0.0)
    steps = np.cumsum(np.eye(3, dtype=np.int64)[order], axis=1, dtype=np.int64)
    corners = cell[:, None] + np.concatenate([np.zeros((len(cell), 1, 3), np.int64), steps], axis=1)

    weight[weight < MIN_WEIGHT] = 0.0
    weight /= weight.sum(axis=1, keepdims=True)
    is_used = weight > 0.0
    owner = np.broadcast_to(part[:, None], weight.shape)[is_used]
    used = corners[is_used]
    extent = used.max(axis=0, initial=0) + 1
    # unique lattice nodes, part by part
    key = ((owner * extent[0] + used[:, 0]) * extent[1] + used[:, 1]) * extent[2] + used[:, 2]
    keys, first, node = np.unique(key, return_index=True, return_inverse=True)
    starts = np.concatenate([[0], np.cumsum(is_used.sum(axis=1), dtype=np.int64)])
    embedding = Prolongation(starts.astype(np.uint32), node.astype(np.uint32), weight[is_used], owner[first])
    return embedding, used[first], owner[first]
