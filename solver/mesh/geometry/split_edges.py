# SPDX-License-Identifier: GPL-3.0-or-later
"""Splits the long edges of a surface in halves, so that closed surfaces stay closed."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Floats, Indices
from .face_edges import edge_ends, face_edges

MAX_ROUNDS = 12  # an edge is then cut into 4,096 parts
# for each set of split edges 01, 12, 20 (bits 1, 2, 4): new triangles of the corners 0, 1, 2 and the middles 3, 4, 5
_PATTERNS = {
    1: ((0, 3, 2), (3, 1, 2)),
    2: ((0, 1, 4), (0, 4, 2)),
    4: ((0, 1, 5), (5, 1, 2)),
    3: ((0, 3, 2), (3, 1, 4), (3, 4, 2)),
    6: ((0, 1, 4), (0, 4, 5), (5, 4, 2)),
    5: ((0, 3, 5), (3, 1, 5), (5, 1, 2)),
    7: ((0, 3, 5), (3, 1, 4), (5, 4, 2), (3, 4, 5)),
}


def split_long_edges(vertices: Floats, triangles: Indices, length: float) -> tuple[Floats, Indices]:
    """Returns a surface of the same shape without long edges: its vertices, the old ones first, and its triangles.

    Args:
        vertices, triangles: [m], (v, 3), and (t, 3).
        length: Of edges, at most [m].
    """
    for _ in range(MAX_ROUNDS):
        found = face_edges(triangles)
        edges, edge = edge_ends(triangles, found), found.edge
        is_long = np.linalg.norm(vertices[edges[:, 0]] - vertices[edges[:, 1]], axis=1) > length
        if not is_long.any():
            break
        middle = np.cumsum(is_long, dtype=np.int64) - 1 + len(vertices)
        vertices = np.concatenate([vertices, vertices[edges[is_long]].mean(axis=1)])
        edge = edge.reshape(-1, 3)
        corners = np.column_stack([triangles, middle[edge]])
        code = is_long[edge] @ np.array([1, 2, 4], dtype=np.int64)
        split = [triangles[code == 0]]
        split += [corners[code == each][:, pattern].reshape(-1, 3) for each, pattern in _PATTERNS.items()]
        triangles = np.concatenate(split).astype(np.int32)
    return vertices, triangles
