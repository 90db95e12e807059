# SPDX-License-Identifier: GPL-3.0-or-later
"""Which faces of a surface touch: corners at one place are one, faces on the same corners are one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...runtime.arrays import Bools, Floats, Indices
from .connected_components import connected_components
from .triangle_surface import Surface

# Corners closer than this fraction of the bounding box's diagonal are one.
WELD_TOLERANCE = 1.0e-9


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


def weld(surface: Surface) -> Indices:
    """Returns the triangles with one number for all corners at one place, (t, 3)."""
    used, triangles = np.unique(surface.triangles, return_inverse=True)
    points = surface.vertices[used]
    lower, upper = points.min(axis=0), points.max(axis=0)
    step = max(float(np.linalg.norm(upper - lower)) * WELD_TOLERANCE, np.finfo(float).tiny)
    number = _number_rows(np.round((points - lower) / step))
    return number[triangles.reshape(-1, 3)].astype(np.int32)


def face_edges(faces: Indices) -> Edges:
    """Returns the edges of welded faces, (t, 3)."""
    a, b = faces.ravel().astype(np.int64), np.roll(faces, -1, axis=1).ravel()
    key = np.minimum(a, b) * (int(faces.max(initial=0)) + 1) + np.maximum(a, b)
    unique, edge = np.unique(key, return_inverse=True)
    return Edges(edge.ravel(), np.where(a < b, 1, -1), len(unique))


def distinct_faces(faces: Indices) -> Indices:
    """Returns which of the welded faces, (t, 3), to keep: each place once, in ascending order, (k,).

    Faces with two corners at one place go. Of several faces on the same three corners one stays, the first, unless
    they are a wall inside, where two blocks touch: then all go.
    """
    rows = np.flatnonzero((faces != np.roll(faces, 1, axis=1)).all(axis=1))
    place = _number_rows(np.sort(faces[rows], axis=1))
    times = np.bincount(place)
    if len(times) == len(rows):
        return rows
    _, first = np.unique(place, return_index=True)
    return np.sort(rows[first[~_walls(faces[rows[first]], times % 2 == 0)]])


def _walls(faces: Indices, is_double: Bools) -> Bools:
    """Returns which faces are walls inside, (t,).

    Faces that lie there an even number of times are connected into patches. The border of a wall meets an even number
    of other faces already, the outsides of two blocks; the border of a double-sided sheet meets none, or one.
    """
    edges = face_edges(faces)
    double_side = np.repeat(is_double, 3)
    doubles = np.bincount(edges.edge[double_side], minlength=edges.count)
    others = edges.faces_at - doubles
    is_border = (doubles % 2 == 1)[edges.edge] & double_side
    fits = ((others > 0) & (others % 2 == 0))[edges.edge]
    a, b = adjacent_sides(edges, np.ones(edges.count, np.bool_), double_side)
    patch = connected_components(a // 3, b // 3, len(faces))
    votes = np.bincount(patch.repeat(3), np.where(is_border, np.where(fits, 1, -1), 0))
    return is_double & (votes > 0)[patch]


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


def _number_rows(rows: Floats | Indices) -> np.ndarray:
    """Returns a number for each row, the same for equal rows, (n,)."""
    order = np.lexsort(rows.T)
    ordered = rows[order]
    is_new = np.ones(len(rows), np.int64)
    is_new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    number = np.empty(len(rows), np.int64)
    number[order] = np.cumsum(is_new, dtype=np.int64) - 1
    return number
