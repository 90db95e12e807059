# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a surface encloses something."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Floats, Indices

MAX_OPENNESS = 0.05  # (length of open edges)² / area up to which a mesh still has an inside


def has_inside(vertices: Floats, triangles: Indices) -> bool:
    """Whether a mesh is closed, small holes allowed: (length of its open edges)² ≤ 0.05 · its area.

    Vertices at the same place count as one. An edge is open where as many triangles do not run along it one
    way as the other.
    """
    merged = np.unique(vertices, axis=0, return_inverse=True)[1].ravel()[triangles]
    edges = np.concatenate([merged[:, [0, 1]], merged[:, [1, 2]], merged[:, [2, 0]]])
    lengths = np.linalg.norm(
        np.concatenate([vertices[triangles[:, i]] - vertices[triangles[:, (i + 1) % 3]] for i in range(3)]), axis=1
    )
    forward = edges[:, 0] < edges[:, 1]
    pairs, first, pair = np.unique(np.sort(edges, axis=1), axis=0, return_index=True, return_inverse=True)
    balance = np.bincount(pair.ravel(), np.where(forward, 1.0, -1.0), minlength=len(pairs))
    # where neighbours are turned against each other the edge still is closed
    counts = np.bincount(pair.ravel(), minlength=len(pairs))
    is_open = (balance != 0.0) & (counts % 2 == 1)
    corners = vertices[triangles]
    area = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1).sum()
    return bool(lengths[first][is_open].sum() ** 2 <= MAX_OPENNESS * area)
