# SPDX-License-Identifier: GPL-3.0-or-later
"""Binds the vertices of a final mesh to nodes so that a closed crack is closed to the last bit.

Copies of one point lie in different tets, on a shared face, edge or node. With the weights of different tets, they
would differ by round-off, and the two sides of a closed crack would flicker. So all copies use the weights of the first
one, and only the nodes that the tets of all copies share. As long as the copies have the same nodes, their positions
are the same sum.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...mesh.embedding import Binding, interpolate
from ...runtime.arrays import Floats, Indices, floats, indices

SHARED_NODE_TOLERANCE = 1e-6  # weight of a node that not all copies share, above which they are different points
MIN_WEIGHT = 1e-10  # weight below which a node does not count


@dataclass(frozen=True)
class CrackBinding:
    """The binding of the vertices of a final mesh.

    Attributes:
        tet: The tet of every vertex, (k,).
        slot: Corners of that tet, in the order of the nodes of the first copy, (k, 4).
        weights: Their weights, the same for all copies of a point, (k, 4).
        first: The first copy of the same point, per vertex, (k,).
    """

    tet: Indices
    slot: Indices
    weights: Floats
    first: Indices

    def nodes(self, tets: Indices) -> Indices:
        """Returns the nodes of every vertex, (k, 4), for tets with the nodes `tets`, (m, 4)."""
        return tets[self.tet[:, None], self.slot]

    def positions(self, x: Floats, nodes: Indices) -> Floats:
        """Returns the positions [m], (k, 3), at node positions x [m]; `nodes` comes from `nodes`."""
        out = np.empty((len(nodes), 3))
        interpolate(x, nodes, Binding(np.arange(len(nodes), dtype=np.int32), self.weights), out)
        return out


def bind_crack_vertices(tets: Indices, rest: Floats, tet: Indices, weights: Floats) -> CrackBinding:
    """Returns the binding of vertices.

    Args:
        tets: Nodes of the intact body's tets, (m, 4).
        rest: Rest positions of the vertices [m], (k, 3): copies of a point have identical bits.
        tet, weights: The tet of every vertex and its weights there, (k,) and (k, 4).
    """
    first = _first_copies(rest)
    own, firsts = tets[tet], tets[tet[first]]
    is_same = firsts[:, :, None] == own[:, None, :]
    slot, has = is_same.argmax(axis=2), is_same.any(axis=2)
    lacking = np.stack([np.bincount(first, ~has[:, corner], len(rest)) for corner in range(4)], axis=1)
    shared = np.where(lacking[first] > 0.0, 0.0, weights[first])
    lost = np.abs(weights[first] - shared).sum(axis=1)
    alone = np.bincount(first, lost > SHARED_NODE_TOLERANCE, len(rest))[first] > 0.0
    shared[np.abs(shared) < MIN_WEIGHT] = 0.0
    total = shared.sum(axis=1, keepdims=True)
    shared = np.where(lost[:, None] > 0.0, shared / np.where(total > 0.0, total, 1.0), shared)
    shared[alone], slot[alone] = weights[alone], np.arange(4, dtype=np.int64)
    return CrackBinding(
        indices(tet), indices(slot, -1, 4), floats(shared, -1, 4), indices(np.where(alone, _rows_as_bytes(rest), first))
    )


def _first_copies(rest: Floats) -> Indices:
    """Returns, for every vertex, the lowest vertex with the same bits, (k,)."""
    order = np.lexsort(rest.T)
    is_new = np.ones(len(rest), bool)
    is_new[1:] = (rest[order[1:]] != rest[order[:-1]]).any(axis=1)
    first = np.empty(len(rest), np.int64)
    first[order] = order[is_new][np.cumsum(is_new, dtype=np.int64) - 1]  # the sort is stable: lowest first
    return indices(first)


def _rows_as_bytes(rest: Floats) -> Indices:
    return np.arange(len(rest), dtype=np.int32)
