# SPDX-License-Identifier: GPL-3.0-or-later
"""The quality of tets: signed volumes, dihedral angles, and when a tet is degenerate."""

from __future__ import annotations

import numpy as np

from ..runtime.arrays import Floats, Indices
from .local_tet_numbering import TET_EDGES

DEGENERATE_TET_RATIO = 1.0e-14  # a tet has no volume where 6 V is at most this times the cube of its longest edge


def signed_volumes(nodes: Floats, tets: Indices) -> Floats:
    """Returns det(x1 − x0, x2 − x0, x3 − x0) / 6 of each tet [m³], (m,)."""
    return _six_volumes(*_columns(nodes, tets)) / 6.0


def first_of_duplicates(tets: np.ndarray) -> np.ndarray:
    """Returns the rows, rising, of the tets (m, 4) whose four nodes no earlier tet has, in whatever order."""
    _, first = np.unique(np.sort(tets, axis=1), axis=0, return_index=True)
    return np.sort(first)


def dihedral_angles(nodes: Floats, tets: Indices) -> Floats:
    """Returns the angle between each two faces of each tet [degrees], (m, 6).

    The faces are opposite to the two nodes of an edge, in the order of `TET_EDGES`.
    """
    normals = _face_normals(*_columns(nodes, tets))
    lengths = [np.sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) for n in normals]
    out = np.empty((len(tets), 6))
    for k, (i, j) in enumerate(TET_EDGES):
        a, b = normals[i], normals[j]
        cosine = -(a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) / (lengths[i] * lengths[j])
        out[:, k] = np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)))
    return out


def dihedral_range(nodes: Floats, tets: Indices) -> tuple[float, float]:
    """Returns the smallest and the largest angle between two faces of a tet [degrees]."""
    normals = _face_normals(*_columns(nodes, tets))
    for n in normals:
        n /= np.sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2])
    least, most = 1.0, -1.0
    for i, j in TET_EDGES:
        a, b = normals[i], normals[j]
        cosine = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
        least, most = min(least, float(cosine.min())), max(most, float(cosine.max()))
    angles = np.degrees(np.arccos(np.clip([-least, -most], -1.0, 1.0)))
    return float(angles[0]), float(angles[1])


def _columns(nodes: Floats, tets: Indices) -> tuple[Floats, Floats, Floats]:
    """Returns the edges from node 0 to the nodes 1, 2 and 3, each (3, m): components are contiguous."""
    x = np.ascontiguousarray(nodes.T)
    origin = x[:, tets[:, 0]]
    return x[:, tets[:, 1]] - origin, x[:, tets[:, 2]] - origin, x[:, tets[:, 3]] - origin


def _cross(a: Floats, b: Floats) -> Floats:
    return np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def _six_volumes(a: Floats, b: Floats, c: Floats) -> Floats:
    n = _cross(b, c)
    return a[0] * n[0] + a[1] * n[1] + a[2] * n[2]


def _face_normals(a: Floats, b: Floats, c: Floats) -> list[Floats]:
    """Returns the outward normals of the faces opposite to nodes 0, 1, 2, 3, not normalized, each (3, m)."""
    n1, n2, n3 = -_cross(b, c), -_cross(c, a), -_cross(a, b)
    return [-(n1 + n2 + n3), n1, n2, n3]
