# SPDX-License-Identifier: GPL-3.0-or-later
"""Which points of skins lie a little behind triangles: where bodies have just broken, and skins are others now.

Such points would go on freely, as what overlaps does until it has come out. So they are told to the next step.
"""

from __future__ import annotations

import math

import numpy as np

from ...runtime.arrays import Bools, Floats, Indices
from ...runtime.jit import kernel
from .closest_point_walk import height_above_plane, squared_triangle_distance, triangle_frame
from .collision_surfaces import CollisionSurfaces, Int64s
from .surface_search import PointTriangleSearch
from .time_of_impact import FRONT_TOLERANCE

MIN_BACKSIDE_DEPTH = (
    0.5 * FRONT_TOLERANCE
)  # depth from which a point is behind, in sizes of tets; less deep, it is met as what is in front
DISTANCE_TOLERANCE = 1.0e-6  # difference of distances up to which two triangles are as near, in sizes of tets


def find_backside_points(
    skins: CollisionSurfaces, at: Floats, piece: Indices, is_asked: Bools
) -> tuple[Int64s, Indices, Floats]:
    """Returns contacts that are behind a triangle: id as `Met` has it, rising, triangle, and depth [m], (k,) each.

    Args:
        skins: All of them.
        at: Where their vertices are [m], (v, 3).
        piece: To which piece each vertex belongs, (v,): no point is behind triangles of its own.
        is_asked: The skins of which one has to be among the two, (s,).
    """
    meets = skins.may_touch & (is_asked[:, None] | is_asked[None, :])
    search = PointTriangleSearch(skins, at)
    search.may_touch = meets
    search.gather(at)
    rows = [_nearest_triangles(skins, at, piece, *pair) for pair in search.pairs if len(pair[0])]
    if not rows:
        return np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0)
    point, triangle, depth = (np.concatenate(of) for of in zip(*rows, strict=True))
    id = skins.skin_of_triangle[triangle].astype(np.int64) * skins.vertex_count + point
    order = np.argsort(id, kind="stable")
    return id[order], triangle[order], depth[order]


def _nearest_triangles(
    skins: CollisionSurfaces, at: Floats, piece: Indices, point: Indices, triangle: Indices
) -> tuple[Indices, Indices, Floats]:
    out, found, depth = np.empty_like(point), np.empty_like(triangle), np.empty(len(point))
    count = fill_backside_points(
        point, triangle, at, piece, skins.size, skins.triangles, skins.skin_of_triangle, skins.is_one_sided, out, found,
        depth,
    )  # fmt: skip
    return out[:count], found[:count], depth[:count]


@kernel()
def fill_backside_points(
    pair_point, pair_triangle, at, piece, size, triangles, skin_of_triangle, is_one_sided, point_out, triangle_out,
    depth_out,
):  # fmt: skip
    """Writes of every point and skin the nearest triangle if the point is behind it; returns how many there are.

    Of triangles that are as near the one over whose plane the point is farthest tells the side: beside an edge the
    others see it from aside.

    Args:
        pair_point, pair_triangle: Pairs that are looked at, by rising point and skin, (c,) each.
        at: Vertices [m], (v, 3).
        piece, size, triangles, skin_of_triangle, is_one_sided: See `find_backside_points` and `CollisionSurfaces`.
        point_out, triangle_out, depth_out: Out, (c,) each.
    """
    corners, weights, frame = np.empty((1, 9)), np.empty(3), np.empty((3, 3))
    count, begin = 0, 0
    while begin < len(pair_point):
        p, skin = pair_point[begin], skin_of_triangle[pair_triangle[begin]]
        stop = begin
        while stop < len(pair_point) and pair_point[stop] == p and skin_of_triangle[pair_triangle[stop]] == skin:
            stop += 1
        best, height, nearest = np.inf, 0.0, np.int64(-1)
        for c in range(begin, stop):
            t = np.int64(pair_triangle[c])
            if piece[p] >= 0 and piece[p] == piece[triangles[t, 0]]:
                continue
            length = math.sqrt(squared_triangle_distance(p, t, at, triangles, corners, weights))
            if length > best + DISTANCE_TOLERANCE * size[p] or triangle_frame(at, triangles, t, frame):
                continue
            over = height_above_plane(p, t, at, triangles, frame)
            if length < best - DISTANCE_TOLERANCE * size[p] or abs(over) > abs(height):
                height, nearest = over, t
            best = min(best, length)
        if nearest >= 0 and is_one_sided[skin] and height < -MIN_BACKSIDE_DEPTH * size[p]:
            point_out[count], triangle_out[count], depth_out[count] = p, nearest, best
            count += 1
        begin = stop
    return count
