# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of a triangle in a tet: a convex polygon, put together without looking at positions.

Its corners lie on two of seven lines each: the three edges of the triangle and its segments on the four faces of the
tet. Each line has two corners or none, and a direction; so the polygon is the chain in which each line begins where
another ends.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Bools, Indices
from .polygons import BROKEN_FACE_SIDE, INNER_FACE_SIDE, SURFACE_EDGE_SIDE, NotWatertight, Polygons, side_names
from .surface_tet_intersections import Intersections, SurfaceEdges
from .tet_complex import TetComplex

LINES = 7


def make_fragments(
    crossings: Intersections,
    whole: TetComplex,
    triangles: Indices,
    edges: SurfaceEdges,
    vertex_tet: Indices,
    is_cut: Bools,
    is_parted: Bools,
    face_of_triangle: Indices,
) -> Polygons:
    """Returns the parts of cut triangles, one for each tet that they meet.

    Args:
        crossings: All triangles with all tets.
        whole: The tets.
        triangles: The surface, (t, 3).
        edges: Its edges.
        vertex_tet: The tet of each vertex, (v,).
        is_cut: Which triangles cross a parted face, (t,).
        is_parted: Which faces of tets have parted, (f,).
        face_of_triangle: Face of the render mesh, (t,).
    """
    kept = is_cut[crossings.pair_triangle]
    triangle, tet = crossings.pair_triangle[kept], crossings.pair_tet[kept]
    first, last, row = _segments(crossings, whole, triangle, tet)
    corner_here = np.where(vertex_tet[triangles[triangle]] == tet[:, None], triangles[triangle], -1)
    begin, end = _edge_parts(crossings, edges, triangle, corner_here, first, last)
    first, last = np.concatenate([begin, first], axis=1), np.concatenate([end, last], axis=1)
    runs_up = edges.is_ascending[triangle]
    names = np.empty(first.shape, np.int64)
    lower_end = np.where(runs_up, first[:, :3], last[:, :3])
    names[:, :3] = side_names(SURFACE_EDGE_SIDE, edges.of_triangle[triangle], np.maximum(lower_end, 0))
    is_broken = is_parted[whole.tet_faces[tet]]
    names[:, 3:] = side_names(
        np.where(is_broken, BROKEN_FACE_SIDE, INNER_FACE_SIDE), np.maximum(row, 0), is_broken * whole.tet_sides[tet]
    )
    size, order = _ordered_lines(first, last)
    filled = np.arange(LINES, dtype=np.int64) < size[:, None]
    line = order[filled]
    owner = np.repeat(np.arange(len(triangle), dtype=np.int64), size)
    return Polygons(
        size,
        first[owner, line],
        names[owner, line],
        tet[owner],
        triangle[owner],
        tet,
        face_of_triangle[triangle],
        np.full(len(size), -1, np.int64),
    )


def _segments(
    crossings: Intersections, whole: TetComplex, triangle: npt.NDArray, tet: npt.NDArray
) -> tuple[npt.NDArray, npt.NDArray, npt.NDArray]:
    """Returns first and last point and number of the crossing with each face of the tet, −1 where none, (p, 4)."""
    size = len(whole.face_nodes)
    known = crossings.triangle.astype(np.int64) * size + crossings.face
    wanted = triangle.astype(np.int64)[:, None] * size + whole.tet_faces[tet]
    row = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    row = np.where(known[row] == wanted, row, -1)
    turned = whole.tet_sides[tet] == 1
    first = np.where(turned, crossings.last[row], crossings.first[row])
    last = np.where(turned, crossings.first[row], crossings.last[row])
    return np.where(row >= 0, first, -1), np.where(row >= 0, last, -1), row


def _edge_parts(
    crossings: Intersections,
    edges: SurfaceEdges,
    triangle: npt.NDArray,
    corner_here: npt.NDArray,
    first: npt.NDArray,
    last: npt.NDArray,
) -> tuple[npt.NDArray, npt.NDArray]:
    """Returns where each edge of the triangle begins and ends in the tet, −1 where it is not there, (p, 3).

    Where a segment on a face ends, the edge comes in; where a segment begins, it goes out.

    Args:
        crossings: All triangles with all tets.
        edges: Edges of the surface.
        triangle: Triangle of each part, (p,).
        corner_here: Its corners that lie in the tet, −1 for others, (p, 3).
        first, last: Ends of the segments on the faces, −1 where none, (p, 4).
    """
    begin = corner_here.astype(np.int64)
    end = np.roll(begin, -1, axis=1)
    for points, filled in ((last, begin), (first, end)):
        is_through = (points >= crossings.vertex_count) & (points < crossings.first_tet_edge_point)
        part, _ = np.nonzero(is_through)
        point = points[is_through]
        on_edge = crossings.surface_edge[point - crossings.vertex_count]
        slot = np.argmax(edges.of_triangle[triangle[part]] == on_edge[:, None], axis=1)
        filled[part, slot] = point
    return begin, end


def _ordered_lines(first: npt.NDArray, last: npt.NDArray) -> tuple[npt.NDArray, npt.NDArray]:
    """Returns how many lines each polygon has, (p,), and the lines in order, (p, 7)."""
    rows = np.arange(len(first), dtype=np.int64)
    follows = np.argmax(last[:, :, None] == first[:, None, :], axis=2)
    is_there = first >= 0
    size = is_there.sum(axis=1)
    order = np.zeros(first.shape, np.int64)
    order[:, 0] = np.argmax(is_there, axis=1)
    for step in range(1, LINES):
        order[:, step] = follows[rows, order[:, step - 1]]
    closing = follows[rows, order[rows, np.maximum(size - 1, 0)]]
    if (closing != order[:, 0]).any() or ((last >= 0) != is_there).any() or (size < 3).any():
        raise NotWatertight
    return size, order
