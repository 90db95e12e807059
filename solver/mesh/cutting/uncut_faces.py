# SPDX-License-Identifier: GPL-3.0-or-later
"""Faces of the render mesh that no crack touches: they stay whole, with corners on sides whose neighbour was cut."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Bools, Indices
from .polygons import SURFACE_EDGE_SIDE, Polygons, side_names, unpack_side_names
from .surface_tet_intersections import SurfaceEdges


def uncut_faces(
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
    triangle, corner, size, _, _ = face_outlines(triangles, edges, is_cut, face_of_triangle)
    edge, runs_up = edges.of_triangle[triangle, corner], edges.is_ascending[triangle, corner]
    point = triangles[triangle, corner].astype(np.int64)
    extra_count, extra = _points_beside_cuts(fragments, edges, edge, runs_up)
    # every side's first corner, then the points on it
    repeated = np.repeat(np.arange(len(point), dtype=np.int64), 1 + extra_count)
    is_vertex = np.concatenate([[True], repeated[1:] != repeated[:-1]]) if len(repeated) else np.zeros(0, np.bool_)
    points = np.empty(len(repeated), np.int64)
    points[is_vertex], points[~is_vertex] = point, extra
    polygon = np.repeat(np.arange(len(size), dtype=np.int64), size)[repeated]
    # the lower end of a part is its own first point where the triangle runs up, else the point that follows
    after = np.roll(points, -1)
    last = (
        np.flatnonzero(np.concatenate([polygon[1:] != polygon[:-1], [True]])) if len(polygon) else np.zeros(0, np.int64)
    )
    start = np.concatenate([[0], last[:-1] + 1])[: len(last)]
    after[last] = points[start]
    lower = np.where(runs_up[repeated], points, after)
    return Polygons(
        np.bincount(polygon, minlength=len(size)),
        points,
        side_names(SURFACE_EDGE_SIDE, edge[repeated], lower),
        np.where(is_vertex, vertex_tet[np.where(is_vertex, points, 0)], -1),
        triangle[repeated],
        vertex_tet[points[start]],
        face_of_triangle[triangle[repeated[start]]],
        np.full(len(size), -1, np.int64),
    )


class FaceOutlines(NamedTuple):
    """Sides of faces, round each face.

    Attributes:
        triangle, corner: Each side, (h,).
        size: Number of sides of each face, (g,).
        is_polygon: Whether they are one loop that uses all corners of the face's triangles, (g,).
        group: Name of each face, (g,).
    """

    triangle: npt.NDArray
    corner: npt.NDArray
    size: npt.NDArray
    is_polygon: Bools
    group: npt.NDArray


def face_outlines(triangles: Indices, edges: SurfaceEdges, is_cut: Bools, face_of_triangle: Indices) -> FaceOutlines:
    """Returns the outlines of whole faces; triangles of cut faces, and of faces that are no polygons, stand alone."""
    kept = np.flatnonzero(~is_cut)
    alone = int(face_of_triangle.max(initial=0)) + 1 + np.arange(len(triangles), dtype=np.int64)
    group = np.where(np.isin(face_of_triangle, face_of_triangle[is_cut]), alone, face_of_triangle)
    found = _ordered_outlines(triangles, edges, group, kept)
    is_polygon = np.isin(group, found.group[found.is_polygon])
    if is_polygon[kept].all():
        return found
    return _ordered_outlines(triangles, edges, np.where(is_polygon, group, alone), kept)


def _ordered_outlines(triangles: Indices, edges: SurfaceEdges, group: npt.NDArray, kept: npt.NDArray) -> FaceOutlines:
    """Returns the sides between triangles of different groups in the order in which they follow each other."""
    beside = np.zeros((len(edges.ends), 2), np.int64)
    beside[edges.of_triangle, edges.is_ascending.astype(np.int64)] = group[:, None]
    is_outer = (beside[:, 0] != beside[:, 1])[edges.of_triangle[kept]]
    row, corner = np.nonzero(is_outer)
    triangle = kept[row]
    names, owner, size = np.unique(group[triangle], return_inverse=True, return_counts=True)
    owner = owner.ravel()
    begin, end = triangles[triangle, corner], triangles[triangle, (corner + 1) % 3]
    vertex_count = int(triangles.max(initial=0)) + 1
    key, wanted = owner * vertex_count + begin, owner * vertex_count + end
    by_begin = np.argsort(key, kind="stable")
    place = np.minimum(np.searchsorted(key[by_begin], wanted), max(len(key) - 1, 0))
    follows = by_begin[place]
    offset = np.cumsum(size, dtype=np.int64) - size
    at = np.argsort(owner, kind="stable")[offset]
    order = np.empty(len(triangle), np.int64)
    for step in range(int(size.max(initial=0))):
        there = step < size
        order[(offset + step)[there]] = at[there]
        at = np.where(there, follows[at], at)
    has_outline = np.isin(group[kept], names)
    is_polygon = np.bincount(np.searchsorted(names, group[kept[has_outline]]), minlength=len(names)) == size - 2
    is_polygon[owner[key[follows] != wanted]] = False
    visits = np.bincount(order, minlength=len(order))
    is_polygon[owner[visits != 1]] = False
    return FaceOutlines(triangle[order], corner[order], size, is_polygon, names)


def _points_beside_cuts(
    fragments: Polygons, edges: SurfaceEdges, edge: npt.NDArray, runs_up: npt.NDArray
) -> tuple[npt.NDArray, npt.NDArray]:
    """Returns how many points a cut neighbour has on each side, and those of all sides, in the sides' directions.

    The parts of an edge are followed from its lower vertex, from tet to tet.
    """
    kind, on_edge, lower = unpack_side_names(fragments.side)
    is_part = kind == SURFACE_EDGE_SIDE
    on_edge, lower = on_edge[is_part], lower[is_part]
    upper = (fragments.point + fragments.point[fragments.next_corner])[is_part] - lower
    size = int(max(lower.max(initial=0), upper.max(initial=0), edges.ends.max(initial=0))) + 1
    key, first = np.unique(on_edge * size + lower, return_index=True)
    at = edges.ends[edge, 0].astype(np.int64)
    found: list[tuple[npt.NDArray, npt.NDArray]] = []
    active = np.arange(len(edge), dtype=np.int64) if len(key) else np.zeros(0, np.int64)
    while len(active):
        wanted = edge[active].astype(np.int64) * size + at[active]
        place = np.minimum(np.searchsorted(key, wanted), len(key) - 1)
        at[active] = np.where(key[place] == wanted, upper[first[place]], edges.ends[edge[active], 1])
        active = active[at[active] != edges.ends[edge[active], 1]]
        found.append((active, at[active]))
    side = np.concatenate([np.zeros(0, np.int64), *(each for each, _ in found)])
    point = np.concatenate([np.zeros(0, np.int64), *(each for _, each in found)])
    step = np.repeat(np.arange(len(found), dtype=np.int64), [len(each) for each, _ in found])
    order = np.lexsort((np.where(runs_up[side], step, -step), side))
    return np.bincount(side, minlength=len(edge)), point[order]
