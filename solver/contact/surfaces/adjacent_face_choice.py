# SPDX-License-Identifier: GPL-3.0-or-later
"""Chooses which of the faces at an edge a point touches: the one it slides over, not the one it bumps into.

The points of a flat surface lie in it up to rounding. So points ahead of a surface that slides over theirs cross its
front face right at the lower edge. Only a face that faces the point's own surface can hold the point there.
"""

from __future__ import annotations

import math

import numpy as np

from ...mesh.geometry.closest_on_triangle import closest_on_triangle
from ...runtime.jit import kernel
from .closest_point_walk import height_above_plane, triangle_frame

MAX_OPPOSING_COSINE = -0.3  # cosine between a face and a point's surface up to which they face each other
MIN_COSINE_IMPROVEMENT = 0.3  # by which the cosine of another face has to be less
MAX_EDGE_DISTANCE = 0.02  # distance from an edge, and depth below another face, up to which it may hold a point [tets]


@kernel()
def move_to_facing_faces(contacts, end, vertex_normals, surfaces, rings):
    """Moves contacts right at an edge to the face that faces the surface of their point; returns how many moved.

    Args:
        contacts: `TrackedArrays`, k of them; triangle, place and normal of some change.
        end: Vertices at the end of the step [m], (v, 3).
        vertex_normals: Of any length, (v, 3).
        surfaces: `SurfaceArrays`.
        rings: `VertexRings`.
    """
    point, triangle, side, surface = contacts.point, contacts.triangle, contacts.side, contacts.surface
    triangles, place, is_one_sided = surfaces.triangles, contacts.place, surfaces.is_one_sided
    frame, best = np.empty((3, 3)), np.empty(3)
    corners, position = np.empty((1, 9)), np.empty(3)
    count = 0
    for c in range(len(point)):
        p, t = point[c], np.int64(triangle[c])
        normal = vertex_normals[p]
        length = math.sqrt(normal[0] ** 2 + normal[1] ** 2 + normal[2] ** 2)
        is_two_sided = side[c] < 0 or not is_one_sided[surface[c]]
        if is_two_sided or length == 0.0 or triangle_frame(end, triangles, t, frame):
            continue
        cosine = facing_cosine(vertex_normals, p, frame) / length
        if cosine <= MAX_OPPOSING_COSINE:
            continue
        for axis in range(3):
            position[axis] = 0.0
            for i in range(3):
                position[axis] += place[c, i] * end[triangles[t, i], axis]
        max_distance = MAX_EDGE_DISTANCE * surfaces.size[p]
        other = most_opposing_neighbour(
            p, t, cosine, length, end, vertex_normals, triangles, rings, max_distance, position, corners
        )
        if other < 0:
            continue
        load_corners(end, triangles, other, corners)
        _, best[0], best[1], best[2] = closest_on_triangle(corners, 0, end[p, 0], end[p, 1], end[p, 2])
        triangle[c] = other
        for i in range(3):
            place[c, i] = best[i]
            contacts.local[c, i] = 1.0 if i == 2 else 0.0
        count += 1
    return count


@kernel(device_only=True)
def most_opposing_neighbour(
    p, t, cosine, length, end, vertex_normals, triangles, rings, max_distance, position, corners
):
    """Returns the neighbour of triangle t at a place that faces point p most, −1 for none; `length` is of its normal.

    The cosine has to be less than that of t by `MIN_COSINE_IMPROVEMENT`.
    """
    frame = np.empty((3, 3))
    result, least = np.int64(-1), cosine - MIN_COSINE_IMPROVEMENT
    for i in range(3):
        vertex = triangles[t, i]
        for slot in range(rings.start[vertex], rings.start[vertex + 1]):
            u = np.int64(rings.triangle[slot])
            if u == t or triangle_frame(end, triangles, u, frame):
                continue
            value = facing_cosine(vertex_normals, p, frame) / length
            if value >= least or abs(height_above_plane(p, u, end, triangles, frame)) > max_distance:
                continue
            load_corners(end, triangles, u, corners)
            d2, _, _, _ = closest_on_triangle(corners, 0, position[0], position[1], position[2])
            if d2 <= max_distance * max_distance:
                result, least = u, value
    return result


@kernel(device_only=True)
def facing_cosine(vertex_normals, p, frame):
    """Returns the product of the normal of a vertex and that of a frame."""
    n = vertex_normals[p]
    return n[0] * frame[2, 0] + n[1] * frame[2, 1] + n[2] * frame[2, 2]


@kernel(device_only=True)
def load_corners(positions, triangles, t, corners):
    """Writes the corners of a triangle in a row, (1, 9)."""
    for i in range(3):
        for axis in range(3):
            corners[0, 3 * i + axis] = positions[triangles[t, i], axis]
