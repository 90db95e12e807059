# SPDX-License-Identifier: GPL-3.0-or-later
"""The one tet that holds each render vertex, in general position."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Floats, Indices
from ..embedding import closest_tets
from .general_position import PerturbedPoints
from .tet_complex import TetComplex

MAX_WALK_STEPS = 8  # from a tet that holds a vertex to round-off, it is one or two to the tet that holds it exactly


def find_vertex_tets(points: PerturbedPoints, whole: TetComplex) -> Indices:
    """Returns the tet of each vertex, −1 where none holds it, (v,)."""
    count = points.node_count
    places = points.positions[count:]
    used = np.unique(whole.tets)
    number = np.zeros(count, np.int32)
    number[used] = np.arange(len(used), dtype=np.int64)
    tet = closest_tets(points.positions[used], number[whole.tets], places).tet.copy()
    astray = np.arange(len(tet), dtype=np.int64)
    for _ in range(MAX_WALK_STEPS):
        heights = _face_heights(points, whole, astray, tet[astray])
        outside = heights.max(axis=1) > 0
        astray, heights = astray[outside], heights[outside]
        if not len(astray):
            return tet
        worst = heights.argmax(axis=1)
        here = tet[astray]
        beyond = whole.face_tets[whole.tet_faces[here, worst], 1 - whole.tet_sides[here, worst]]
        tet[astray] = np.where(beyond >= 0, beyond, here)
    for vertex in astray:
        tet[vertex] = _find_by_search(points, whole, int(vertex))
    return tet


def _face_heights(points: PerturbedPoints, whole: TetComplex, vertices: npt.NDArray, tets: npt.NDArray) -> Floats:
    """Returns how far vertices lie outside of the faces of tets: volumes with an exact sign, > 0 outside, (k, 4)."""
    a, b, c = (whole.face_nodes[whole.tet_faces[tets]][..., k] for k in range(3))
    above = points.signed_volumes(a, b, c, (vertices + points.node_count)[:, None])
    return above * (1 - 2 * whole.tet_sides[tets])


def _find_by_search(points: PerturbedPoints, whole: TetComplex, vertex: int) -> int:
    """Returns the tet that holds a vertex, −1 where none does."""
    place = points.positions[points.node_count + vertex]
    corner = points.positions[whole.tets]
    near = np.flatnonzero(((corner.min(axis=1) <= place) & (corner.max(axis=1) >= place)).all(axis=1))
    inside = (_face_heights(points, whole, np.full(len(near), vertex, np.int64), near) < 0).all(axis=1)
    return int(near[inside][0]) if inside.any() else -1
