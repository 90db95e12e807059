# SPDX-License-Identifier: GPL-3.0-or-later
"""Glues polygons side to side: the vertices are what corners become one by that."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..geometry.connected_components import connected_components
from .polygons import NotWatertight, Polygons


def paired_sides(polygons: Polygons) -> tuple[npt.NDArray, npt.NDArray]:
    """Returns the two sides of each name, each as the corner it leaves, (s,).

    Raises:
        NotWatertight: A name stands on one side only, or on more than two, or both sides run the same way.
    """
    order = np.argsort(polygons.side, kind="stable")
    a, b = order[::2], order[1::2]
    if len(order) % 2 or (polygons.side[a] != polygons.side[b]).any() or (a.size and _has_repeats(polygons.side[a])):
        raise NotWatertight
    after = polygons.next_corner
    if (polygons.point[a] != polygons.point[after[b]]).any() or (polygons.point[b] != polygons.point[after[a]]).any():
        raise NotWatertight
    return a, b


def _has_repeats(rising: npt.NDArray) -> bool:
    return bool((rising[1:] == rising[:-1]).any())


def glue_corners(polygons: Polygons, a: npt.NDArray, b: npt.NDArray) -> npt.NDArray:
    """Returns the vertex of each corner, (c,), numbered in the order of first corners.

    Since corners become one across sides only, every vertex has one fan of polygons around it.
    """
    after = polygons.next_corner
    count = len(polygons.point)
    ends = np.concatenate([a, after[a]]), np.concatenate([after[b], b])
    _, first, number = np.unique(connected_components(*ends, count), return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first), dtype=np.int64)
    return rank[number.ravel()]
