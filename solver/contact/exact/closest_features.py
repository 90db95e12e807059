# SPDX-License-Identifier: GPL-3.0-or-later
"""The closest points of a point and a triangle, and of two edges, as weights of their four corners.

What separates the closest points is r = Σ wᵢ xᵢ. Inside a feature the weights depend linearly on parameters β, of which
a triangle's inside and the insides of two edges have two, an edge's inside one, and vertices none. The closest points
are where |r|² is least over β, so all distances have the same derivatives (`squared_distance.py`).

Corners x are the point and then the triangle, or both ends of one edge and then of the other, (4, 3).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...runtime.arrays import Floats
from ...runtime.jit import kernel

# which feature of a triangle is closest to a point
INSIDE, ON_AB, ON_BC, ON_CA, AT_A, AT_B, AT_C = range(7)
# which features of edges are closest: insides of both, 1 to 4 an end of one (x₀, x₁, x₂, x₃) and the inside of the
# other, 5 to 8 ends of both (x₀ x₂, x₀ x₃, x₁ x₂, x₁ x₃)
BOTH_INSIDE, FIRST_END, FIRST_ENDS = 0, 1, 5
FLAT_SINE2 = 1.0e-20  # squared sine of an angle below which triangles count as edges, and edges as parallel


class ClosestPoints(NamedTuple):
    """The closest points of two features; kernels write it.

    Attributes:
        weights: w with r = Σ wᵢ xᵢ, (4,).
        weight_derivatives: ∂w/∂β for up to two parameters; the other rows are 0, (2, 4).
    """

    weights: Floats
    weight_derivatives: Floats


def allocate_closest_points() -> ClosestPoints:
    """Returns room for the closest points of a pair."""
    return ClosestPoints(np.zeros(4), np.zeros((2, 4)))


@kernel()
def closest_on_triangle_to_point(x, closest):
    """Writes the closest points of a point and a triangle; returns the feature, `INSIDE` to `AT_C`.

    Args:
        x: The point, and the triangle a b c [m], (4, 3).
        closest: `ClosestPoints`, changed.
    """
    w, dw = closest.weights, closest.weight_derivatives
    bx, by, bz = x[2, 0] - x[1, 0], x[2, 1] - x[1, 1], x[2, 2] - x[1, 2]
    cx, cy, cz = x[3, 0] - x[1, 0], x[3, 1] - x[1, 1], x[3, 2] - x[1, 2]
    px, py, pz = x[0, 0] - x[1, 0], x[0, 1] - x[1, 1], x[0, 2] - x[1, 2]
    nx, ny, nz = by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx
    area2 = nx * nx + ny * ny + nz * nz
    if area2 > FLAT_SINE2 * (bx * bx + by * by + bz * bz) * (cx * cx + cy * cy + cz * cz):
        v = ((py * cz - pz * cy) * nx + (pz * cx - px * cz) * ny + (px * cy - py * cx) * nz) / area2
        u = ((by * pz - bz * py) * nx + (bz * px - bx * pz) * ny + (bx * py - by * px) * nz) / area2
        if v > 0.0 and u > 0.0 and v + u < 1.0:
            dw[:] = 0.0
            w[0], w[1], w[2], w[3] = 1.0, v + u - 1.0, -v, -u
            dw[0, 1], dw[0, 2], dw[1, 1], dw[1, 3] = 1.0, -1.0, 1.0, -1.0
            return INSIDE
    best, least = 0, np.inf
    for side in range(3):
        _, distance2 = _closest_on_edge(x, 0, 1 + side, 1 + (side + 1) % 3)
        if distance2 < least:
            best, least = side, distance2
    s, _ = _closest_on_edge(x, 0, 1 + best, 1 + (best + 1) % 3)
    _write_point_edge(closest, 0, 1 + best, 1 + (best + 1) % 3, 1.0, s)
    if s <= 0.0:
        return AT_A + best
    if s >= 1.0:
        return AT_A + (best + 1) % 3
    return ON_AB + best


@kernel()
def closest_of_edges(x, closest):
    """Writes the closest points of two edges; returns the features, `BOTH_INSIDE` to `FIRST_ENDS` + 3.

    Args:
        x: Ends of one edge, and of the other [m], (4, 3).
        closest: `ClosestPoints`, changed.
    """
    w, dw = closest.weights, closest.weight_derivatives
    ax, ay, az = x[1, 0] - x[0, 0], x[1, 1] - x[0, 1], x[1, 2] - x[0, 2]
    bx, by, bz = x[3, 0] - x[2, 0], x[3, 1] - x[2, 1], x[3, 2] - x[2, 2]
    rx, ry, rz = x[2, 0] - x[0, 0], x[2, 1] - x[0, 1], x[2, 2] - x[0, 2]
    nx, ny, nz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    area2 = nx * nx + ny * ny + nz * nz
    if area2 > FLAT_SINE2 * (ax * ax + ay * ay + az * az) * (bx * bx + by * by + bz * bz):
        s = ((ry * bz - rz * by) * nx + (rz * bx - rx * bz) * ny + (rx * by - ry * bx) * nz) / area2
        t = ((ry * az - rz * ay) * nx + (rz * ax - rx * az) * ny + (rx * ay - ry * ax) * nz) / area2
        if 0.0 < s < 1.0 and 0.0 < t < 1.0:
            dw[:] = 0.0
            w[0], w[1], w[2], w[3] = 1.0 - s, s, t - 1.0, -t
            dw[0, 0], dw[0, 1], dw[1, 2], dw[1, 3] = -1.0, 1.0, 1.0, -1.0
            return BOTH_INSIDE
    best, least = 0, np.inf
    for end in range(4):
        other = 2 - 2 * (end // 2)
        _, distance2 = _closest_on_edge(x, end, other, other + 1)
        if distance2 < least:
            best, least = end, distance2
    other = 2 - 2 * (best // 2)
    s, _ = _closest_on_edge(x, best, other, other + 1)
    _write_point_edge(closest, best, other, other + 1, 1.0 if best < 2 else -1.0, s)
    if 0.0 < s < 1.0:
        return FIRST_END + best
    at = other + (0 if s <= 0.0 else 1)
    return FIRST_ENDS + 2 * min(best, at) + max(best, at) - 2


@kernel(device_only=True)
def _closest_on_edge(x, p, a, b):
    """Returns the parameter in [0, 1] of the point of the edge x_a x_b closest to x_p, and the squared distance."""
    along, length2, distance2 = 0.0, 0.0, 0.0
    for axis in range(3):
        e, r = x[b, axis] - x[a, axis], x[p, axis] - x[a, axis]
        along, length2 = along + e * r, length2 + e * e
    s = min(max(along / length2, 0.0), 1.0) if length2 > 0.0 else 0.0
    for axis in range(3):
        r = x[p, axis] - (x[a, axis] + s * (x[b, axis] - x[a, axis]))
        distance2 += r * r
    return s, distance2


@kernel(device_only=True)
def _write_point_edge(closest, p, a, b, sign, s):
    """Writes the weights of a point and the place s of an edge; `sign` is the point's."""
    w, dw = closest.weights, closest.weight_derivatives
    w[:], dw[:] = 0.0, 0.0
    w[p], w[a], w[b] = sign, -sign * (1.0 - s), -sign * s
    if 0.0 < s < 1.0:
        dw[0, a], dw[0, b] = sign, -sign


@kernel()
def triangle_parameter_count(feature):
    """Returns how many parameters β the closest feature of a triangle has."""
    return 2 if feature == INSIDE else (1 if feature < AT_A else 0)


@kernel()
def edges_parameter_count(feature):
    """Returns how many parameters β the features of two edges have."""
    return 2 if feature == BOTH_INSIDE else (1 if feature < FIRST_ENDS else 0)
