# SPDX-License-Identifier: GPL-3.0-or-later
"""Which tets of the lattice a surface touches: each triangle against the tets around it, exactly."""

from __future__ import annotations

import math

import numpy as np

from ...runtime.arrays import Bools, Floats
from ...runtime.jit import kernel
from ..geometry.triangle_tet import triangle_meets_tet
from .bcc_lattice import Lattice

TOUCH_TOLERANCE = 1.0e-9  # of a cell: a surface closer to a tet than this touches it
# Corners of the face between two cells, from its least corner along u and v, counterclockwise seen from above.
FACE_CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])


def touched_tets(lattice: Lattice, corners: Floats, marks: Bools) -> np.ndarray:
    """Returns which tets of the lattice triangles touch, (3, 4, x, y, z) uint8: 0 no, 1 yes, 2 a marked one does.

    Entry (axis, i, x, y, z) is the tet on the upper side, along the axis, of cell (x, y, z): it holds the middles
    of that cell and the next, and the corners i and i + 1 of the face between them.

    Args:
        lattice: The lattice; all triangles lie at least one cell within it.
        corners: The triangles [m], (t, 9).
        marks: Which of them are marked, (t,).
    """
    out = np.zeros((3, 4, *lattice.cell_counts), np.uint8)
    cells = (corners.reshape(-1, 3, 3) - lattice.origin) / lattice.cell
    mark_touched_tets(np.ascontiguousarray(cells.reshape(-1, 9)), marks, FACE_CORNERS, out)
    return out


@kernel()
def mark_touched_tets(triangles, marks, ring, out):
    """Fills `out`, see `touched_tets`.

    Args:
        triangles: Corners in cells from the lattice's origin, (t, 9).
        marks: Which count as 2, (t,).
        ring: The table `FACE_CORNERS`, (4, 2).
        out: 0 where nothing touches, (3, 4, x, y, z); filled.
    """
    tet = np.empty(12)
    low = np.empty(3)
    high = np.empty(3)
    normal = np.empty(3)
    start = np.empty(3, np.int64)
    end = np.empty(3, np.int64)
    for t in range(triangles.shape[0]):
        p = triangles[t]
        value = np.uint8(2) if marks[t] else np.uint8(1)
        for axis in range(3):
            low[axis] = min(p[axis], p[3 + axis], p[6 + axis]) - TOUCH_TOLERANCE
            high[axis] = max(p[axis], p[3 + axis], p[6 + axis]) + TOUCH_TOLERANCE
            b, c = (axis + 1) % 3, (axis + 2) % 3
            normal[axis] = (p[3 + b] - p[b]) * (p[6 + c] - p[c]) - (p[3 + c] - p[c]) * (p[6 + b] - p[b])
        length = math.sqrt(normal[0] ** 2 + normal[1] ** 2 + normal[2] ** 2)
        for axis in range(3):
            u, v = (axis + 1) % 3, (axis + 2) % 3
            for other in range(3):
                # tets reach half a cell beyond their face along the axis, across it they end with the face
                reach = 0.5 if other == axis else 0.0
                start[other] = max(int(math.floor(low[other] - reach)), 0)
                end[other] = min(int(math.floor(high[other] - reach)) + 1, out.shape[2 + other])
            # half the extent along the normal of the four tets around one face
            extent = 0.5 * max(abs(normal[axis]), abs(normal[u]) + abs(normal[v])) + TOUCH_TOLERANCE * length
            for x in range(start[0], end[0]):
                for y in range(start[1], end[1]):
                    for z in range(start[2], end[2]):
                        shift = normal[0] * (x + 0.5 - p[0]) + normal[1] * (y + 0.5 - p[1])
                        shift += normal[2] * (z + 0.5 - p[2]) + 0.5 * normal[axis]
                        if abs(shift) > extent:
                            continue
                        for i in range(4):
                            if out[axis, i, x, y, z] >= value:
                                continue
                            write_tet_corners(axis, x, y, z, ring, i, tet)
                            if triangle_meets_tet(p, tet, TOUCH_TOLERANCE):
                                out[axis, i, x, y, z] = value


@kernel(device_only=True)
def write_tet_corners(axis, x, y, z, ring, i, tet):
    """Fills the corners of one lattice tet in cells from the origin, (12,): two middles, then two corners."""
    u, v = (axis + 1) % 3, (axis + 2) % 3
    for corner in range(4):
        tet[3 * corner] = x
        tet[3 * corner + 1] = y
        tet[3 * corner + 2] = z
    for middle in range(2):
        tet[3 * middle] += 0.5
        tet[3 * middle + 1] += 0.5
        tet[3 * middle + 2] += 0.5
    tet[3 + axis] += 1.0
    for corner in range(2):
        place = (i + corner) % 4
        tet[6 + 3 * corner + axis] += 1.0
        tet[6 + 3 * corner + u] += ring[place, 0]
        tet[6 + 3 * corner + v] += ring[place, 1]
