# SPDX-License-Identifier: GPL-3.0-or-later
"""Distance, normal and curved directions of points whose closest triangle is known; for one point after the other.

In NumPy these are thirty passes over a few hundred points each, and every solve of muscles that slide along each other
asks for them some twenty times an iteration.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...runtime.arrays import Floats, Indices
from ...runtime.jit import kernel
from .pseudonormals import MIN_CORNER_WEIGHT, TINY


class SurfaceArrays(NamedTuple):
    """What kernels read of a surface.

    Attributes:
        corners: Of all triangles [m], (t, 3, 3).
        triangles: (t, 3).
        neighbours: The triangle across the side opposite each corner, (t, 3).
        face_normals: Unit normals of the triangles, (t, 3).
        vertex_normals: Unit normals of the vertices, (n, 3), read only for places at corners.
    """

    corners: Floats
    triangles: Indices
    neighbours: Indices
    face_normals: Floats
    vertex_normals: Floats


@kernel()
def count_corner_places(weights):
    """Returns how many places, by their barycentric weights, (k, 3), are at corners of their triangles."""
    count = 0
    for k in range(len(weights)):
        count += 1 if zero_weights(weights[k])[0] == 2 else 0
    return count


@kernel()
def write_signed_distances(points, triangle, weights, surface, least, distance, normal, curved):
    """Writes what `SignedDistances` has of points.

    Args:
        points: [m], (k, 3).
        triangle, weights: Of their closest places, (k,) and (k, 3).
        surface: `SurfaceArrays`.
        least: Distance from which a place and its point have a direction [m].
        distance, normal, curved: (k,), (k, 3) and (k, 2, 3), out.
    """
    apart, outward = np.empty(3), np.empty(3)
    for k in range(len(points)):
        t = triangle[k]
        corners, face = surface.corners[t], surface.face_normals
        zeros, first_zero, first_other = zero_weights(weights[k])
        for i in range(3):
            place = weights[k, 0] * corners[0, i] + weights[k, 1] * corners[1, i] + weights[k, 2] * corners[2, i]
            apart[i], outward[i] = points[k, i] - place, face[t, i]
        if zeros == 1:
            across = surface.neighbours[t, first_zero]
            for i in range(3):
                outward[i] += face[across, i]
            make_unit(outward)
        elif zeros == 2:
            vertex = surface.triangles[t, first_other]
            for i in range(3):
                outward[i] = surface.vertex_normals[vertex, i]
        along = apart[0] * outward[0] + apart[1] * outward[1] + apart[2] * outward[2]
        length = np.sqrt(apart[0] * apart[0] + apart[1] * apart[1] + apart[2] * apart[2])
        sign = -1.0 if along < 0.0 else 1.0
        is_straight = zeros == 0 or length <= least
        distance[k] = along if is_straight else sign * length
        for i in range(3):
            normal[k, i] = outward[i] if is_straight else sign / max(length, TINY) * apart[i]
            curved[k, 0, i] = curved[k, 1, i] = 0.0
        if is_straight:
            continue
        n = normal[k]
        if zeros == 1:
            one, other = (first_zero + 1) % 3, (first_zero + 2) % 3
            for i in range(3):
                apart[i] = corners[other, i] - corners[one, i]
            write_cross(apart, n, curved[k, 0])
            make_unit(curved[k, 0])
        elif zeros == 2:
            least_axis = 0
            for i in range(1, 3):
                if abs(n[i]) < abs(n[least_axis]):
                    least_axis = i
            for i in range(3):
                apart[i] = 1.0 if i == least_axis else 0.0
            write_cross(n, apart, curved[k, 0])
            make_unit(curved[k, 0])
            write_cross(n, curved[k, 0], curved[k, 1])


@kernel(device_only=True)
def zero_weights(weights):
    """Returns how many barycentric weights, (3,), are zero, the first that is, and the first that is not."""
    zeros, first_zero, first_other = 0, -1, -1
    for c in range(3):
        if weights[c] <= MIN_CORNER_WEIGHT:
            zeros += 1
            first_zero = c if first_zero < 0 else first_zero
        elif first_other < 0:
            first_other = c
    return zeros, first_zero, first_other


@kernel(device_only=True)
def write_cross(a, b, out):
    """Writes a × b, (3,)."""
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


@kernel(device_only=True)
def make_unit(v):
    """Makes a vector, (3,), of length one, or leaves it zero."""
    length = max(np.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]), TINY)
    for i in range(3):
        v[i] /= length
