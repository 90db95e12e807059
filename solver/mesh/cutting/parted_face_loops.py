# SPDX-License-Identifier: GPL-3.0-or-later
"""Closed loops around the material on faces of tets that have parted."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Bools
from ..geometry.connected_components import connected_components
from ..local_tet_numbering import EDGE_ENDS, EDGE_STARTS
from .polygons import BROKEN_FACE_SIDE, TET_EDGE_SIDE, NotWatertight, side_names
from .surface_tet_intersections import Intersections
from .tet_complex import TetComplex
from .tet_edge_intervals import EdgeIntervals

# number of the edge between two nodes of a tet, −1 between a node and itself
EDGE_OF_NODES = np.full((4, 4), -1, np.int64)
EDGE_OF_NODES[EDGE_STARTS, EDGE_ENDS] = EDGE_OF_NODES[EDGE_ENDS, EDGE_STARTS] = range(6)


class FaceLoops(NamedTuple):
    """Loops around the material on parted faces, counterclockwise where the nodes of the face, rising, are so.

    Attributes:
        face: Parted face of each side, (h,).
        point: Where each side begins, (h,).
        next_side: The side that begins where it ends, (h,).
        name: Name of each side for the tets of the two columns of `face_tets`, (h, 2).
    """

    face: npt.NDArray
    point: npt.NDArray
    next_side: npt.NDArray
    name: npt.NDArray


def face_loops(whole: TetComplex, crossings: Intersections, intervals: EdgeIntervals, is_parted: Bools) -> FaceLoops:
    """Returns the loops of all parted faces: segments of triangles, and parts of edges in the material.

    Args:
        whole: The tets.
        crossings: All triangles with all tets.
        intervals: Parts of the edges of parted faces.
        is_parted: Which faces have parted, (f,).
    """
    row = np.flatnonzero(is_parted[crossings.face])
    # round the material of the face a segment runs the other way than round the triangle's part
    across = (crossings.face[row], crossings.last[row], crossings.first[row])
    across_name = np.stack([side_names(BROKEN_FACE_SIDE, row, column) for column in (0, 1)], axis=1)

    sector = edge_sectors(whole, is_parted)
    parted_faces = np.flatnonzero(is_parted)
    by_edge = np.argsort(intervals.edge, kind="stable")
    on_edge = intervals.edge[by_edge]
    corner_edges = whole.face_edges[parted_faces].ravel()
    begin = np.searchsorted(on_edge, corner_edges)
    count = np.searchsorted(on_edge, corner_edges, side="right") - begin
    place = np.repeat(begin - (np.cumsum(count, dtype=np.int64) - count), count) + np.arange(
        count.sum(), dtype=np.int64
    )
    interval = by_edge[place]
    owner = np.repeat(np.arange(3 * len(parted_faces), dtype=np.int64), count)
    face, j = parted_faces[owner // 3], owner % 3
    goes_up = j < 2  # the third edge runs from node 2 to node 0
    first, last = intervals.first[interval], intervals.last[interval]
    along = (face, np.where(goes_up, first, last), np.where(goes_up, last, first))
    along_name = np.stack(
        [
            side_names(
                TET_EDGE_SIDE, interval, sector[whole.face_tets[face, column], _tet_edge_of(whole, face, j, column)]
            )
            for column in (0, 1)
        ],
        axis=1,
    )
    face, point, end = (np.concatenate(each).astype(np.int64) for each in zip(across, along, strict=True))
    name = np.concatenate([across_name, along_name])
    size = int(max(point.max(initial=0), end.max(initial=0))) + 1
    order = np.argsort(face * size + point, kind="stable")
    keys = (face * size + point)[order]
    place = np.minimum(np.searchsorted(keys, face * size + end), len(keys) - 1)
    if (keys[place] != face * size + end).any() or (keys[1:] == keys[:-1]).any():
        raise NotWatertight
    return FaceLoops(face, point, order[place], name)


def _tet_edge_of(whole: TetComplex, face: npt.NDArray, j: npt.NDArray, column: int) -> npt.NDArray:
    """Returns which edge of the tet of one column the edge j of a face is, 0 … 5."""
    places = whole.node_corners(column, face)
    rows = np.arange(len(face), dtype=np.int64)
    return np.asarray(EDGE_OF_NODES[places[rows, j], places[rows, (j + 1) % 3]])


def edge_sectors(whole: TetComplex, is_parted: Bools) -> npt.NDArray:
    """Returns a number for each tet and edge, the same where tets hold together all the way around the edge, (m, 6)."""
    joined = np.flatnonzero(whole.is_inner & ~is_parted)
    ends = []
    for column in (0, 1):
        faces, j = np.repeat(joined, 3), np.tile(np.arange(3, dtype=np.int64), len(joined))
        ends.append(6 * whole.face_tets[faces, column] + _tet_edge_of(whole, faces, j, column))
    count = 6 * len(whole.tets)
    return connected_components(ends[0], ends[1], count).reshape(-1, 6)
