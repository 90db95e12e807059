# SPDX-License-Identifier: GPL-3.0-or-later
"""Notches: sharp re-entrant edges of the surface, where stress gathers as it does at the tip of a crack."""

from __future__ import annotations

import numpy as np

from ...mesh.geometry.face_edges import face_edges
from ...mesh.geometry.nearest_points import nearest_points
from ...mesh.geometry.orient_outward import orient_outward
from ...mesh.geometry.triangle_surface import Surface
from ...mesh.geometry.welding import weld
from ...runtime.arrays import Bools, Floats, Indices

MIN_NOTCH_ANGLE = 60.0  # by how much the surface has to turn inward at an edge [degrees]
NOTCH_POINT_SPACING = 0.25  # of the points on notches, in tet sizes
# how far a node may be from a notch that is its own: the lattice has a point within this of any place
MAX_NOTCH_DISTANCE = 0.56


def notch_nodes(surface: Surface, nodes: Floats, tet_size: float) -> Bools:
    """Returns which nodes [m], (n, 3), are at a notch of a surface filled with tets of a size [m], (n,)."""
    ends = notch_edges(surface)
    if not len(ends):
        return np.zeros(len(nodes), bool)
    lengths = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
    parts = np.maximum(np.ceil(lengths / (NOTCH_POINT_SPACING * tet_size)), 1.0).astype(np.int64)
    edge = np.repeat(np.arange(len(ends), dtype=np.int64), parts + 1)
    number = np.arange(len(edge), dtype=np.int64) - np.repeat(
        np.cumsum(parts + 1, dtype=np.int64) - (parts + 1), parts + 1
    )
    points = ends[edge, 0] + (number / parts[edge])[:, None] * (ends[edge, 1] - ends[edge, 0])
    distance, _ = nearest_points(points, nodes, 1, within=MAX_NOTCH_DISTANCE * tet_size)
    return np.isfinite(distance[:, 0])


def notch_edges(surface: Surface) -> Floats:
    """Returns both ends of the edges at which a surface turns inward by `MIN_NOTCH_ANGLE` or more [m], (k, 2, 3)."""
    outward = orient_outward(surface).surface
    if not len(outward.triangles):
        return np.zeros((0, 2, 3))
    a, b = _edge_side_pairs(face_edges(weld(outward)).edge)
    corners = outward.corners
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    one, other = normals[a // 3], normals[b // 3]
    start, end = corners[a // 3, a % 3], corners[a // 3, (a + 1) % 3]
    tip = corners[b // 3, (b + 2) % 3]
    is_inward = np.einsum("ki,ki->k", one, tip - start) > 0.0
    turn = np.arctan2(np.linalg.norm(np.cross(one, other), axis=1), np.einsum("ki,ki->k", one, other))
    is_notch = is_inward & (turn >= np.radians(MIN_NOTCH_ANGLE) - 1e-6)
    return np.stack([start[is_notch], end[is_notch]], axis=1)


def _edge_side_pairs(edge: Indices) -> tuple[Indices, Indices]:
    """Returns the two sides at each edge that has just two, (k,) each, of the edge of every side, (3 t,)."""
    order = np.argsort(edge, kind="stable")
    ordered = edge[order]
    first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    double = first[np.diff(np.append(first, len(edge))) == 2]
    return order[double], order[double + 1]
