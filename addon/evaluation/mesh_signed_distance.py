# SPDX-License-Identifier: GPL-3.0-or-later
"""Signed distances of points from a closed mesh, by Blender's tree of triangles."""

from __future__ import annotations

import numpy as np
from mathutils import Vector
from mathutils.bvhtree import BVHTree

from ...solver.mesh.geometry.pseudonormals import TINY, SurfaceNormals
from ...solver.runtime.arrays import Floats, Indices

ON_SIDE_WEIGHT = 1.0e-4  # barycentric weight that counts as zero: the tree computes in single precision
WELD_SHARE = 1.0e-6  # of the size of a mesh: vertices that are nearer to each other are one
MIN_DIRECTION_DISTANCE = 1.0e-5  # over the size of the mesh: what is nearer gets its direction from the normal


class MeshDistance:
    """A closed mesh; called with points (k, 3) it returns their signed distances, (k,), negative inside, and the unit
    vectors in which these grow, (k, 3)."""

    def __init__(self, vertices: Floats, triangles: Indices) -> None:
        """Takes the surface, (n, 3) and (t, 3), t ≥ 1."""
        self.normals = SurfaceNormals(vertices, triangles)
        self.tree = BVHTree.FromPolygons(vertices.tolist(), triangles.tolist(), all_triangles=True)
        self.size = float(np.linalg.norm(np.ptp(vertices, axis=0)))

    def __call__(self, points: Floats) -> tuple[Floats, Floats]:
        """Returns distances and directions."""
        found = [self.tree.find_nearest(Vector(point)) for point in points.tolist()]
        places = np.array([each[0].to_tuple() for each in found], np.float64).reshape(-1, 3)
        triangle = np.array([each[2] for each in found], np.int32)
        outward = self.normals.pseudonormals(triangle, self._weights(triangle, places) <= ON_SIDE_WEIGHT)
        apart = points - places
        length = np.linalg.norm(apart, axis=1)
        sign = np.where(np.einsum("ki,ki->k", apart, outward) < 0.0, -1.0, 1.0)
        is_near = length <= MIN_DIRECTION_DISTANCE * self.size
        direction = np.where(is_near[:, None], outward, (sign / np.maximum(length, TINY))[:, None] * apart)
        return sign * length, direction

    def _weights(self, triangle: Indices, places: Floats) -> Floats:
        """Returns the barycentric weights of places in their triangles, (k, 3)."""
        a, b, c = np.moveaxis(self.normals.corners[triangle], 1, 0)
        normal = np.cross(b - a, c - a)
        square = np.maximum(np.einsum("ki,ki->k", normal, normal), TINY)
        second = np.einsum("ki,ki->k", np.cross(places - a, c - a), normal) / square
        third = np.einsum("ki,ki->k", np.cross(b - a, places - a), normal) / square
        return np.stack([1.0 - second - third, second, third], axis=1)


def welded(vertices: Floats, triangles: Indices) -> tuple[Floats, Indices]:
    """Returns a surface whose vertices at one place are one, without the triangles that have no area then."""
    if not len(triangles):
        return vertices, triangles
    lowest, size = vertices.min(axis=0), float(np.linalg.norm(np.ptp(vertices, axis=0)))
    rounded = np.round((vertices - lowest) / max(WELD_SHARE * size, TINY))
    _, first, number = np.unique(rounded, axis=0, return_index=True, return_inverse=True)
    faces = number.ravel()[triangles].astype(np.int32)
    return vertices[first], faces[(faces != np.roll(faces, 1, axis=1)).all(axis=1)]
