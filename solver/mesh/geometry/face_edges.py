# SPDX-License-Identifier: GPL-3.0-or-later
"""The edges of triangles: which sides of which faces lie on each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Bools, Indices


class Edges(NamedTuple):
    """The sides of faces, grouped by the edge they lie on.

    Attributes:
        edge: Edge of each side, (3 t,): side s of face f is row 3 f + s, from corner s to corner s + 1.
        direction: 1 where the side runs from the lower to the higher corner number, else -1, (3 t,).
        count: Number of edges.
    """

    edge: Indices
    direction: Indices
    count: int  # type: ignore[assignment]

    @property
    def faces_at(self) -> Indices:
        """Number of faces at each edge, (count,)."""
        return np.bincount(self.edge, minlength=self.count)

    @property
    def balance(self) -> Indices:
        """Sides that run up minus sides that run down each edge, (count,): all 0 on a closed surface."""
        return np.bincount(self.edge, self.direction, minlength=self.count).astype(np.int64)


def face_edges(faces: Indices) -> Edges:
    """Returns the edges of welded faces, (t, 3)."""
    a, b = faces.ravel().astype(np.int64), np.roll(faces, -1, axis=1).ravel()
    key = np.minimum(a, b) * (int(faces.max(initial=0)) + 1) + np.maximum(a, b)
    unique, edge = np.unique(key, return_inverse=True)
    return Edges(edge.ravel(), np.where(a < b, 1, -1), len(unique))


def edge_ends(faces: Indices, edges: Edges) -> Indices:
    """Returns the two corners of each edge of `face_edges(faces)`, the lower number first, (count, 2), ascending."""
    ends = np.empty((edges.count, 2), np.int32)
    ends[edges.edge] = np.sort(np.stack([faces.ravel(), np.roll(faces, -1, axis=1).ravel()], axis=1), axis=1)
    return ends


def edge_sides(edges: Edges) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Returns the two sides that lie on each edge, the same one twice where there are not two, (count,) each."""
    side = np.argsort(edges.edge, kind="stable")
    start = np.searchsorted(edges.edge[side], np.arange(edges.count, dtype=np.int64))
    one = side[start]
    return one, np.where(edges.faces_at == 2, side[np.minimum(start + 1, len(side) - 1)], one)


def adjacent_sides(edges: Edges, is_chosen: Bools, is_side: Bools | bool = True) -> tuple[Indices, Indices]:
    """Returns pairs of sides that lie on one chosen edge, enough to connect all faces there, each (p,).

    Args:
        edges: The edges.
        is_chosen: Which edges, (count,).
        is_side: Which sides, (3 t,).
    """
    chosen = np.flatnonzero(is_chosen[edges.edge] & is_side)
    chosen = chosen[np.argsort(edges.edge[chosen], kind="stable")]
    same = edges.edge[chosen[1:]] == edges.edge[chosen[:-1]]
    return chosen[:-1][same], chosen[1:][same]
