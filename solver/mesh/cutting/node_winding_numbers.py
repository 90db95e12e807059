# SPDX-License-Identifier: GPL-3.0-or-later
"""How many times the surface winds around each node: counted along edges, so it fits the crossings."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Floats, Indices
from .general_position import PerturbedPoints
from .surface_tet_intersections import Intersections
from .tet_complex import TetComplex


def node_windings(points: PerturbedPoints, whole: TetComplex, triangles: Indices, crossings: Intersections) -> Indices:
    """Returns the winding number of the surface at each node, (n,); 0 at nodes without tets."""
    step = np.zeros(len(whole.edge_nodes), np.int64)
    np.add.at(step, crossings.tet_edge, crossings.tet_edge_sign)
    a, b = whole.edge_nodes.T
    count = points.node_count
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import breadth_first_order, connected_components

    # edges are numbered from 1, since 0 is no entry of a sparse matrix
    names = csr_matrix((np.arange(1, len(a) + 1, dtype=np.int64), (a, b)), shape=(count, count))
    linked, piece = connected_components(names, directed=False)
    winding = np.zeros(count, np.int64)
    has_tet = np.zeros(count, np.bool_)
    has_tet[whole.tets] = True
    # the farthest node along x is the surest to be outside
    by_x = np.argsort(points.positions[:count, 0], kind="stable")
    root = np.full(linked, -1, np.int64)
    root[piece[by_x]] = by_x
    number = dict(zip(zip(a.tolist(), b.tolist(), strict=True), step.tolist(), strict=True))
    for start in root[has_tet[root]]:
        winding[start] = round(_winding_number(points, triangles, points.positions[start]))
        order, before = breadth_first_order(names, start, directed=False)
        for node, parent in zip(order[1:].tolist(), before[order[1:]].tolist(), strict=True):
            if parent < node:
                winding[node] = winding[parent] + number[parent, node]
            else:
                winding[node] = winding[parent] - number[node, parent]
    return winding.astype(np.int32)


def _winding_number(points: PerturbedPoints, triangles: Indices, place: Floats) -> float:
    """Returns the winding number of the surface at one place.

    Source: van Oosterom and Strackee (1983), The Solid Angle of a Plane Triangle, equation (8).
    """
    a, b, c = np.moveaxis(points.positions[points.node_count + triangles] - place, 1, 0)
    la, lb, lc = (np.linalg.norm(each, axis=1) for each in (a, b, c))
    dot = lambda u, v: np.einsum("ti,ti->t", u, v)  # noqa: E731
    below = la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb
    return float(np.arctan2(dot(a, np.cross(b, c)), below).sum() / (2.0 * np.pi))
