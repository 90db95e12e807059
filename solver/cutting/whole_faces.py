# SPDX-License-Identifier: GPL-3.0-or-later
"""Faces of the render mesh that no crack touches: they stay whole, with corners on sides whose neighbour was cut."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..arrays import Bools, Indices
from .crossings import SurfaceEdges
from .polygons import ALONG_EDGE, Polygons, parts_of, side_names


def make_whole_faces(
    triangles: Indices,
    edges: SurfaceEdges,
    vertex_tet: Indices,
    is_cut: Bools,
    face_of_triangle: Indices,
    fragments: Polygons,
) -> Polygons:
    """Returns the faces without a cut triangle, and the triangles of other faces that are not cut themselves.

    Args:
        triangles: The surface, (t, 3).
        edges: Its edges.
        vertex_tet: The tet of each vertex, (v,).
        is_cut: Which triangles are cut, (t,).
        face_of_triangle: Face of the render mesh, (t,).
        fragments: The parts of cut triangles.
    """
    triangle, corner, size = _outlines(triangles, edges, is_cut, face_of_triangle)
    edge, runs_up = edges.of_triangle[triangle, corner], edges.runs_up[triangle, corner]
    point = triangles[triangle, corner].astype(np.int64)
    extra_count, extra = _points_beside_cuts(fragments, edges, edge, runs_up)
    # every side's first corner, then the points on it
    repeated = np.repeat(np.arange(len(point)), 1 + extra_count)
    is_vertex = np.concatenate([[True], repeated[1:] != repeated[:-1]]) if len(repeated) else np.zeros(0, np.bool_)
    points = np.empty(len(repeated), np.int64)
    points[is_vertex], points[~is_vertex] = point, extra
    polygon = np.repeat(np.arange(len(size)), size)[repeated]
    # the lower end of a part is its own first point where the triangle runs up, else the point that follows
    after = np.roll(points, -1)
    last = np.flatnonzero(np.concatenate([polygon[1:] != polygon[:-1], [True]])) if len(polygon) else np.zeros(0, int)
    start = np.concatenate([[0], last[:-1] + 1])[: len(last)]
    after[last] = points[start]
    lower = np.where(runs_up[repeated], points, after)
    return Polygons(
        np.bincount(polygon, minlength=len(size)),
        points,
        side_names(ALONG_EDGE, edge[repeated], lower),
        np.where(is_vertex, vertex_tet[np.where(is_vertex, points, 0)], -1),
        triangle[repeated],
        vertex_tet[points[start]],
        face_of_triangle[triangle[repeated[start]]],
        np.full(len(size), -1),
    )


def _outlines(
    triangles: Indices, edges: SurfaceEdges, is_cut: Bools, face_of_triangle: Indices
) -> tuple[npt.NDArray, npt.NDArray, npt.NDArray]:
    """Returns the sides of whole faces, as triangle and its corner, round each face, and how many each has."""
    face_cut = np.zeros(int(face_of_triangle.max(initial=-1)) + 1, np.bool_)
    face_cut[face_of_triangle[is_cut]] = True
    is_alone = face_cut[face_of_triangle]
    # triangles of cut faces stand for themselves
    group = np.where(is_alone, face_of_triangle.max(initial=0) + 1 + np.arange(len(triangles)), face_of_triangle)
    beside = np.zeros((len(edges.ends), 2), np.int64)
    beside[edges.of_triangle, edges.runs_up.astype(np.int64)] = group[:, None]
    is_outer = (beside[:, 0] != beside[:, 1])[edges.of_triangle] & ~is_cut[:, None]
    loops = _ordered(triangles, group, is_outer)
    if loops is None:  # a face whose outline is no simple loop: all faces as triangles
        loops = _ordered(triangles, np.arange(len(triangles)), np.repeat(~is_cut[:, None], 3, axis=1))
        assert loops is not None
    return loops


def _ordered(
    triangles: Indices, group: npt.NDArray, is_side: Bools
) -> tuple[npt.NDArray, npt.NDArray, npt.NDArray] | None:
    """Returns sides in the order in which they follow each other round each group; None where one does not close."""
    triangle, corner = np.nonzero(is_side)
    if not len(triangle):
        return triangle, corner, np.zeros(0, np.int64)
    begin, end = triangles[triangle, corner], triangles[triangle, (corner + 1) % 3]
    key = group[triangle].astype(np.int64) * (int(triangles.max()) + 1)
    by_begin = np.argsort(key + begin, kind="stable")
    keys = (key + begin)[by_begin]
    follows = by_begin[np.minimum(np.searchsorted(keys, key + end), len(keys) - 1)]
    if (keys[1:] == keys[:-1]).any() or (begin[follows] != end).any():
        return None
    _, start, size = np.unique(group[triangle], return_index=True, return_counts=True)
    owner = np.repeat(np.arange(len(size)), size)
    offset = np.cumsum(size) - size
    order = np.empty(len(triangle), np.int64)
    at = start.copy()
    for step in range(int(size.max())):
        there = step < size
        order[(offset + step)[there]] = at[there]
        at = np.where(there, follows[at], at)
    if (at != start).any() or len(np.unique(order)) != len(order) or (np.diff(owner) < 0).any():
        return None
    return triangle[order], corner[order], size


def _points_beside_cuts(
    fragments: Polygons, edges: SurfaceEdges, edge: npt.NDArray, runs_up: npt.NDArray
) -> tuple[npt.NDArray, npt.NDArray]:
    """Returns how many points a cut neighbour has on each side, and those of all sides, in the sides' directions.

    The parts of an edge are followed from its lower vertex, from tet to tet.
    """
    kind, on_edge, lower = parts_of(fragments.side)
    is_part = kind == ALONG_EDGE
    on_edge, lower = on_edge[is_part], lower[is_part]
    upper = (fragments.point + fragments.point[fragments.next_corner])[is_part] - lower
    size = int(max(lower.max(initial=0), upper.max(initial=0), edges.ends.max(initial=0))) + 1
    key, first = np.unique(on_edge * size + lower, return_index=True)
    at = edges.ends[edge, 0].astype(np.int64)
    found: list[tuple[npt.NDArray, npt.NDArray]] = []
    active = np.arange(len(edge)) if len(key) else np.zeros(0, np.int64)
    while len(active):
        wanted = edge[active].astype(np.int64) * size + at[active]
        place = np.minimum(np.searchsorted(key, wanted), len(key) - 1)
        at[active] = np.where(key[place] == wanted, upper[first[place]], edges.ends[edge[active], 1])
        active = active[at[active] != edges.ends[edge[active], 1]]
        found.append((active, at[active]))
    side = np.concatenate([np.zeros(0, np.int64), *(each for each, _ in found)])
    point = np.concatenate([np.zeros(0, np.int64), *(each for _, each in found)])
    step = np.repeat(np.arange(len(found)), [len(each) for each, _ in found])
    order = np.lexsort((np.where(runs_up[side], step, -step), side))
    return np.bincount(side, minlength=len(edge)), point[order]
