# SPDX-License-Identifier: GPL-3.0-or-later
"""How often a surface winds around a point: about 1 inside, about 0 outside, for holes and overlaps too."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Floats, floats
from ...runtime.jit import kernel
from ...runtime.threads.thread_pool import run_in_chunks
from .triangle_bvh import Bvh

# Sine of the angle to a triangle's plane below which a point counts as in it.
IN_PLANE_SINE = 1.0e-14


def winding_numbers(bvh: Bvh, points: npt.ArrayLike) -> Floats:
    """Returns the generalized winding number of the surface at `points` [m], (k, 3), as (k,)."""
    points = floats(points, -1, 3)
    out = np.empty(len(points))
    run_in_chunks(
        len(points), lambda part: fill_winding_numbers(bvh.tree, bvh.corners, bvh.moments, points[part], out[part])
    )
    return out


@kernel(no_refcount=True)
def fill_winding_numbers(tree, corners, moments, points, out):
    """Fills the winding number at `points` [m], (k, 3), into `out`, (k,)."""
    for i in range(points.shape[0]):
        out[i] = winding_number(tree, corners, moments, points[i, 0], points[i, 1], points[i, 2])


@kernel(device_only=True)
def winding_number(tree, corners, moments, x, y, z):
    """Returns the winding number at one point: solid angles nearby, expansions far away.

    With r = p − q from the point q to a cluster's centre p, a far cluster adds
    (N·r / r³ + tr M / r³ − 3 rᵀ M r / r⁵) / 4π.

    Args:
        tree, corners, moments: See `Bvh`.
        x, y, z: The point q [m].

    Source: Barill et al. (2018), equations (9) to (13), two terms; hierarchy of its section 4.
    """
    total = 0.0
    node = 0
    end = tree.shape[0]
    while node < end:
        rx = moments[node, 0] - x
        ry = moments[node, 1] - y
        rz = moments[node, 2] - z
        r2 = rx * rx + ry * ry + rz * rz
        if r2 > moments[node, 3]:
            m = moments[node]
            r_inverse2 = 1.0 / r2
            r_inverse3 = r_inverse2 * math.sqrt(r_inverse2)
            quadratic = (
                m[7] * rx * rx + m[8] * ry * ry + m[9] * rz * rz + m[10] * rx * ry + m[11] * rx * rz + m[12] * ry * rz
            )
            dipole = m[4] * rx + m[5] * ry + m[6] * rz + m[7] + m[8] + m[9]
            total += (dipole - 3.0 * quadratic * r_inverse2) * r_inverse3
            node = tree[node, 3]
        elif tree[node, 0] < 0:
            first = tree[node, 1]
            for t in range(first, first + tree[node, 2]):
                total += solid_angle(corners, t, x, y, z)
            node += 1
        else:
            node += 1
    return total / (4.0 * math.pi)


@kernel(device_only=True)
def solid_angle(corners, t, x, y, z):
    """Returns the signed solid angle [sr] of triangle t seen from a point: > 0 from behind, 0 at its corners.

    Source: van Oosterom and Strackee (1983), The Solid Angle of a Plane Triangle, equation (8).
    """
    ax = corners[t, 0] - x
    ay = corners[t, 1] - y
    az = corners[t, 2] - z
    bx = corners[t, 3] - x
    by = corners[t, 4] - y
    bz = corners[t, 5] - z
    cx = corners[t, 6] - x
    cy = corners[t, 7] - y
    cz = corners[t, 8] - z
    a = math.sqrt(ax * ax + ay * ay + az * az)
    b = math.sqrt(bx * bx + by * by + bz * bz)
    c = math.sqrt(cx * cx + cy * cy + cz * cz)
    triple = ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
    ab = ax * bx + ay * by + az * bz
    bc = bx * cx + by * cy + bz * cz
    ca = cx * ax + cy * ay + cz * az
    below = a * b * c + ab * c + bc * a + ca * b
    if abs(triple) <= IN_PLANE_SINE * a * b * c:  # on the triangle the two sides cancel
        return 0.0
    return 2.0 * math.atan2(triple, below)
