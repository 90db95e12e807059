# SPDX-License-Identifier: GPL-3.0-or-later
"""How a triangle lies to a face of a tet: the signs of fifteen volumes say whether and where they cross."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Bools, Floats, Indices
from .general_position import PerturbedPoints
from .tet_complex import TetComplex


class TriangleSides(NamedTuple):
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
        return np.asarray(apart & _have_same_sign(self.line > 0, 1))

    @property
    def pierced(self) -> Bools:
        """Which edges of the face cross the triangle, (r, 3)."""
        apart = (self.node > 0) != (np.roll(self.node, -1, axis=1) > 0)
        return np.asarray(apart & _have_same_sign(self.line > 0, 2))


def _have_same_sign(is_positive: Bools, axis: int) -> Bools:
    return np.asarray(is_positive.all(axis=axis) | ~is_positive.any(axis=axis))


def corner_sides(
    points: PerturbedPoints, whole: TetComplex, triangles: Indices, triangle: npt.NDArray, face: npt.NDArray
) -> Floats:
    a, b, c = (whole.face_nodes[face][:, [k]] for k in range(3))
    return points.signed_volumes(a, b, c, triangles[triangle] + points.node_count)


def node_sides(
    points: PerturbedPoints, whole: TetComplex, triangles: Indices, triangle: npt.NDArray, face: npt.NDArray
) -> Floats:
    x, y, z = (triangles[triangle][:, [k]] + points.node_count for k in range(3))
    return points.signed_volumes(x, y, z, whole.face_nodes[face])


def edge_sides(
    points: PerturbedPoints, whole: TetComplex, triangles: Indices, triangle: npt.NDArray, face: npt.NDArray
) -> Floats:
    p = whole.face_nodes[face][:, :, None]
    x = triangles[triangle][:, None, :] + points.node_count
    return points.signed_volumes(p, np.roll(p, -1, axis=1), x, np.roll(x, -1, axis=2))


def find_crossing_rows(
    points: PerturbedPoints, whole: TetComplex, triangles: Indices, triangle: npt.NDArray, face: npt.NDArray
) -> npt.NDArray:
    """Returns the places in the lists where the triangle crosses the face."""
    corner = corner_sides(points, whole, triangles, triangle, face)
    keep = np.flatnonzero(~_have_same_sign(corner > 0, 1))
    node = node_sides(points, whole, triangles, triangle[keep], face[keep])
    both = ~_have_same_sign(node > 0, 1)
    keep, node = keep[both], node[both]
    line = edge_sides(points, whole, triangles, triangle[keep], face[keep])
    found = TriangleSides(corner[keep], node, line)
    ends = found.through.sum(axis=1) + found.pierced.sum(axis=1)
    assert ((ends == 0) | (ends == 2)).all()
    return keep[ends == 2]


def triangle_sides(
    points: PerturbedPoints, whole: TetComplex, triangles: Indices, triangle: npt.NDArray, face: npt.NDArray
) -> TriangleSides:
    """Returns how triangles lie to faces, one to one."""
    arguments = (points, whole, triangles, triangle, face)
    return TriangleSides(corner_sides(*arguments), node_sides(*arguments), edge_sides(*arguments))
