# SPDX-License-Identifier: GPL-3.0-or-later
"""Where triangles cross faces of tets: every point registered once, as an edge of the one in the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..arrays import Bools, Floats, Indices
from ..geometry.welding import sides
from .general_position import Points
from .tet_complex import TetComplex


class NotCovered(Exception):
    """Triangles leave the tets; `triangles` are their numbers."""

    def __init__(self, triangles: npt.NDArray) -> None:
        super().__init__(triangles)
        self.triangles = triangles


class SurfaceEdges(NamedTuple):
    """Edges of the render surface.

    Attributes:
        of_triangle: The edges from corner i to i + 1 of each triangle, (t, 3).
        ends: Their vertices, rising, (s, 2).
        runs_up: Whether the triangle runs along them upwards, (t, 3).
    """

    of_triangle: Indices
    ends: Indices
    runs_up: Bools


@dataclass(frozen=True)
class Crossings:
    """Triangles and the tets that they meet.

    Points are numbered: vertices of the surface from 0, then edges of the surface with faces of tets (`through`),
    then edges of tets with triangles (`pierced`).

    Attributes:
        pair_triangle, pair_tet: Every triangle with every tet that it meets, by triangle, (p,).
        triangle, face: Every triangle with every face of a tet that it crosses, by triangle and face, (r,).
        first, last: The ends of the segment that they share; round the triangle's part on that side of the face where
            the rising face looks from outside, it runs from first to last, (r,).
        through_edge, through_face: Edge of the surface and face of a tet of the points of that kind, (a,).
        through_at: Where on the edge, 0 at its lower end, 1 at its upper, (a,).
        pierced_edge, pierced_triangle: Edge of a tet and triangle of the points of that kind, (b,).
        pierced_at: Where on the edge, 0 at its lower node, 1 at its upper, (b,).
        pierced_weights: Where on the triangle, barycentric, (b, 3).
        pierced_sign: +1 where the edge goes in, from its lower to its upper node, −1 where it goes out, (b,).
    """

    vertex_count: int
    pair_triangle: Indices
    pair_tet: Indices
    triangle: Indices
    face: Indices
    first: npt.NDArray
    last: npt.NDArray
    through_edge: Indices
    through_face: Indices
    through_at: Floats
    pierced_edge: Indices
    pierced_triangle: Indices
    pierced_at: Floats
    pierced_weights: Floats
    pierced_sign: Indices

    @property
    def first_pierced(self) -> int:
        """The number of the first point that is an edge of a tet with a triangle."""
        return self.vertex_count + len(self.through_edge)

    @property
    def point_count(self) -> int:
        """Number of points."""
        return self.first_pierced + len(self.pierced_edge)


def surface_edges(triangles: Indices) -> SurfaceEdges:
    """Returns the edges of a closed surface, (t, 3)."""
    edges = sides(triangles)
    ends = np.empty((edges.count, 2), np.int32)
    both = np.sort(np.stack([triangles.ravel(), np.roll(triangles, -1, axis=1).ravel()], axis=1), axis=1)
    ends[edges.edge] = both
    of_triangle = edges.edge.reshape(-1, 3).astype(np.int32)
    return SurfaceEdges(of_triangle, ends, (edges.direction > 0).reshape(-1, 3))


def find_crossings(
    points: Points, whole: TetComplex, triangles: Indices, edges: SurfaceEdges, vertex_tet: Indices
) -> Crossings:
    """Follows every triangle from the tets of its corners through the faces that it crosses.

    Args:
        points: Nodes and vertices in general position.
        whole: The tets.
        triangles: The surface, (t, 3).
        edges: Its edges.
        vertex_tet: The tet that holds each vertex, (v,).

    Raises:
        NotCovered: Triangles leave the tets.
    """
    tet_count, face_count = len(whole.tets), len(whole.face_nodes)
    pairs = np.unique((np.arange(len(triangles))[:, None] * tet_count + vertex_tet[triangles]).ravel())
    met = [np.zeros(0, np.int64)]
    # a triangle in one tet crosses nothing
    own = vertex_tet[triangles]
    new = pairs[~(own == own[:, :1]).all(axis=1)[pairs // tet_count]]
    tried = np.zeros(0, np.int64)
    while len(new):
        ask = np.unique((new // tet_count)[:, None] * face_count + whole.tet_faces[new % tet_count])
        ask = _without(ask, tried)
        tried = np.union1d(tried, ask)
        crossed = ask[_meets(points, whole, triangles, ask // face_count, ask % face_count)]
        met.append(crossed)
        beyond = whole.face_tets[crossed % face_count]
        if (beyond < 0).any():
            raise NotCovered(np.unique(crossed[(beyond < 0).any(axis=1)] // face_count))
        new = _without(np.unique((crossed // face_count)[:, None] * tet_count + beyond), pairs)
        pairs = np.union1d(pairs, new)
    rows = np.sort(np.concatenate(met))
    return _register(points, whole, triangles, edges, pairs, rows // face_count, rows % face_count)


def _without(keys: npt.NDArray, known: npt.NDArray) -> npt.NDArray:
    """Returns those of rising keys that are not among other rising keys."""
    if not len(known):
        return keys
    place = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return keys[known[place] != keys]


class _Sides(NamedTuple):
    """How triangles lie to faces: six volumes whose signs say all.

    Attributes:
        corner: Corner i of the triangle above the rising face, (r, 3).
        node: Node j of the face above the triangle, (r, 3).
        line: Edge j of the face (see `TetComplex.face_edges`) against edge i of the triangle, (r, 3, 3).
    """

    corner: Floats
    node: Floats
    line: Floats

    @property
    def through(self) -> Bools:
        """Which edges of the triangle cross the face, (r, 3)."""
        apart = (self.corner > 0) != (np.roll(self.corner, -1, axis=1) > 0)
        return np.asarray(apart & _all_alike(self.line > 0, 1))

    @property
    def pierced(self) -> Bools:
        """Which edges of the face cross the triangle, (r, 3)."""
        apart = (self.node > 0) != (np.roll(self.node, -1, axis=1) > 0)
        return np.asarray(apart & _all_alike(self.line > 0, 2))


def _all_alike(is_positive: Bools, axis: int) -> Bools:
    return np.asarray(is_positive.all(axis=axis) | ~is_positive.any(axis=axis))


def _corner_sides(
    points: Points, whole: TetComplex, triangles: Indices, triangle: npt.NDArray, face: npt.NDArray
) -> Floats:
    a, b, c = (whole.face_nodes[face][:, [k]] for k in range(3))
    return points.volumes(a, b, c, triangles[triangle] + points.node_count)


def _node_sides(
    points: Points, whole: TetComplex, triangles: Indices, triangle: npt.NDArray, face: npt.NDArray
) -> Floats:
    x, y, z = (triangles[triangle][:, [k]] + points.node_count for k in range(3))
    return points.volumes(x, y, z, whole.face_nodes[face])


def _lines(points: Points, whole: TetComplex, triangles: Indices, triangle: npt.NDArray, face: npt.NDArray) -> Floats:
    p = whole.face_nodes[face][:, :, None]
    x = triangles[triangle][:, None, :] + points.node_count
    return points.volumes(p, np.roll(p, -1, axis=1), x, np.roll(x, -1, axis=2))


def _meets(
    points: Points, whole: TetComplex, triangles: Indices, triangle: npt.NDArray, face: npt.NDArray
) -> npt.NDArray:
    """Returns the places in the lists where the triangle crosses the face."""
    corner = _corner_sides(points, whole, triangles, triangle, face)
    keep = np.flatnonzero(~_all_alike(corner > 0, 1))
    node = _node_sides(points, whole, triangles, triangle[keep], face[keep])
    both = ~_all_alike(node > 0, 1)
    keep, node = keep[both], node[both]
    line = _lines(points, whole, triangles, triangle[keep], face[keep])
    found = _Sides(corner[keep], node, line)
    ends = found.through.sum(axis=1) + found.pierced.sum(axis=1)
    assert ((ends == 0) | (ends == 2)).all()
    return keep[ends == 2]


def _register(
    points: Points,
    whole: TetComplex,
    triangles: Indices,
    edges: SurfaceEdges,
    pairs: npt.NDArray,
    triangle: npt.NDArray,
    face: npt.NDArray,
) -> Crossings:
    """Numbers the ends of all segments, each point once."""
    arguments = (points, whole, triangles, triangle, face)
    found = _Sides(_corner_sides(*arguments), _node_sides(*arguments), _lines(*arguments))
    vertex_count = len(points.positions) - points.node_count
    face_count, triangle_count = len(whole.face_nodes), len(triangles)

    row, i = np.nonzero(found.through)
    key = edges.of_triangle[triangle[row], i].astype(np.int64) * face_count + face[row]
    through, place, number = np.unique(key, return_index=True, return_inverse=True)
    through_number = number.ravel() + vertex_count
    here, there = found.corner[row, i], found.corner[row, (i + 1) % 3]
    leaves = here < 0  # from below the rising face, its inside
    along = here / (here - there)
    through_at = np.where(edges.runs_up[triangle[row], i], along, 1.0 - along)[place]

    row2, j = np.nonzero(found.pierced)
    key = whole.face_edges[face[row2], j].astype(np.int64) * triangle_count + triangle[row2]
    pierced, place, number = np.unique(key, return_index=True, return_inverse=True)
    pierced_number = number.ravel() + vertex_count + len(through)
    here, there = found.node[row2, j], found.node[row2, (j + 1) % 3]
    enters = here > 0
    along = here / (here - there)
    is_up = j < 2  # the third edge runs from node 2 to node 0
    weights = np.roll(np.abs(found.line[row2, j]), -1, axis=1)  # edge 1 2 is opposite to corner 0
    weights /= weights.sum(axis=1, keepdims=True)

    first, last = np.full(len(triangle), -1), np.full(len(triangle), -1)
    first[row[leaves]], last[row[~leaves]] = through_number[leaves], through_number[~leaves]
    first[row2[enters]], last[row2[~enters]] = pierced_number[enters], pierced_number[~enters]
    assert (first >= 0).all() and (last >= 0).all()
    tet_count = len(whole.tets)
    return Crossings(
        vertex_count,
        (pairs // tet_count).astype(np.int32),
        (pairs % tet_count).astype(np.int32),
        triangle.astype(np.int32),
        face.astype(np.int32),
        first,
        last,
        (through // face_count).astype(np.int32),
        (through % face_count).astype(np.int32),
        through_at,
        (pierced // triangle_count).astype(np.int32),
        (pierced % triangle_count).astype(np.int32),
        np.where(is_up, along, 1.0 - along)[place],
        weights[place],
        np.where(enters == is_up, 1, -1)[place].astype(np.int32),
    )
