# SPDX-License-Identifier: GPL-3.0-or-later
"""Lattices around the nodes of tets, each twice as wide as the one before, and the weights that tie them.

Every connected part of a mesh has lattices of its own, laid out from its lowest corner: no coarse node couples what no
tet joins, and a coarse mesh beside a fine one gets a coarse lattice. Each cubic cell is cut into the six tets of Kuhn,
so that a node hangs on four lattice nodes, and a lattice node that lies on an edge of the next lattice on two. Linear
motions, and with them all rigid ones, are passed on exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from ...arrays import Floats
from ..pattern import BlockPattern, Unsigned

# Spacing of the finest lattice, in mean lengths of edges of its part
SPACING = 2.0
# Parts of up to so many lattice nodes are solved by Cholesky's factors
MOST_DENSE = 60
# Smaller weights count as none: their squares would leave float32
LEAST_WEIGHT = 1.0e-5
# A lattice of more nodes than this share of those before is passed over for one twice as wide
MOST_KEPT = 0.6
MOST_CELLS = 2**14  # per axis, so that keys fit in 64 bits

Whole = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Embedding:
    """How the nodes of one level hang on those of the next: prolongation P, row by row, n rows.

    Attributes:
        start: Where each row begins, (n + 1,).
        node: Coarse nodes, (w,).
        weight: Their weights, positive, of sum 1 in every row, (w,).
        part: Connected part of every coarse node, rising, (c,).
    """

    start: Unsigned
    node: Unsigned
    weight: Floats
    part: Whole


def embeddings(X: Floats, pattern: BlockPattern) -> list[Embedding]:
    """Returns the embeddings of all levels for nodes at rest at X [m], (n, 3); the last lattice is for `MOST_DENSE`."""
    rows = np.repeat(np.arange(pattern.node_count), np.diff(pattern.row_start.astype(np.int64)))
    columns = pattern.column.astype(np.int64)
    graph = csr_matrix(
        (np.ones(len(columns), np.int8), columns, pattern.row_start.astype(np.int64)), shape=(pattern.node_count,) * 2
    )
    count, part = connected_components(graph, directed=False)
    part = part.astype(np.int64)
    low = np.full((count, 3), np.inf)
    np.minimum.at(low, part, X)
    is_edge = rows != columns
    length = np.linalg.norm(X[rows[is_edge]] - X[columns[is_edge]], axis=1)
    edges = np.bincount(part[rows[is_edge]], minlength=count)
    spacing = SPACING * np.bincount(part[rows[is_edge]], length, minlength=count) / np.maximum(edges, 1)
    size = np.zeros((count, 3))
    np.maximum.at(size, part, X - low[part])
    # nodes without tets, and tets much smaller than their part: nothing is to be coarsened finely there
    spacing = np.maximum(spacing, size.max(axis=1) / MOST_CELLS)
    spacing[spacing == 0.0] = 1.0

    place = (X - low[part]) / spacing[part][:, None]
    levels: list[Embedding] = []
    while True:
        level, cell, above = _hang(place, part)
        is_last = np.bincount(above, minlength=1).max(initial=0) <= MOST_DENSE
        if not is_last and len(above) > MOST_KEPT * len(part):
            place = 0.5 * place
            continue
        levels.append(level)
        if is_last:
            return levels
        place, part = 0.5 * cell, above


def _hang(place: Floats, part: Whole) -> tuple[Embedding, Whole, Whole]:
    """Returns the embedding of nodes at `place`, in units of the lattice, and cell and part of the lattice nodes."""
    cell = np.floor(place).astype(np.int64)
    share = place - cell
    order = np.argsort(-share, axis=1, kind="stable")
    falling = np.take_along_axis(share, order, axis=1)
    weight = -np.diff(falling, axis=1, prepend=1.0, append=0.0)
    steps = np.cumsum(np.eye(3, dtype=np.int64)[order], axis=1)
    corners = cell[:, None] + np.concatenate([np.zeros((len(cell), 1, 3), np.int64), steps], axis=1)

    weight[weight < LEAST_WEIGHT] = 0.0
    weight /= weight.sum(axis=1, keepdims=True)
    is_used = weight > 0.0
    owner = np.broadcast_to(part[:, None], weight.shape)[is_used]
    used = corners[is_used]
    extent = used.max(axis=0, initial=0) + 1
    # unique lattice nodes, part by part
    key = ((owner * extent[0] + used[:, 0]) * extent[1] + used[:, 1]) * extent[2] + used[:, 2]
    keys, first, node = np.unique(key, return_index=True, return_inverse=True)
    starts = np.concatenate([[0], np.cumsum(is_used.sum(axis=1))])
    embedding = Embedding(starts.astype(np.uint32), node.astype(np.uint32), weight[is_used], owner[first])
    return embedding, used[first], owner[first]
