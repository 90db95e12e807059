# SPDX-License-Identifier: GPL-3.0-or-later
"""Moves the points of the lattice about before its tets are chosen, for bodies that break.

Cracks run between tets, and the faces of the regular lattice lie in few planes: pieces would look like building blocks.
Every point moves by up to `MAX_JITTER` of a cell, in a direction and by a length drawn by lot. Dihedral angles are then
between 30° and 133° (60° and 90° before), and the tets cover the surface as exactly as regular ones, since they are
chosen afterwards.
"""

from __future__ import annotations

import math

import numpy as np

from ...runtime.arrays import Floats, Indices
from ...runtime.counter_rng import uniform
from ...runtime.jit import kernel
from ..geometry.triangle_tet import triangle_meets_tet
from .bcc_lattice import Lattice
from .surface_lattice_overlap import FACE_CORNERS, TOUCH_TOLERANCE

MAX_JITTER = 0.15  # how far a point may move, in cells


def jitter_points(coordinates: Indices, seed: int) -> Floats:
    """Returns lattice points, given in half cells, (n, 3), after they have been moved about."""
    lots = (
        2.0 * uniform(seed, np.arange(3, dtype=np.int64), coordinates[:, :1], coordinates[:, 1:2], coordinates[:, 2:])
        - 1.0
    )
    # on cubes of growing size, so that a length is as likely as another, within a ball
    length = np.linalg.norm(lots, axis=1, keepdims=True)
    lots *= np.abs(lots).max(axis=1, keepdims=True) / np.maximum(length, 1e-300)
    return coordinates + 2.0 * MAX_JITTER * lots


def touched_jittered_tets(lattice: Lattice, points: Floats, corners: Floats, marks: np.ndarray) -> np.ndarray:
    """Returns what `touched_tets` returns, for lattice points that have been moved to `points` [half cells], (n, 3)."""
    out = np.zeros((3, 4, *lattice.cell_counts), np.uint8)
    cells = (corners.reshape(-1, 3, 3) - lattice.origin) / lattice.cell
    split = lattice.corner_count
    lattice_corners = np.ascontiguousarray(0.5 * points[:split]).reshape(*lattice.corner_counts, 3)
    middles = np.ascontiguousarray(0.5 * points[split:]).reshape(*lattice.cell_counts, 3)
    triangles = np.ascontiguousarray(cells.reshape(-1, 9))
    mark_touched_jittered_tets(
        triangles, marks, FACE_CORNERS.astype(np.int64), lattice_corners, middles, MAX_JITTER, out
    )
    return out


@kernel()
def mark_touched_jittered_tets(triangles, marks, ring, corners, middles, reach, out):
    """Fills `out`, see `touched_tets`.

    Args:
        triangles: Corners in cells from the lattice's origin, (t, 9).
        marks: Which count as 2, (t,).
        ring: The table `FACE_CORNERS`, (4, 2).
        corners, middles: Where the lattice's points are, in cells from its origin, (x + 1, y + 1, z + 1, 3) and
            (x, y, z, 3).
        reach: How far they have been moved at most [cells].
        out: 0 where nothing touches, (3, 4, x, y, z); filled.
    """
    tet = np.empty(12)
    low = np.empty(3)
    high = np.empty(3)
    normal = np.empty(3)
    start = np.empty(3, np.int64)
    end = np.empty(3, np.int64)
    step = np.zeros((3, 3), np.int64)
    for axis in range(3):
        step[axis, axis] = 1
    for t in range(triangles.shape[0]):
        p = triangles[t]
        value = np.uint8(2) if marks[t] else np.uint8(1)
        for axis in range(3):
            low[axis] = min(p[axis], p[3 + axis], p[6 + axis]) - TOUCH_TOLERANCE - reach
            high[axis] = max(p[axis], p[3 + axis], p[6 + axis]) + TOUCH_TOLERANCE + reach
            b, c = (axis + 1) % 3, (axis + 2) % 3
            normal[axis] = (p[3 + b] - p[b]) * (p[6 + c] - p[c]) - (p[3 + c] - p[c]) * (p[6 + b] - p[b])
        length = math.sqrt(normal[0] ** 2 + normal[1] ** 2 + normal[2] ** 2)
        for axis in range(3):
            u, v = (axis + 1) % 3, (axis + 2) % 3
            for other in range(3):
                # tets reach half a cell beyond their face along the axis, across it they end with the face
                beyond = 0.5 if other == axis else 0.0
                # a tet needs a cell above its own along the axis, and corners around it
                last = out.shape[2 + other] - (1 if other == axis else 0)
                start[other] = max(int(math.floor(low[other] - beyond)), 0)
                end[other] = min(int(math.floor(high[other] - beyond)) + 1, last)
            # half the extent along the normal of the four tets around one face
            extent = 0.5 * max(abs(normal[axis]), abs(normal[u]) + abs(normal[v])) + (TOUCH_TOLERANCE + reach) * length
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
                            for k in range(3):
                                tet[k] = middles[x, y, z, k]
                                tet[3 + k] = middles[x + step[axis, 0], y + step[axis, 1], z + step[axis, 2], k]
                            for corner in range(2):
                                place = (i + corner) % 4
                                cx = x + step[axis, 0] + ring[place, 0] * step[u, 0] + ring[place, 1] * step[v, 0]
                                cy = y + step[axis, 1] + ring[place, 0] * step[u, 1] + ring[place, 1] * step[v, 1]
                                cz = z + step[axis, 2] + ring[place, 0] * step[u, 2] + ring[place, 1] * step[v, 2]
                                for k in range(3):
                                    tet[6 + 3 * corner + k] = corners[cx, cy, cz, k]
                            if triangle_meets_tet(p, tet, TOUCH_TOLERANCE):
                                out[axis, i, x, y, z] = value
