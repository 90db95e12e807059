# SPDX-License-Identifier: GPL-3.0-or-later
"""Predicates of whether and where a triangle crosses a face of a tet, by the signs of fifteen volumes.

The volumes are those of tets of points of both: each corner of the triangle with the face (3), each node of the face
with the triangle (3), and each edge of the one with each edge of the other (9). A corner is above the face where it is
on the side from which the face's nodes, in rising order, are counterclockwise.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Bools, Floats, Indices
from .general_position import PerturbedPoints
from .tet_complex import TetComplex


class CrossingVolumes(NamedTuple):
    """Six times the fifteen signed volumes of triangles and faces.

    Attributes:
        corner_volume: Of corner i of the triangle with the face, > 0 above it, (r, 3).
        node_volume: Of node j of the face with the triangle, > 0 above it, (r, 3).
        edge_volume: Of edge j of the face (see `TetComplex.face_edges`) with edge i of the triangle, (r, 3, 3).
    """

    corner_volume: Floats
    node_volume: Floats
    edge_volume: Floats

    @property
    def surface_edge_crosses(self) -> Bools:
        """Which edges of the triangle cross the face, (r, 3)."""
        apart = (self.corner_volume > 0) != (np.roll(self.corner_volume, -1, axis=1) > 0)
        return np.asarray(apart & _have_same_sign(self.edge_volume > 0, 1))

    @property
    def tet_edge_crosses(self) -> Bools:
        """Which edges of the face cross the triangle, (r, 3)."""
        apart = (self.node_volume > 0) != (np.roll(self.node_volume, -1, axis=1) > 0)
        return np.asarray(apart & _have_same_sign(self.edge_volume > 0, 2))


def _have_same_sign(is_positive: Bools, axis: int) -> Bools:
    return np.asarray(is_positive.all(axis=axis) | ~is_positive.any(axis=axis))


def _corner_volumes(
    points: PerturbedPoints, whole: TetComplex, triangles: Indices, triangle: npt.NDArray, face: npt.NDArray
) -> Floats:
    a, b, c = (whole.face_nodes[face][:, [k]] for k in range(3))
    return points.signed_volumes(a, b, c, triangles[triangle] + points.node_count)


def _node_volumes(
    points: PerturbedPoints, whole: TetComplex, triangles: Indices, triangle: npt.NDArray, face: npt.NDArray
) -> Floats:
    x, y, z = (triangles[triangle][:, [k]] + points.node_count for k in range(3))
    return points.signed_volumes(x, y, z, whole.face_nodes[face])


def _edge_volumes(
    points: PerturbedPoints, whole: TetComplex, triangles: Indices, triangle: npt.NDArray, face: npt.NDArray
) -> Floats:
    p = whole.face_nodes[face][:, :, None]
    x = triangles[triangle][:, None, :] + points.node_count
    return points.signed_volumes(p, np.roll(p, -1, axis=1), x, np.roll(x, -1, axis=2))


def find_crossing_rows(
    points: PerturbedPoints, whole: TetComplex, triangles: Indices, triangle: npt.NDArray, face: npt.NDArray
) -> npt.NDArray:
    """Returns the rows of the pairs (triangle, face), (r,) each, in which the triangle crosses the face, rising."""
    corner = _corner_volumes(points, whole, triangles, triangle, face)
    keep = np.flatnonzero(~_have_same_sign(corner > 0, 1))
    node = _node_volumes(points, whole, triangles, triangle[keep], face[keep])
    both = ~_have_same_sign(node > 0, 1)
    keep, node = keep[both], node[both]
    line = _edge_volumes(points, whole, triangles, triangle[keep], face[keep])
    found = CrossingVolumes(corner[keep], node, line)
    ends = found.surface_edge_crosses.sum(axis=1) + found.tet_edge_crosses.sum(axis=1)
    assert ((ends == 0) | (ends == 2)).all()
    return keep[ends == 2]


def crossing_volumes(
    points: PerturbedPoints, whole: TetComplex, triangles: Indices, triangle: npt.NDArray, face: npt.NDArray
) -> CrossingVolumes:
    """Returns the volumes of pairs (triangle, face), (r,) each."""
    arguments = (points, whole, triangles, triangle, face)
    return CrossingVolumes(_corner_volumes(*arguments), _node_volumes(*arguments), _edge_volumes(*arguments))
