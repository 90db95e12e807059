# SPDX-License-Identifier: GPL-3.0-or-later
"""Edges that are different but have the same two vertices: they get a vertex in their middle."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .polygons import INNER, Polygons, parts_of


def pinched_pairs(polygons: Polygons, vertex: npt.NDArray, a: npt.NDArray, b: npt.NDArray) -> npt.NDArray:
    """Returns which pairs of sides get a vertex in their middle, so that no two edges join the same vertices, (q,).

    Of edges that share their vertices one stays as it is: not one inside a broken face, if there is another.

    Args:
        polygons: All polygons.
        vertex: Vertex of each corner, (c,).
        a, b: The two sides of each edge, as corners, (s,).
    """
    ends = np.sort(np.stack([vertex[a], vertex[b]], axis=1), axis=1)
    key = ends[:, 0] * (int(vertex.max(initial=0)) + 1) + ends[:, 1]
    is_inner = parts_of(polygons.side[a])[0] == INNER
    order = np.lexsort((is_inner, key))
    repeats = np.concatenate([[False], key[order][1:] == key[order][:-1]]) if len(key) else np.zeros(0, np.bool_)
    return np.sort(order[repeats])
