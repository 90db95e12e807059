# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a segment leaves the inside of a surface: the winding number falls through one half."""

from __future__ import annotations

import math

import numpy as np

from ...runtime.arrays import Floats
from ...runtime.jit import kernel
from ...runtime.threads.thread_pool import run_in_chunks
from .triangle_bvh import Bvh
from .winding_number import winding_number

# More crossings than this on one segment are not sorted: halving finds one of them.
MAX_SORTED_CROSSINGS = 32
BISECTION_STEPS = 30
# Crossings this far beyond the segment's ends count: lattice points may lie on the surface.
END_TOLERANCE = 1.0e-9


def exit_points(bvh: Bvh, inside: Floats, outside: Floats, winding: Floats) -> tuple[Floats, Floats]:
    """Returns where segments leave the surface and how steeply.

    Args:
        inside, outside: Ends of the segments [m], (k, 3).
        winding: Winding number at the inside ends, above one half, (k,).

    Returns:
        The fractions in [0, 1] of the way from inside to outside, (k,), and the cosines between the segment and the
        surface's normal there, 1 in a hole, (k,).
    """
    out, cosine = np.empty(len(inside)), np.empty(len(inside))

    def work(part: slice) -> None:
        fill_exit_points(*bvh.arrays, inside[part], outside[part], winding[part], out[part], cosine[part])

    run_in_chunks(len(inside), work)
    return out, cosine


@kernel()
def fill_exit_points(boxes, tree, corners, moments, inside, outside, winding, out, cosine):
    """Fills `out` and `cosine`, (k,): the first crossing at which the winding number falls below one half.

    Triangles that are crossed change the winding number by one. Where that does not explain the change (at holes,
    or beside an edge that two triangles both miss by a rounding), the segment is halved until the place is found.
    """
    at = np.empty(MAX_SORTED_CROSSINGS)
    lean = np.empty(MAX_SORTED_CROSSINGS)
    for i in range(inside.shape[0]):
        x, y, z = inside[i, 0], inside[i, 1], inside[i, 2]
        dx, dy, dz = outside[i, 0] - x, outside[i, 1] - y, outside[i, 2] - z
        count = find_crossings(boxes, tree, corners, x, y, z, dx, dy, dz, at, lean)
        w = winding[i]
        found = -1.0
        if count <= MAX_SORTED_CROSSINGS:
            for c in range(count):
                w -= math.copysign(1.0, lean[c])
                if w <= 0.5:
                    found = min(max(at[c], 0.0), 1.0)
                    cosine[i] = lean[c]
                    break
        if found < 0.0:
            cosine[i] = 1.0
            low = 0.0
            high = 1.0
            for _ in range(BISECTION_STEPS):
                s = 0.5 * (low + high)
                if winding_number(tree, corners, moments, x + s * dx, y + s * dy, z + s * dz) > 0.5:
                    low = s
                else:
                    high = s
            found = 0.5 * (low + high)
        out[i] = found


@kernel()
def find_crossings(boxes, tree, corners, x, y, z, dx, dy, dz, at, lean):
    """Sorts the triangles that a segment crosses by where it does.

    Args:
        boxes, tree, corners: See `Bvh`.
        x, y, z, dx, dy, dz: Start and direction of the segment [m].
        at: Fraction of the way of each crossing, filled, (c,).
        lean: Cosine between the segment and the triangle's normal, > 0 where it goes out, filled, (c,).

    Returns:
        How many there are; where there are more than c, the rest is counted only.
    """
    least_x, most_x = min(x, x + dx), max(x, x + dx)
    least_y, most_y = min(y, y + dy), max(y, y + dy)
    least_z, most_z = min(z, z + dz), max(z, z + dz)
    count = 0
    node = 0
    while node < tree.shape[0]:
        if (
            boxes[node, 0] > most_x
            or boxes[node, 1] > most_y
            or boxes[node, 2] > most_z
            or boxes[node, 3] < least_x
            or boxes[node, 4] < least_y
            or boxes[node, 5] < least_z
        ):
            node = tree[node, 3]
            continue
        if tree[node, 0] < 0:
            for t in range(tree[node, 1], tree[node, 1] + tree[node, 2]):
                s, cosine = cross_triangle(corners, t, x, y, z, dx, dy, dz)
                if cosine != 0.0:
                    if count < at.shape[0]:
                        k = count
                        while k > 0 and at[k - 1] > s:
                            at[k] = at[k - 1]
                            lean[k] = lean[k - 1]
                            k -= 1
                        at[k] = s
                        lean[k] = cosine
                    count += 1
        node += 1
    return count


@kernel(device_only=True)
def cross_triangle(corners, t, x, y, z, dx, dy, dz):
    """Returns where a segment crosses triangle t, and its cosine with the normal there: 0 where it does not.

    Source: Möller and Trumbore (1997), Fast, Minimum Storage Ray/Triangle Intersection.
    """
    ux, uy, uz = corners[t, 3] - corners[t, 0], corners[t, 4] - corners[t, 1], corners[t, 5] - corners[t, 2]
    vx, vy, vz = corners[t, 6] - corners[t, 0], corners[t, 7] - corners[t, 1], corners[t, 8] - corners[t, 2]
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    slope = nx * dx + ny * dy + nz * dz
    if slope == 0.0:
        return 0.0, 0.0
    px, py, pz = x - corners[t, 0], y - corners[t, 1], z - corners[t, 2]
    s = -(nx * px + ny * py + nz * pz) / slope
    if not (s >= -END_TOLERANCE and s <= 1.0 + END_TOLERANCE):
        return 0.0, 0.0
    qx, qy, qz = dy * pz - dz * py, dz * px - dx * pz, dx * py - dy * px
    a = (vx * qx + vy * qy + vz * qz) / slope
    b = -(ux * qx + uy * qy + uz * qz) / slope
    if not (a >= 0.0 and b >= 0.0 and a + b <= 1.0):
        return 0.0, 0.0
    return s, slope / math.sqrt((nx * nx + ny * ny + nz * nz) * (dx * dx + dy * dy + dz * dz))
