# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a surface encloses something."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Floats, Indices
from .face_edges import face_edges
from .welding import number_rows

MAX_OPENNESS = 0.05  # (length of open edges)² / area up to which a mesh still has an inside


def has_inside(vertices: Floats, triangles: Indices) -> bool:
    """Whether a mesh is closed, small holes allowed: (length of its open edges)² ≤ 0.05 · its area.

    Vertices at the same place count as one. An edge is open where as many triangles do not run along it one
    way as the other.
    """
    edges = face_edges(number_rows(vertices)[triangles])
    # where neighbours are turned against each other the edge still is closed
    is_open = (edges.balance != 0) & (edges.faces_at % 2 == 1)
    lengths = np.zeros(edges.count)
    lengths[edges.edge] = np.linalg.norm(vertices[triangles] - vertices[np.roll(triangles, -1, axis=1)], axis=2).ravel()
    corners = vertices[triangles]
    area = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1).sum()
    return bool(lengths[is_open].sum() ** 2 <= MAX_OPENNESS * area)
