# SPDX-License-Identifier: GPL-3.0-or-later
"""The edges of lattice tets that the surface cuts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...runtime.arrays import Bools, Floats, Indices
from ..local_tet_numbering import TET_EDGES


@dataclass(frozen=True)
class CutEdges:
    """Edges with one end inside and one outside.

    Attributes:
        inside: The inside ends, (k,).
        outside: The outside ends, (k,).
        edges_of_tet: The cut edges of each tet in the order of `TET_EDGES`, -1 for the others, (m, 6).
    """

    inside: Indices
    outside: Indices
    edges_of_tet: Indices


def cut_edges(tets: Indices, is_inside: Bools) -> CutEdges:
    """Returns the cut edges of `tets`, (m, 4), whose nodes are inside or not, (n,)."""
    of_tet = np.full((len(tets), 6), -1, np.int32)
    rows, slots, keys = [], [], []
    for slot, (i, j) in enumerate(TET_EDGES):
        row = np.flatnonzero(is_inside[tets[:, i]] != is_inside[tets[:, j]])
        a, b = tets[row, i].astype(np.int64), tets[row, j].astype(np.int64)
        swap = is_inside[b]
        keys.append(np.where(swap, b, a) * len(is_inside) + np.where(swap, a, b))
        rows.append(row)
        slots.append(np.full(len(row), slot, np.int64))
    unique, inverse = np.unique(np.concatenate(keys), return_inverse=True)
    of_tet[np.concatenate(rows), np.concatenate(slots)] = inverse.ravel()
    inside, outside = np.divmod(unique, len(is_inside))
    return CutEdges(inside.astype(np.int32), outside.astype(np.int32), of_tet)


def edges_by_node(edges: CutEdges, node_count: int) -> tuple[Indices, Indices]:
    """Returns the cut edges at each node as rows: starts, (n + 1,), and edges in ascending order, (2 k,)."""
    ends = np.concatenate([edges.inside, edges.outside])
    order = np.argsort(ends, kind="stable")
    starts = np.zeros(node_count + 1, np.int32)
    np.cumsum(np.bincount(ends, minlength=node_count), out=starts[1:])
    return starts, (order % max(len(edges.inside), 1)).astype(np.int32)


def edge_lengths(positions: Floats, edges: CutEdges) -> Floats:
    """Returns the lengths of the cut edges [m], (k,)."""
    return np.linalg.norm(positions[edges.outside] - positions[edges.inside], axis=1)
