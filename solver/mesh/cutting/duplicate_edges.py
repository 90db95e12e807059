# SPDX-License-Identifier: GPL-3.0-or-later
"""Parallel edges (different edges with the same two vertices): all but one are split at their midpoint.

Two polygons that share such vertices would be neighbours by their numbers, though they lie on different edges. It
happens where cuts between the triangles of a broken face fall on each other.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Bools
from .polygons import DIAGONAL_SIDE, Polygons, unpack_side_names


class SplitPolygons(NamedTuple):
    """Polygons with the corners that they needed.

    Attributes:
        polygons: The polygons; the points of new corners are numbered on from those that there were.
        vertex: Vertex of each corner, (c,).
        is_new: Which corners are new; each lies in the middle between its two neighbours, (c,).
        ends: The points between which each new point lies, (q, 2).
    """

    polygons: Polygons
    vertex: npt.NDArray
    is_new: Bools
    ends: npt.NDArray


def parallel_edges(polygons: Polygons, vertex: npt.NDArray, a: npt.NDArray, b: npt.NDArray) -> npt.NDArray:
    """Returns which edges to split at their midpoints, so that no two join the same vertices, (q,).

    Of edges that share their vertices one stays as it is: not one inside a broken face, if there is another.

    Args:
        polygons: All polygons.
        vertex: Vertex of each corner, (c,).
        a, b: The two sides of each edge, as corners, (s,).
    """
    ends = np.sort(np.stack([vertex[a], vertex[b]], axis=1), axis=1)
    key = ends[:, 0] * (int(vertex.max(initial=0)) + 1) + ends[:, 1]
    is_inner = unpack_side_names(polygons.side[a])[0] == DIAGONAL_SIDE
    order = np.lexsort((is_inner, key))
    repeats = np.flatnonzero(key[order][1:] == key[order][:-1]) + 1
    return np.sort(order[repeats])


def split_parallel_edges(
    polygons: Polygons, vertex: npt.NDArray, a: npt.NDArray, b: npt.NDArray, point_count: int
) -> SplitPolygons:
    """Returns polygons in which no two edges have the same two vertices; see `parallel_edges`."""
    chosen = parallel_edges(polygons, vertex, a, b)
    after, start = polygons.next_corner, polygons.start
    corners = np.concatenate([a[chosen], b[chosen]])
    number = np.tile(np.arange(len(chosen), dtype=np.int64), 2)
    ends = np.stack([polygons.point[a[chosen]], polygons.point[after[a[chosen]]]], axis=1)
    order = np.argsort(corners)
    corners, number = corners[order], number[order]
    vertex_count = int(vertex.max(initial=-1)) + 1
    kept = np.insert(np.zeros(len(vertex), np.bool_), corners + 1, True)
    columns = {
        "point": point_count + number,
        "side": polygons.side[corners],
        "corner_tet": np.full(len(corners), -1, np.int64),
        "corner_triangle": polygons.corner_triangle[corners],
    }
    columns = {name: np.insert(getattr(polygons, name), corners + 1, new) for name, new in columns.items()}
    size = polygons.size + np.bincount(np.searchsorted(start, corners, side="right") - 1, minlength=len(polygons.size))
    wider = dataclasses.replace(polygons, size=size, **columns)
    return SplitPolygons(wider, np.insert(vertex, corners + 1, vertex_count + number), kept, ends)
