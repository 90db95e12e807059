# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a segment crosses the triangles of a surface, how steeply, and which segments do."""

from __future__ import annotations

import math

import numpy as np

from ...runtime.arrays import Bools, Floats
from ...runtime.jit import kernel
from ...runtime.threads.thread_pool import run_in_chunks
from .triangle_bvh import Bvh

# Crossings this far beyond the segment's ends count: lattice points may lie on the surface.
END_TOLERANCE = 1.0e-9


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


def segments_crossing(bvh: Bvh, begin: Floats, end: Floats) -> Bools:
    """Returns which segments from `begin` to `end`, (n, 3) each, cross a triangle, (n,)."""
    crossing = np.zeros(len(begin), bool)

    def work(part: slice) -> None:
        mark_crossing(bvh.boxes, bvh.tree, bvh.corners, begin[part], end[part], crossing[part])

    run_in_chunks(len(begin), work)
    return crossing


@kernel()
def mark_crossing(boxes, tree, corners, begin, end, crossing):
    """Marks the segments that cross a triangle, (n,); the first three are of a `Bvh`."""
    at, lean = np.empty(1), np.empty(1)
    for i in range(len(begin)):
        way_x, way_y, way_z = end[i, 0] - begin[i, 0], end[i, 1] - begin[i, 1], end[i, 2] - begin[i, 2]
        found = find_crossings(
            boxes, tree, corners, begin[i, 0], begin[i, 1], begin[i, 2], way_x, way_y, way_z, at, lean
        )
        crossing[i] = found > 0
