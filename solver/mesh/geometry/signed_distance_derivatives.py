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

from ...runtime.arrays import Bools, Floats, Indices
from .closest_point import closest_points
from .multipole_moments import boxes_and_moments
from .pseudonormals import MIN_CORNER_WEIGHT, TINY, SurfaceNormals, side_neighbours, unit_vectors
from .triangle_bvh import Bvh, build_bvh

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
    def tree(self) -> Bvh:
        """The triangles in the order that they have in the tree at rest."""
        rest = self.surface.rest_tree
        leaves = np.ascontiguousarray(self.corners[rest.order].reshape(-1, 9))
        boxes, moments = boxes_and_moments(rest.tree, leaves)
        return Bvh(boxes, rest.tree, leaves, rest.order, moments)

    def distances(self, points: Floats) -> SignedDistances:
        """Returns the distances of points [m], (k, 3)."""
        found = closest_points(self.tree, points)
        triangle, weights = found.triangle, found.weights
        is_zero = weights <= MIN_CORNER_WEIGHT
        zeros = is_zero.sum(axis=1)
        outward = self.pseudonormals(triangle, is_zero)
        corners = self.corners[triangle]
        apart = points - np.einsum("kc,kci->ki", weights, corners)
        along = np.einsum("ki,ki->k", apart, outward)
        length = np.sqrt(np.einsum("ki,ki->k", apart, apart))
        is_straight = (zeros == 0) | (length <= MIN_DIRECTION_DISTANCE * self.surface.size)
        sign = np.where(along < 0.0, -1.0, 1.0)
        distance = np.where(is_straight, along, sign * length)
        normal = np.where(is_straight[:, None], outward, (sign / np.maximum(length, TINY))[:, None] * apart)
        curved = _curved_directions(corners, normal, is_zero, np.where(is_straight, 0, zeros))
        return SignedDistances(distance, normal, triangle, weights, curved)


def _curved_directions(corners: Floats, normal: Floats, is_zero: Bools, zeros: Indices) -> Floats:
    """Returns the directions across n in which places do not follow their points, (k, 2, 3)."""
    curved = np.zeros((len(normal), 2, 3))
    if not zeros.any():
        return curved
    on_edge, at_corner = np.flatnonzero(zeros == 1), np.flatnonzero(zeros == 2)
    off = np.argmax(is_zero[on_edge], axis=1)
    side = corners[on_edge, (off + 2) % 3] - corners[on_edge, (off + 1) % 3]
    curved[on_edge, 0] = unit_vectors(np.cross(side, normal[on_edge]))
    n = normal[at_corner]
    curved[at_corner, 0] = unit_vectors(np.cross(n, np.eye(3)[np.argmin(np.abs(n), axis=1)]))
    curved[at_corner, 1] = np.cross(n, curved[at_corner, 0])
    return curved
