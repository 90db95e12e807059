# SPDX-License-Identifier: GPL-3.0-or-later
"""What keeps a mesh from being closed: every edge has to be between two triangles that agree which side is out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...runtime.arrays import Indices
from .face_edges import face_edges


class ManifoldDefects(NamedTuple):
    """What keeps a mesh from being closed.

    Attributes:
        open_edges: Edges of one triangle.
        nonmanifold_edges: Edges of more than two triangles.
        flipped_edges: Edges at which two triangles disagree which side is out.
        degenerate_triangles: Triangles that have a vertex twice.
    """

    open_edges: int = 0
    nonmanifold_edges: int = 0
    flipped_edges: int = 0
    degenerate_triangles: int = 0


def find_manifold_defects(triangles: Indices) -> ManifoldDefects | None:
    """Returns what keeps triangles, (t, 3), from being a closed, consistently oriented 2-manifold; None: nothing."""
    is_flat = (triangles == np.roll(triangles, 1, axis=1)).any(axis=1)
    edges = face_edges(triangles[~is_flat])
    count = edges.faces_at
    defects = ManifoldDefects(
        int((count == 1).sum()),
        int((count > 2).sum()),
        int(((count == 2) & (edges.balance != 0)).sum()),
        int(is_flat.sum()),
    )
    return defects if any(defects) else None
