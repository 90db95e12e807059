# SPDX-License-Identifier: GPL-3.0-or-later
"""Signed distances from a moving surface in NumPy, with the tree that `boxes_and_moments` refits."""

from __future__ import annotations

import numpy as np

from sinew.solver.mesh.geometry.closest_point import closest_points
from sinew.solver.mesh.geometry.multipole_moments import boxes_and_moments
from sinew.solver.mesh.geometry.pseudonormals import MIN_CORNER_WEIGHT, TINY, unit_vectors
from sinew.solver.mesh.geometry.signed_distance_derivatives import (
    MIN_DIRECTION_DISTANCE,
    SignedDistances,
    SurfaceSnapshot,
)
from sinew.solver.mesh.geometry.triangle_bvh import Bvh
from sinew.solver.runtime.arrays import Bools, Floats, Indices


def moved_tree(at: SurfaceSnapshot) -> Bvh:
    """Returns the tree at rest around the triangles as they are now."""
    rest = at.surface.rest_tree
    leaves = np.ascontiguousarray(at.corners[rest.order].reshape(-1, 9))
    boxes, moments = boxes_and_moments(rest.tree, leaves)
    return Bvh(boxes, rest.tree, leaves, rest.order, moments)


def signed_distances(at: SurfaceSnapshot, points: Floats) -> SignedDistances:
    """Returns what `SurfaceSnapshot.distances` does of points [m], (k, 3)."""
    found = closest_points(moved_tree(at), points)
    triangle, weights = found.triangle, found.weights
    is_zero = weights <= MIN_CORNER_WEIGHT
    zeros = is_zero.sum(axis=1)
    outward = at.pseudonormals(triangle, is_zero)
    corners = at.corners[triangle]
    apart = points - np.einsum("kc,kci->ki", weights, corners)
    along = np.einsum("ki,ki->k", apart, outward)
    length = np.sqrt(np.einsum("ki,ki->k", apart, apart))
    is_straight = (zeros == 0) | (length <= MIN_DIRECTION_DISTANCE * at.surface.size)
    sign = np.where(along < 0.0, -1.0, 1.0)
    distance = np.where(is_straight, along, sign * length)
    normal = np.where(is_straight[:, None], outward, (sign / np.maximum(length, TINY))[:, None] * apart)
    curved = _curved_directions(corners, normal, is_zero, np.where(is_straight, 0, zeros))
    return SignedDistances(distance, normal, triangle, weights, curved)


def _curved_directions(corners: Floats, normal: Floats, is_zero: Bools, zeros: Indices) -> Floats:
    curved = np.zeros((len(normal), 2, 3))
    on_edge, at_corner = np.flatnonzero(zeros == 1), np.flatnonzero(zeros == 2)
    off = np.argmax(is_zero[on_edge], axis=1)
    side = corners[on_edge, (off + 2) % 3] - corners[on_edge, (off + 1) % 3]
    curved[on_edge, 0] = unit_vectors(np.cross(side, normal[on_edge]))
    n = normal[at_corner]
    curved[at_corner, 0] = unit_vectors(np.cross(n, np.eye(3)[np.argmin(np.abs(n), axis=1)]))
    curved[at_corner, 1] = np.cross(n, curved[at_corner, 0])
    return curved
