# SPDX-License-Identifier: GPL-3.0-or-later
"""Signed distances of points from a surface that moves, with their derivatives.

Of the closest point q of a triangle with corners x_a and weights β_a, the distance φ of p along n, p − q = φ n, has

    dφ = n · (dp − Σ β_a dx_a)

whatever q does on the surface, since it moves across n. Where q is on an edge or at a corner, φ is curved besides:
∂²φ/∂p² = (I − n nᵀ − t tᵀ) / φ on an edge along t, and (I − n nᵀ) / φ at a corner.

Source of the sign: Bærentzen and Aanæs (2005), Signed distance computation using the angle weighted pseudonormal.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from ...runtime.arrays import Floats, Indices
from ...runtime.threads.thread_pool import run_in_chunks
from .closest_point import fill_closest_points
from .pseudonormals import SurfaceNormals, side_neighbours
from .signed_distance_kernels import SurfaceArrays, count_corner_places, write_signed_distances
from .triangle_bvh import build_bvh, fit_boxes

NO_NORMALS = np.zeros((0, 3))
MIN_DIRECTION_DISTANCE = 1.0e-9  # distance over the size of the surface from which place and point have a direction


@dataclass(frozen=True, eq=False)
class SignedDistances:
    """Distances of k points from a surface.

    Attributes:
        distance: φ [m], positive in front of the surface, (k,).
        normal: n, (k, 3).
        triangle, weights: The triangle of the closest point, and β there, (k,) and (k, 3).
        curved: Unit vectors along which φ is curved, ∂²φ/∂p² = Σ b bᵀ / φ, zero where there are fewer, (k, 2, 3).
    """

    distance: Floats
    normal: Floats
    triangle: Indices
    weights: Floats
    curved: Floats


class MovingSurface:
    """Triangles whose vertices move.

    Attributes:
        triangles: (t, 3).
    """

    def __init__(self, vertices: Floats, triangles: Indices) -> None:
        """Takes the vertices at rest [m], (n, 3), where a tree of the triangles is made, which then follows them."""
        self.triangles = triangles
        self.rest_tree = build_bvh(vertices, triangles)
        self.size = float(np.linalg.norm(np.ptp(vertices, axis=0)))

    @functools.cached_property
    def neighbours(self) -> Indices:
        """The triangle across the side opposite each corner, or the triangle itself at a border, (t, 3)."""
        return side_neighbours(self.triangles)

    def at(self, vertices: Floats) -> SurfaceSnapshot:
        """Returns the surface with its vertices at [m], (n, 3)."""
        return SurfaceSnapshot(self, vertices)


class SurfaceSnapshot(SurfaceNormals):
    """A surface at one moment.

    Attributes:
        surface: Its triangles.
    """

    def __init__(self, surface: MovingSurface, vertices: Floats) -> None:
        super().__init__(vertices, surface.triangles)
        self.surface = surface

    @functools.cached_property
    def neighbours(self) -> Indices:
        """The triangle across the side opposite each corner, (t, 3)."""
        return self.surface.neighbours

    @functools.cached_property
    def boxes(self) -> Floats:
        """The boxes of the nodes of the tree at rest, around the triangles now, (k, 6)."""
        tree = self.surface.rest_tree.tree
        boxes = np.empty((len(tree), 6))
        fit_boxes(tree, self.leaves, boxes)
        return boxes

    @functools.cached_property
    def leaves(self) -> Floats:
        """The triangles in the order that they have in the tree at rest, (t, 9)."""
        return np.ascontiguousarray(self.corners[self.surface.rest_tree.order].reshape(-1, 9))

    def distances(self, points: Floats) -> SignedDistances:
        """Returns the distances of points [m], (k, 3)."""
        rest, count = self.surface.rest_tree, len(points)
        triangle, weights = np.empty(count, np.int32), np.empty((count, 3))
        distance, normal, curved = np.empty(count), np.empty((count, 3)), np.empty((count, 2, 3))

        def find(part: slice) -> None:
            fill_closest_points(
                self.boxes, rest.tree, self.leaves, points[part], np.inf, distance[part], triangle[part], weights[part]
            )

        run_in_chunks(count, find)
        triangle = rest.order[triangle]
        at_vertices = self.vertex_normals if count_corner_places(weights) else NO_NORMALS
        arrays = SurfaceArrays(self.corners, self.triangles, self.neighbours, self.face_normals, at_vertices)
        least = MIN_DIRECTION_DISTANCE * self.surface.size

        def write(part: slice) -> None:
            write_signed_distances(
                points[part], triangle[part], weights[part], arrays, least, distance[part], normal[part], curved[part]
            )

        run_in_chunks(count, write)
        return SignedDistances(distance, normal, triangle, weights, curved)
