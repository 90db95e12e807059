# SPDX-License-Identifier: GPL-3.0-or-later
"""Angle-weighted normals of faces, edges and corners, which tell on which side of a surface a point is.

The normal at the closest point of a surface decides the side, wherever that point is: of a face, the mean of the two
faces of an edge, or the mean at a corner, weighted by the angles of the faces there.

Source: Bærentzen and Aanæs (2005), Signed distance computation using the angle weighted pseudonormal.
"""

from __future__ import annotations

import functools

import numpy as np

from ...runtime.arrays import Bools, Floats, Indices
from .face_edges import face_edges

MIN_CORNER_WEIGHT = 1.0e-9  # barycentric weight up to which a place is on the opposite side of its triangle
TINY = 1.0e-300


class SurfaceNormals:
    """The normals of a triangle surface.

    Attributes:
        vertices: [m], (n, 3).
        triangles: (t, 3).
        corners: Of all triangles [m], (t, 3, 3).
    """

    def __init__(self, vertices: Floats, triangles: Indices) -> None:
        self.vertices, self.triangles, self.corners = vertices, triangles, vertices[triangles]

    @functools.cached_property
    def face_normals(self) -> Floats:
        """Unit normals of the triangles, (t, 3)."""
        corners = self.corners
        return unit_vectors(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]))

    @functools.cached_property
    def vertex_normals(self) -> Floats:
        """Normals of the vertices, weighted by the angles of their triangles there, (n, 3)."""
        corners, triangles = self.corners, self.triangles
        sides = [unit_vectors(corners[:, (a + 1) % 3] - corners[:, a]) for a in range(3)]
        cosines = np.stack([-np.einsum("ti,ti->t", sides[a], sides[a - 1]) for a in range(3)], axis=1)
        angle, count = np.arccos(np.clip(cosines, -1.0, 1.0)), len(self.vertices)
        along = [
            np.bincount(triangles.ravel(), (angle * self.face_normals[:, i, None]).ravel(), count) for i in range(3)
        ]
        return unit_vectors(np.stack(along, axis=1))

    @functools.cached_property
    def neighbours(self) -> Indices:
        """The triangle across the side opposite each corner, (t, 3)."""
        return side_neighbours(self.triangles)

    def pseudonormals(self, triangle: Indices, is_zero: Bools) -> Floats:
        """Returns the normals of the faces, edges and corners that places are on, (k, 3).

        Args:
            triangle: That of each place, (k,).
            is_zero: Which of its barycentric weights are zero, (k, 3).
        """
        face, triangles, zeros = self.face_normals, self.triangles, is_zero.sum(axis=1)
        normal = face[triangle]
        on_edge, at_corner = np.flatnonzero(zeros == 1), np.flatnonzero(zeros == 2)
        if len(on_edge):
            across = self.neighbours[triangle[on_edge], np.argmax(is_zero[on_edge], axis=1)]
            normal[on_edge] = unit_vectors(face[triangle[on_edge]] + face[across])
        if len(at_corner):
            vertex = triangles[triangle[at_corner], np.argmin(is_zero[at_corner], axis=1)]
            normal[at_corner] = self.vertex_normals[vertex]
        return normal


def side_neighbours(triangles: Indices) -> Indices:
    """Returns the triangle across the side opposite each corner, or the triangle itself at a border, (t, 3)."""
    edges, count = face_edges(triangles), 3 * len(triangles)
    order = np.argsort(edges.edge, kind="stable")
    other, same = np.arange(count, dtype=np.int64), np.diff(edges.edge[order]) == 0
    first, second = order[:-1][same], order[1:][same]
    other[first], other[second] = second, first
    return np.roll((other // 3).reshape(-1, 3), -1, axis=1).astype(np.int32)  # side s is opposite corner s + 2


def unit_vectors(vectors: Floats) -> Floats:
    """Returns vectors of length one, (k, 3), or zero."""
    return vectors / np.maximum(np.sqrt(np.sum(vectors**2, axis=1, keepdims=True)), TINY)
