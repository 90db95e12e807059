# SPDX-License-Identifier: GPL-3.0-or-later
"""Which triangles of a sheet lie across the edges of each, and what of it never parts.

A triangle is a tet whose last two corners are one node (`mesh/sheet_mesh.py`); face f < 3 of it is its edge opposite to
corner f. So what is known of faces of tets (`mesh/node_splitting/face_adjacency.py`) holds of edges of triangles. Where
sheets hang together by a single node, or three triangles share an edge, they do so for good.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...mesh.geometry.connected_components import connected_components
from ...mesh.node_splitting.face_adjacency import FaceAdjacency
from ...mesh.sheet_mesh import sheet_tets
from ...runtime.arrays import Bools, Indices, indices

CORNERS = np.arange(3, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class SheetAdjacency:
    """The inner edges of a whole sheet of t triangles, its first tets, and h hinges, the others.

    Attributes:
        edges: Triangles across edges, as rows of `FaceAdjacency`, tets numbered in the body, (t, 4) and (t, 4, 4).
        links: Pairs of corners 4 · triangle + c that always have one node, (l, 2).
        hinge_corners: Corners of triangles that are at the nodes of each hinge, and the corners of its second triangle
            at its nodes 0 and 1, (h, 6).
    """

    edges: FaceAdjacency
    links: Indices
    hinge_corners: Indices

    @property
    def triangle_count(self) -> int:
        """Number of triangles t."""
        return len(self.edges.tet)

    def with_hinges(self, triangles: Indices) -> Indices:
        """Returns the nodes of all tets, (t + h, 4), for those of the triangles, (t, 4)."""
        nodes = triangles.ravel()[self.hinge_corners]
        is_torn = (nodes[:, :2] != nodes[:, 4:]).any(axis=1)
        hinges = nodes[:, :4].copy()
        hinges[is_torn, 3] = hinges[is_torn, 2]
        return indices(np.concatenate([triangles, hinges]), -1, 4)

    def bonded_edges(self, face_of_triangle: Indices) -> Bools:
        """Returns the edges inside of polygons, (t, 4), for the polygon of each triangle, (t,) or (0,): none."""
        if not len(face_of_triangle):
            return np.zeros(self.edges.tet.shape, bool)
        across = self.edges.tet
        return (across >= 0) & (face_of_triangle[across] == face_of_triangle[:, None])


def sheet_adjacency(triangles: Indices) -> SheetAdjacency:
    """Returns what hangs together in a sheet with these triangles, (t, 3)."""
    count = len(triangles)
    across, twin = _edge_rows(triangles)
    tets, _, sides = sheet_tets(triangles, True)
    hinge_corners = _hinge_corners(triangles, tets[count:], sides[count:])
    return SheetAdjacency(FaceAdjacency(across, twin), _links(triangles, across, twin), hinge_corners)


def _edge_rows(triangles: Indices) -> tuple[Indices, Indices]:
    """Returns the triangle across each edge, (t, 4), and the corners there at the same nodes, (t, 4, 4)."""
    count = len(triangles)
    across, twin = np.full((count, 4), -1, np.int32), np.full((count, 4, 4), -1, np.int32)
    ends = np.sort(np.stack([np.roll(triangles, -1, axis=1), np.roll(triangles, -2, axis=1)], axis=2), axis=2)
    ends = ends.reshape(-1, 2).astype(np.int64)
    key = ends[:, 0] * (int(triangles.max(initial=0)) + 1) + ends[:, 1]
    _, number, times = np.unique(key, return_inverse=True, return_counts=True)
    sides = np.argsort(number.ravel(), kind="stable")
    pairs = sides[times[number.ravel()[sides]] == 2].reshape(-1, 2)
    for one, other in (pairs.T, pairs[:, ::-1].T):
        first, edge, second = one // 3, one % 3, other // 3
        across[first, edge] = second
        for step in (1, 2):
            corner = (edge + step) % 3
            match = (triangles[second] == triangles[first, corner][:, None]).argmax(axis=1)
            twin[first, edge, corner] = 4 * second + match
    return across, twin


def _links(triangles: Indices, across: Indices, twin: Indices) -> Indices:
    """Returns the corners that share a node for good; see `SheetAdjacency`."""
    count = len(triangles)
    last = 4 * np.arange(count, dtype=np.int64) + 2
    doubled = np.stack([last, last + 1], axis=1)
    triangle, edge, corner = np.nonzero(twin >= 0)
    joined = connected_components(4 * triangle + corner, twin[triangle, edge, corner], 4 * count)
    own = (4 * np.arange(count, dtype=np.int64)[:, None] + CORNERS).ravel()
    fans, first = np.unique(np.stack([triangles.ravel(), joined[own]]), axis=1, return_index=True)
    starts = np.append(True, fans[0, 1:] != fans[0, :-1])
    lead = first[np.maximum.accumulate(np.where(starts, np.arange(len(first), dtype=np.int64), 0))]
    return indices(np.concatenate([doubled, np.stack([own[lead[~starts]], own[first[~starts]]], axis=1)]), -1, 2)


def _hinge_corners(triangles: Indices, hinges: Indices, sides: np.ndarray) -> Indices:
    def corner(side: int, place: int) -> np.ndarray:
        of = sides[:, side]
        found: np.ndarray = 4 * of + (triangles[of] == hinges[:, place, None]).argmax(axis=1)
        return found

    return indices(np.stack([corner(*at) for at in ((0, 0), (0, 1), (0, 2), (1, 3), (1, 0), (1, 1))], axis=1), -1, 6)
