# SPDX-License-Identifier: GPL-3.0-or-later
"""Which of the faces at an edge a point meets: where it slides over the edge, not the one that it bumps into.

The points of a flat surface lie in that surface to next to nothing, so those ahead of what slides over it come through
its front, right at the lower edge. There only a face that looks against the point's own surface can keep them.
"""

from __future__ import annotations

import math

import numpy as np

from ...mesh.geometry.closest_on_triangle import closest_on_triangle
from ...runtime.jit import kernel
from .closest_point_walk import height_above_plane, triangle_frame

MAX_OPPOSING_COSINE = -0.3  # cosine between a face and the surface of a point up to which they look against each other
MIN_COSINE_IMPROVEMENT = 0.3  # by how much that of another face has to be less
MAX_EDGE_DISTANCE = (
    0.02  # distance from an edge, and depth below the other face, up to which it may be that one, in sizes of tets
)


@kernel()
def move_to_facing_faces(
    point, triangle, place, local, side, skin, is_one_sided, end, facing, size, triangles, at_start, at
):  # fmt: skip
    """Changes triangle, place and direction of points that go in right at an edge whose other face they look against.

    Args:
        point, triangle, place, local, side, skin: See `Held`, k of them; the second to the fourth are changed.
        is_one_sided, size, triangles: See `Skins`.
        end: Vertices at the end of the step [m], (v, 3).
        facing: Which way vertices look, of any length, (v, 3).
        at_start, at: See `SkinTrees`.

    Returns:
        How many were changed.
    """
    frame, other, best = np.empty((3, 3)), np.empty((3, 3)), np.empty(3)
    corners, here = np.empty((1, 9)), np.empty(3)
    changed = 0
    for c in range(len(point)):
        p, t = point[c], np.int64(triangle[c])
        length = math.sqrt(facing[p, 0] ** 2 + facing[p, 1] ** 2 + facing[p, 2] ** 2)
        if side[c] < 0 or not is_one_sided[skin[c]] or length == 0.0 or triangle_frame(end, triangles, t, frame):
            continue
        score = facing_cosine(facing, p, frame) / length
        if score <= MAX_OPPOSING_COSINE:
            continue
        for axis in range(3):
            here[axis] = 0.0
            for i in range(3):
                here[axis] += place[c, i] * end[triangles[t, i], axis]
        near, found, least = MAX_EDGE_DISTANCE * size[p], np.int64(-1), score - MIN_COSINE_IMPROVEMENT
        for i in range(3):
            vertex = triangles[t, i]
            for slot in range(at_start[vertex], at_start[vertex + 1]):
                u = np.int64(at[slot])
                if u == t or triangle_frame(end, triangles, u, other):
                    continue
                value = facing_cosine(facing, p, other) / length
                if value >= least or abs(height_above_plane(p, u, end, triangles, other)) > near:
                    continue
                load_corners(end, triangles, u, corners)
                d2, _, _, _ = closest_on_triangle(corners, 0, here[0], here[1], here[2])
                if d2 <= near * near:
                    found, least = u, value
        if found < 0:
            continue
        load_corners(end, triangles, found, corners)
        _, best[0], best[1], best[2] = closest_on_triangle(corners, 0, end[p, 0], end[p, 1], end[p, 2])
        triangle[c] = found
        for i in range(3):
            place[c, i] = best[i]
            local[c, i] = 1.0 if i == 2 else 0.0
        changed += 1
    return changed


@kernel()
def facing_cosine(facing, p, frame):
    """Returns which way a point looks, times the normal in a frame."""
    return facing[p, 0] * frame[2, 0] + facing[p, 1] * frame[2, 1] + facing[p, 2] * frame[2, 2]


@kernel(device_only=True)
def load_corners(positions, triangles, t, corners):
    """Writes the corners of a triangle in a row, (1, 9)."""
    for i in range(3):
        for axis in range(3):
            corners[0, 3 * i + axis] = positions[triangles[t, i], axis]
