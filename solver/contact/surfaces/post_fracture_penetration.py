# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds points that lie a little behind triangles after bodies broke and their surfaces changed.

Without a contact these points would move freely. They become contacts of the next step.
"""

from __future__ import annotations

import math

import numpy as np

from ...runtime.arrays import Bools, Floats, Indices
from ...runtime.jit import kernel
from .closest_point_walk import height_above_plane, squared_triangle_distance, triangle_frame
from .collision_surfaces import CollisionSurfaces, Int64s
from .point_triangle_search import PointTriangleSearch
from .time_of_impact import FRONT_TOLERANCE

MIN_BACKSIDE_DEPTH = 0.5 * FRONT_TOLERANCE  # depth in tet sizes from which a point is behind and cannot be in front
DISTANCE_TOLERANCE = 1.0e-6  # difference in tet sizes up to which two triangles are equally near


def find_backside_points(
    surfaces: CollisionSurfaces, positions: Floats, piece: Indices, is_included: Bools
) -> tuple[Int64s, Indices, Floats]:
    """Returns points behind a triangle: ids of `PointTriangleContacts`, rising, triangles, and depths [m], (k,) each.

    Args:
        surfaces: All of them.
        positions: Of their vertices [m], (v, 3).
        piece: Of each vertex, (v,): no point is behind triangles of its own piece.
        is_included: Surfaces one of which has to be among the two, (s,).
    """
    search = PointTriangleSearch(surfaces, positions)
    search.may_touch = surfaces.may_touch & (is_included[:, None] | is_included[None, :])
    search.gather(positions)
    rows = [_nearest_triangles(surfaces, positions, piece, *pair) for pair in search.pairs if len(pair[0])]
    if not rows:
        return np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0)
    point, triangle, depth = (np.concatenate(of) for of in zip(*rows, strict=True))
    id = surfaces.surface_of_triangle[triangle].astype(np.int64) * surfaces.vertex_count + point
    order = np.argsort(id, kind="stable")
    return id[order], triangle[order], depth[order]


def _nearest_triangles(
    surfaces: CollisionSurfaces, positions: Floats, piece: Indices, point: Indices, triangle: Indices
) -> tuple[Indices, Indices, Floats]:
    out, nearest, depth = np.empty_like(point), np.empty_like(triangle), np.empty(len(point))
    count = fill_backside_points(point, triangle, positions, piece, surfaces.arrays, out, nearest, depth)
    return out[:count], nearest[:count], depth[:count]


@kernel()
def fill_backside_points(pair_point, pair_triangle, positions, piece, surfaces, point_out, triangle_out, depth_out):
    """Writes for every point and surface the nearest triangle if the point is behind it; returns how many there are.

    Of equally near triangles, the one above or below whose plane the point is farthest decides: beside an edge the
    others see it from the side.

    Args:
        pair_point, pair_triangle: Candidate pairs, by rising point and surface, (c,) each.
        positions, piece: See `find_backside_points`.
        surfaces: `SurfaceArrays`.
        point_out, triangle_out, depth_out: Out, (c,) each.
    """
    size, triangles, surface_of_triangle = surfaces.size, surfaces.triangles, surfaces.surface_of_triangle
    corners, weights, frame = np.empty((1, 9)), np.empty(3), np.empty((3, 3))
    count, begin = 0, 0
    while begin < len(pair_point):
        p, surface = pair_point[begin], surface_of_triangle[pair_triangle[begin]]
        stop = begin
        while stop < len(pair_point) and pair_point[stop] == p and surface_of_triangle[pair_triangle[stop]] == surface:
            stop += 1
        best, height, nearest = np.inf, 0.0, np.int64(-1)
        for c in range(begin, stop):
            t = np.int64(pair_triangle[c])
            if piece[p] >= 0 and piece[p] == piece[triangles[t, 0]]:
                continue
            length = math.sqrt(squared_triangle_distance(p, t, positions, triangles, corners, weights))
            is_farther = length > best + DISTANCE_TOLERANCE * size[p]
            if is_farther or triangle_frame(positions, triangles, t, frame):
                continue
            above = height_above_plane(p, t, positions, triangles, frame)
            if length < best - DISTANCE_TOLERANCE * size[p] or abs(above) > abs(height):
                height, nearest = above, t
            best = min(best, length)
        if nearest >= 0 and surfaces.is_one_sided[surface] and height < -MIN_BACKSIDE_DEPTH * size[p]:
            point_out[count], triangle_out[count], depth_out[count] = p, nearest, best
            count += 1
        begin = stop
    return count
