# SPDX-License-Identifier: GPL-3.0-or-later
"""Which faces of a surface touch: corners at one place are one, faces on the same corners are one."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Bools, Floats, Indices
from .connected_components import connected_components
from .face_edges import adjacent_sides, face_edges
from .triangle_surface import Surface

# Corners closer than this fraction of the bounding box's diagonal are one.
WELD_TOLERANCE = 1.0e-9


def weld(surface: Surface) -> Indices:
    """Returns the triangles with one number for all corners at one place, (t, 3)."""
    used, triangles = np.unique(surface.triangles, return_inverse=True)
    points = surface.vertices[used]
    lower, upper = points.min(axis=0), points.max(axis=0)
    step = max(float(np.linalg.norm(upper - lower)) * WELD_TOLERANCE, np.finfo(float).tiny)
    number = number_rows(np.round((points - lower) / step))
    return number[triangles.reshape(-1, 3)].astype(np.int32)


def distinct_faces(faces: Indices) -> Indices:
    """Returns which of the welded faces, (t, 3), to keep: each place once, in ascending order, (k,).

    Faces with two corners at one place go. Of several faces on the same three corners one stays, the first, unless
    they are a wall inside, where two blocks touch: then all go.
    """
    rows = np.flatnonzero((faces != np.roll(faces, 1, axis=1)).all(axis=1))
    place = number_rows(np.sort(faces[rows], axis=1))
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


def number_rows(rows: Floats | Indices) -> np.ndarray:
    """Returns a number for each row, the same for equal rows, (n,)."""
    order = np.lexsort(rows.T)
    ordered = rows[order]
    is_new = np.ones(len(rows), np.int64)
    is_new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    number = np.empty(len(rows), np.int64)
    number[order] = np.cumsum(is_new, dtype=np.int64) - 1
    return number
