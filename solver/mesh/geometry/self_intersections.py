# SPDX-License-Identifier: GPL-3.0-or-later
"""Which faces of a surface cross each other.

Faces in one plane do not: a side that lies in the plane of a face, but for the rounding of double precision, crosses it
nowhere. Without that, rounding would say so of some of the many faces of flat walls and caps.
"""

from __future__ import annotations

import math

import numpy as np

from ...runtime.arrays import Indices
from ...runtime.jit import kernel
from .segment_surface_crossings import cross_triangle
from .triangle_bvh import Bvh

IN_PLANE = 1.0e-10  # of the distances: how far both ends of a side are from the plane in which it lies


def crossing_faces(bvh: Bvh, welded: Indices) -> tuple[Indices, Indices]:
    """Returns pairs of faces that cross without sharing a corner, each (k,); a pair may come twice.

    Args:
        bvh: The surface.
        welded: Its faces, corners at one place having one number, (t, 3).
    """
    faces = np.ascontiguousarray(welded[bvh.order])
    pairs = np.empty((max(4 * len(faces), 1024), 2), np.int32)
    count = fill_crossing_faces(bvh.boxes, bvh.tree, bvh.corners, faces, pairs)
    if count > len(pairs):
        pairs = np.empty((count, 2), np.int32)
        fill_crossing_faces(bvh.boxes, bvh.tree, bvh.corners, faces, pairs)
    return bvh.order[pairs[:count, 0]], bvh.order[pairs[:count, 1]]


@kernel()
def fill_crossing_faces(boxes, tree, corners, faces, pairs):
    """Fills pairs of faces of which one has a side that crosses the other, and returns how many there are.

    Args:
        boxes, tree, corners: See `Bvh`.
        faces: Welded faces in the order of the leaves, (t, 3).
        pairs: Out, faces in the order of the leaves, (room, 2).
    """
    count = 0
    for f in range(faces.shape[0]):
        for side in range(3):
            a, b = 3 * side, 3 * ((side + 1) % 3)
            x, y, z = corners[f, a], corners[f, a + 1], corners[f, a + 2]
            dx, dy, dz = corners[f, b] - x, corners[f, b + 1] - y, corners[f, b + 2] - z
            node = 0
            while node < tree.shape[0]:
                if (
                    boxes[node, 0] > max(x, x + dx)
                    or boxes[node, 1] > max(y, y + dy)
                    or boxes[node, 2] > max(z, z + dz)
                    or boxes[node, 3] < min(x, x + dx)
                    or boxes[node, 4] < min(y, y + dy)
                    or boxes[node, 5] < min(z, z + dz)
                ):
                    node = tree[node, 3]
                    continue
                if tree[node, 0] < 0:
                    for t in range(tree[node, 1], tree[node, 1] + tree[node, 2]):
                        shares = False
                        for i in range(3):
                            for j in range(3):
                                shares = shares or faces[f, i] == faces[t, j]
                        if shares:
                            continue
                        _, cosine = cross_triangle(corners, t, x, y, z, dx, dy, dz)
                        if cosine != 0.0 and not _lies_in_plane(corners, t, x, y, z, dx, dy, dz):
                            if count < pairs.shape[0]:
                                pairs[count, 0] = f
                                pairs[count, 1] = t
                            count += 1
                node += 1
    return count


@kernel(device_only=True)
def _lies_in_plane(corners, t, x, y, z, dx, dy, dz):
    """Returns whether both ends of a segment lie in the plane of triangle t, but for rounding."""
    ux, uy, uz = corners[t, 3] - corners[t, 0], corners[t, 4] - corners[t, 1], corners[t, 5] - corners[t, 2]
    vx, vy, vz = corners[t, 6] - corners[t, 0], corners[t, 7] - corners[t, 1], corners[t, 8] - corners[t, 2]
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    px, py, pz = x - corners[t, 0], y - corners[t, 1], z - corners[t, 2]
    size = math.sqrt(px * px + py * py + pz * pz) + math.sqrt(dx * dx + dy * dy + dz * dz)
    least = IN_PLANE * size * math.sqrt(nx * nx + ny * ny + nz * nz)
    start = nx * px + ny * py + nz * pz
    return abs(start) <= least and abs(start + nx * dx + ny * dy + nz * dz) <= least
