# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds and numbers the points where edges of the surface cross faces of tets, and edges of tets cross triangles.

A face is oriented by its nodes in rising order: its outside is where they are counterclockwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Bools, Floats, Indices, indices
from ..geometry.face_edges import edge_ends, face_edges
from .crossing_predicates import crossing_volumes, find_crossing_rows
from .general_position import PerturbedPoints
from .tet_complex import TetComplex


class SurfaceOutsideTets(Exception):
    """Triangles leave the tets; `triangles` are their numbers."""

    def __init__(self, triangles: npt.NDArray) -> None:
        super().__init__(triangles)
        self.triangles = triangles


class SurfaceEdges(NamedTuple):
    """Edges of the render surface.

    Attributes:
        of_triangle: The edges from corner i to i + 1 of each triangle, (t, 3).
        ends: Their vertices, rising, (s, 2).
        is_ascending: Whether the triangle runs along them from the lower to the higher vertex, (t, 3).
    """

    of_triangle: Indices
    ends: Indices
    is_ascending: Bools


@dataclass(frozen=True)
class Intersections:
    """Triangles and the tets that they meet.

    Points are numbered: vertices of the surface from 0, then points where an edge of the surface
    crosses a face of a tet (`surface_edge`), then points where an edge of a tet crosses a triangle (`tet_edge`).

    Attributes:
        vertex_count: Number of vertices of the surface.
        pair_triangle, pair_tet: Every triangle with every tet that it meets, by triangle, (p,).
        triangle, face: Every triangle with every face of a tet that it crosses, by triangle and face, (r,).
        first, last: The ends of the segment that they share, (r,). Around the part of the triangle on the outside of
            the face, it runs from first to last.
        surface_edge, surface_edge_face: The edge of the surface and the face that it crosses, (a,).
        surface_edge_parameter: Where on the edge, 0 at its lower end, 1 at its upper, (a,).
        tet_edge, tet_edge_triangle: The edge of a tet and the triangle that it crosses, (b,).
        tet_edge_parameter: Where on the edge, 0 at its lower node, 1 at its upper, (b,).
        tet_edge_weights: Where on the triangle, barycentric, (b, 3).
        tet_edge_sign: +1 where the edge goes in, from its lower to its upper node, −1 where it goes out, (b,).
    """

    vertex_count: int
    pair_triangle: Indices
    pair_tet: Indices
    triangle: Indices
    face: Indices
    first: npt.NDArray
    last: npt.NDArray
    surface_edge: Indices
    surface_edge_face: Indices
    surface_edge_parameter: Floats
    tet_edge: Indices
    tet_edge_triangle: Indices
    tet_edge_parameter: Floats
    tet_edge_weights: Floats
    tet_edge_sign: Indices

    @property
    def first_tet_edge_point(self) -> int:
        """The number of the first point where an edge of a tet crosses a triangle."""
        return self.vertex_count + len(self.surface_edge)

    @property
    def point_count(self) -> int:
        """Number of points."""
        return self.first_tet_edge_point + len(self.tet_edge)


def surface_edges(triangles: Indices) -> SurfaceEdges:
    """Returns the edges of a closed surface, (t, 3)."""
    edges = face_edges(triangles)
    of_triangle = edges.edge.reshape(-1, 3).astype(np.int32)
    return SurfaceEdges(of_triangle, edge_ends(triangles, edges), (edges.direction > 0).reshape(-1, 3))


def find_intersections(
    points: PerturbedPoints, whole: TetComplex, triangles: Indices, edges: SurfaceEdges, vertex_tet: Indices
) -> Intersections:
    """Returns where triangles and tets cross, found by following every triangle from the tets of its corners.

    Args:
        points: Nodes and vertices in general position.
        whole: The tets.
        triangles: The surface, (t, 3).
        edges: Its edges.
        vertex_tet: The tet that holds each vertex, (v,).

    Raises:
        SurfaceOutsideTets: Triangles leave the tets.
    """
    tet_count, face_count = len(whole.tets), len(whole.face_nodes)
    pairs = np.unique((np.arange(len(triangles), dtype=np.int64)[:, None] * tet_count + vertex_tet[triangles]).ravel())
    met = [np.zeros(0, np.int64)]
    # a triangle in one tet crosses nothing
    own = vertex_tet[triangles]
    new = pairs[~(own == own[:, :1]).all(axis=1)[pairs // tet_count]]
    tried = np.zeros(0, np.int64)
    while len(new):
        ask = np.unique((new // tet_count)[:, None] * face_count + whole.tet_faces[new % tet_count])
        ask = _set_difference(ask, tried)
        tried = np.union1d(tried, ask)
        crossed = ask[find_crossing_rows(points, whole, triangles, ask // face_count, ask % face_count)]
        met.append(crossed)
        beyond = whole.face_tets[crossed % face_count]
        if (beyond < 0).any():
            raise SurfaceOutsideTets(np.unique(crossed[(beyond < 0).any(axis=1)] // face_count))
        new = _set_difference(np.unique((crossed // face_count)[:, None] * tet_count + beyond), pairs)
        pairs = np.union1d(pairs, new)
    rows = np.sort(np.concatenate(met))
    return _number_intersections(points, whole, triangles, edges, pairs, rows // face_count, rows % face_count)


def _set_difference(keys: npt.NDArray, known: npt.NDArray) -> npt.NDArray:
    """Returns those of rising keys that are not among other rising keys."""
    if not len(known):
        return keys
    place = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return keys[known[place] != keys]


class _SegmentEnds(NamedTuple):
    """Ends of segments of one kind; each point is an end of two segments or more.

    Attributes:
        row: Segment of each end, (e,).
        is_first: Whether it is the segment's first point, (e,).
        number: Its point, (e,).
        place: An end of each point, (q,).
        at: Where on its edge, from the lower end to the upper, (e,).
        names: Edge times the number of things it may cross, plus what it crosses, of each point, (q,).
    """

    row: npt.NDArray
    is_first: Bools
    number: npt.NDArray
    place: npt.NDArray
    at: Floats
    names: npt.NDArray


def _number_ends(
    row: npt.NDArray, name: npt.NDArray, here: Floats, there: Floats, is_first: Bools, runs_up: Bools
) -> _SegmentEnds:
    """Numbers points from 0; `here` and `there` are the heights of the ends of an edge above what it crosses."""
    names, place, number = np.unique(name, return_index=True, return_inverse=True)
    along = here / (here - there)
    return _SegmentEnds(row, is_first, number.ravel(), place, np.where(runs_up, along, 1.0 - along), names)


def _number_intersections(
    points: PerturbedPoints,
    whole: TetComplex,
    triangles: Indices,
    edges: SurfaceEdges,
    pairs: npt.NDArray,
    triangle: npt.NDArray,
    face: npt.NDArray,
) -> Intersections:
    """Numbers the ends of all segments, each point once."""
    found = crossing_volumes(points, whole, triangles, triangle, face)
    vertex_count = len(points.positions) - points.node_count
    tet_count, face_count, triangle_count = len(whole.tets), len(whole.face_nodes), len(triangles)

    row, i = np.nonzero(found.surface_edge_crosses)
    name = edges.of_triangle[triangle[row], i].astype(np.int64) * face_count + face[row]
    here, there = found.corner_volume[row, i], found.corner_volume[row, (i + 1) % 3]
    # first where the edge goes out, from below the face, which is its inside
    of_surface_edges = _number_ends(row, name, here, there, here < 0, edges.is_ascending[triangle[row], i])

    row, j = np.nonzero(found.tet_edge_crosses)
    name = whole.face_edges[face[row], j].astype(np.int64) * triangle_count + triangle[row]
    here, there = found.node_volume[row, j], found.node_volume[row, (j + 1) % 3]
    is_up = j < 2  # the third edge runs from node 2 to node 0
    of_tet_edges = _number_ends(row, name, here, there, here > 0, is_up)
    weights = np.roll(np.abs(found.edge_volume[row, j]), -1, axis=1)[
        of_tet_edges.place
    ]  # edge 1 2 is opposite to corner 0

    ends = np.full((2, len(triangle)), -1, np.int64)
    ends[1 - of_surface_edges.is_first.astype(np.int64), of_surface_edges.row] = vertex_count + of_surface_edges.number
    ends[1 - of_tet_edges.is_first.astype(np.int64), of_tet_edges.row] = (
        vertex_count + len(of_surface_edges.names) + of_tet_edges.number
    )
    assert (ends >= 0).all()
    return Intersections(
        vertex_count,
        indices(pairs // tet_count),
        indices(pairs % tet_count),
        indices(triangle),
        indices(face),
        ends[0],
        ends[1],
        indices(of_surface_edges.names // face_count),
        indices(of_surface_edges.names % face_count),
        of_surface_edges.at[of_surface_edges.place],
        indices(of_tet_edges.names // triangle_count),
        indices(of_tet_edges.names % triangle_count),
        of_tet_edges.at[of_tet_edges.place],
        weights / weights.sum(axis=1, keepdims=True),
        indices(np.where(of_tet_edges.is_first == is_up, 1, -1)[of_tet_edges.place]),
    )
