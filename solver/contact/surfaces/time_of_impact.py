# SPDX-License-Identifier: GPL-3.0-or-later
"""Time of impact of a moving point and a moving triangle, both along straight lines.

Let a, b, c be the vectors from the first corner to the point and to the other corners. f = a · (b × c) is the height
over the plane of the triangle times twice its area: a cubic in time, given by its four Bernstein coefficients. The
first and the last coefficient are its values at the ends of the step, so two steps that share positions agree on the
side of a point to the last bit.

A point counts as in front down to `FRONT_TOLERANCE` below the plane, since touching points, as of boxes on each other,
may be below by rounding. So the cubic is f + (that depth) · ‖b × c‖, with a length linear in time.
"""

from __future__ import annotations

import math

from ...mesh.geometry.closest_on_triangle import closest_on_triangle
from ...runtime.jit import kernel

FRONT_TOLERANCE = 1.0e-4  # depth down to which a point is in front, in tet sizes
# ten times this depth, so that no point slips between two triangles that are both lowered, up to folds of 168 degrees
BORDER_TOLERANCE = 1.0e-3  # distance beside a triangle up to which a point crosses it, in tet sizes
NO_IMPACT = 2.0  # time, in steps
MAX_ROOT_ITERATIONS = 64


@kernel()
def time_of_impact(start, end, p, i, j, k, side, size, corners, out):
    """Returns the time in [0, 1] when point p first crosses the triangle of vertices i, j, k, or `NO_IMPACT`.

    Args:
        start, end: Vertices at both ends of the step [m], (v, 3).
        p, i, j, k: Rows of them.
        side: 1 if only crossings from the front to the back count, −1 if only those from the back to the front.
        size: Edge length of the tets there [m].
        corners: Scratch, (1, 9).
        out: Out, weights of the place in the triangle, (3,).
    """
    if side < 0:
        j, k = k, j
    b0, b1, b2, b3 = height_coefficients(start, end, p, i, j, k, FRONT_TOLERANCE * size)
    if (b0 >= 0.0 and b1 >= 0.0 and b2 >= 0.0 and b3 >= 0.0) or (b0 < 0.0 and b1 < 0.0 and b2 < 0.0 and b3 < 0.0):
        return NO_IMPACT
    one, other = cubic_extrema(b0, b1, b2, b3)
    first, value = 0.0, b0
    for piece in range(3):
        if piece == 0:
            last = one
        elif piece == 1:
            last = other
        else:
            last = 1.0
        if last <= first and piece < 2:
            continue
        after = b3 if last == 1.0 else evaluate_cubic(b0, b1, b2, b3, last)
        if value >= 0.0 and after < 0.0:
            t = falling_root(b0, b1, b2, b3, first, last)
            if is_in_triangle_at(start, end, p, i, j, k, t, BORDER_TOLERANCE * size, corners, out):
                if side < 0:
                    out[1], out[2] = out[2], out[1]
                return t
        first, value = last, after
        if last == 1.0:
            break
    return NO_IMPACT


@kernel()
def height_coefficients(start, end, p, i, j, k, level):
    """Returns the Bernstein coefficients of (height over the plane + level) · twice the area [m³]."""
    ax, ay, az = start[p, 0] - start[i, 0], start[p, 1] - start[i, 1], start[p, 2] - start[i, 2]
    bx, by, bz = start[j, 0] - start[i, 0], start[j, 1] - start[i, 1], start[j, 2] - start[i, 2]
    cx, cy, cz = start[k, 0] - start[i, 0], start[k, 1] - start[i, 1], start[k, 2] - start[i, 2]
    dx, dy, dz = end[p, 0] - end[i, 0], end[p, 1] - end[i, 1], end[p, 2] - end[i, 2]
    ex, ey, ez = end[j, 0] - end[i, 0], end[j, 1] - end[i, 1], end[j, 2] - end[i, 2]
    fx, fy, fz = end[k, 0] - end[i, 0], end[k, 1] - end[i, 1], end[k, 2] - end[i, 2]
    nx, ny, nz = by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx
    mx, my, mz = by * fz - bz * fy, bz * fx - bx * fz, bx * fy - by * fx
    mx, my, mz = mx + ey * cz - ez * cy, my + ez * cx - ex * cz, mz + ex * cy - ey * cx
    lx, ly, lz = ey * fz - ez * fy, ez * fx - ex * fz, ex * fy - ey * fx
    one, other = level * math.sqrt(nx * nx + ny * ny + nz * nz), level * math.sqrt(lx * lx + ly * ly + lz * lz)
    b0 = ax * nx + ay * ny + az * nz + one
    b1 = (dx * nx + dy * ny + dz * nz + ax * mx + ay * my + az * mz + 2.0 * one + other) / 3.0
    b2 = (dx * mx + dy * my + dz * mz + ax * lx + ay * ly + az * lz + one + 2.0 * other) / 3.0
    b3 = dx * lx + dy * ly + dz * lz + other
    return b0, b1, b2, b3


@kernel()
def evaluate_cubic(b0, b1, b2, b3, t):
    """Returns the value at t of a cubic with these Bernstein coefficients."""
    s = 1.0 - t
    c0, c1, c2 = s * b0 + t * b1, s * b1 + t * b2, s * b2 + t * b3
    return s * (s * c0 + t * c1) + t * (s * c1 + t * c2)


@kernel()
def cubic_extrema(b0, b1, b2, b3):
    """Returns the two extrema in [0, 1] of a cubic, rising; 1 for a missing one."""
    d0, d1, d2 = b1 - b0, b2 - b1, b3 - b2
    # derivative / 3 = d0 (1−t)² + 2 d1 t (1−t) + d2 t² = a t² + 2 h t + d0
    a, h = d0 - 2.0 * d1 + d2, d1 - d0
    inside = h * h - a * d0
    if inside <= 0.0:
        return 1.0, 1.0
    q = -(h + math.copysign(math.sqrt(inside), h))
    one = q / a if a != 0.0 else 1.0
    other = d0 / q if q != 0.0 else 1.0
    one = one if 0.0 < one < 1.0 else 1.0
    other = other if 0.0 < other < 1.0 else 1.0
    return min(one, other), max(one, other)


@kernel()
def falling_root(b0, b1, b2, b3, low, high):
    """Returns the root of a cubic that falls from ≥ 0 at `low` to < 0 at `high`: Newton's method with bisection."""
    d0, d1, d2 = 3.0 * (b1 - b0), 3.0 * (b2 - b1), 3.0 * (b3 - b2)
    t = 0.5 * (low + high)
    for _ in range(MAX_ROOT_ITERATIONS):
        value = evaluate_cubic(b0, b1, b2, b3, t)
        if value >= 0.0:
            low = t
        else:
            high = t
        s = 1.0 - t
        slope = s * (s * d0 + t * d1) + t * (s * d1 + t * d2)
        new = t - value / slope if slope < 0.0 else low
        if not low < new < high:
            new = 0.5 * (low + high)
        if abs(new - t) <= 1.0e-15 or high - low <= 1.0e-15:
            return new
        t = new
    return t


@kernel(device_only=True)
def is_in_triangle_at(start, end, p, i, j, k, t, tolerance, corners, out):
    """Returns whether point p is at the triangle at time t in [0, 1], and writes the weights of the nearest place."""
    row = 0
    for vertex in (i, j, k):
        for axis in range(3):
            corners[0, row] = start[vertex, axis] + t * (end[vertex, axis] - start[vertex, axis])
            row += 1
    x = start[p, 0] + t * (end[p, 0] - start[p, 0])
    y = start[p, 1] + t * (end[p, 1] - start[p, 1])
    z = start[p, 2] + t * (end[p, 2] - start[p, 2])
    d2, out[0], out[1], out[2] = closest_on_triangle(corners, 0, x, y, z)
    return d2 <= tolerance * tolerance
