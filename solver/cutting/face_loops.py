# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of a parted face that lies in the material, as closed loops of sides."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..arrays import Bools
from ..geometry.connected import connected
from .crossings import Crossings
from .edge_intervals import Intervals
from .polygons import BROKEN, INTERVAL, NotClosed, side_names
from .tet_complex import TetComplex


class Loops(NamedTuple):
    """Loops round the material on parted faces, counterclockwise where the rising face is seen from outside.

    Attributes:
        face: Parted face of each side, (h,).
        point: Where each side begins, (h,).
        follows: The side that begins where it ends, (h,).
        name: Name of each side for the tets of the two columns of `face_tets`, (h, 2).
    """

    face: npt.NDArray
    point: npt.NDArray
    follows: npt.NDArray
    name: npt.NDArray


def make_loops(whole: TetComplex, crossings: Crossings, intervals: Intervals, is_parted: Bools) -> Loops:
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
    across_name = np.stack([side_names(BROKEN, row, column) for column in (0, 1)], axis=1)

    sector = edge_sectors(whole, is_parted)
    parted = np.flatnonzero(is_parted)
    by_edge = np.argsort(intervals.edge, kind="stable")
    on_edge = intervals.edge[by_edge]
    corner_edges = whole.face_edges[parted].ravel()
    begin = np.searchsorted(on_edge, corner_edges)
    count = np.searchsorted(on_edge, corner_edges, side="right") - begin
    place = np.repeat(begin - (np.cumsum(count, dtype=np.int64) - count), count) + np.arange(
        count.sum(), dtype=np.int64
    )
    interval = by_edge[place]
    owner = np.repeat(np.arange(3 * len(parted), dtype=np.int64), count)
    face, j = parted[owner // 3], owner % 3
    goes_up = j < 2  # the third edge runs from node 2 to node 0
    first, last = intervals.first[interval], intervals.last[interval]
    along = (face, np.where(goes_up, first, last), np.where(goes_up, last, first))
    along_name = np.stack(
        [side_names(INTERVAL, interval, sector[whole.face_tets[face, column], _wedge(whole, face, j, column)])
         for column in (0, 1)], axis=1
    )  # fmt: skip
    face, point, end = (np.concatenate(each).astype(np.int64) for each in zip(across, along, strict=True))
    name = np.concatenate([across_name, along_name])
    size = int(max(point.max(initial=0), end.max(initial=0))) + 1
    order = np.argsort(face * size + point, kind="stable")
    keys = (face * size + point)[order]
    place = np.minimum(np.searchsorted(keys, face * size + end), len(keys) - 1)
    if (keys[place] != face * size + end).any() or (keys[1:] == keys[:-1]).any():
        raise NotClosed
    return Loops(face, point, order[place], name)


# The six edges of a tet by the two places of their nodes.
WEDGE = np.full((4, 4), -1, np.int64)
for _number, (_a, _b) in enumerate(((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))):
    WEDGE[_a, _b] = WEDGE[_b, _a] = _number


def _wedge(whole: TetComplex, face: npt.NDArray, j: npt.NDArray, column: int) -> npt.NDArray:
    """Returns which edge of the tet of one column the edge j of a face is, 0 … 5."""
    places = whole.places(column, face)
    rows = np.arange(len(face), dtype=np.int64)
    return np.asarray(WEDGE[places[rows, j], places[rows, (j + 1) % 3]])


def edge_sectors(whole: TetComplex, is_parted: Bools) -> npt.NDArray:
    """Returns a number for each tet and edge, the same where tets hold together all the way around the edge, (m, 6)."""
    joined = np.flatnonzero(whole.is_inner & ~is_parted)
    ends = []
    for column in (0, 1):
        faces, j = np.repeat(joined, 3), np.tile(np.arange(3, dtype=np.int64), len(joined))
        ends.append(6 * whole.face_tets[faces, column] + _wedge(whole, faces, j, column))
    count = 6 * len(whole.tets)
    return connected(ends[0], ends[1], count).reshape(-1, 6)
