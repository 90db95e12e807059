# SPDX-License-Identifier: GPL-3.0-or-later
"""The outside of tets, as a surface to render."""

from __future__ import annotations

import numpy as np

from ..runtime.arrays import Floats, Indices
from .local_tet_numbering import TET_FACES


def boundary_faces(tets: Indices) -> Indices:
    """Returns the faces (k, 3) of tets (m, 4) that belong to one tet only."""
    faces = tets[:, TET_FACES].reshape(-1, 3)
    _, first, count = np.unique(np.sort(faces, axis=1), axis=0, return_index=True, return_counts=True)
    return np.ascontiguousarray(faces[np.sort(first[count == 1])])


def boundary_surface(nodes: Floats, tets: Indices) -> tuple[Floats, Indices]:
    """Returns the nodes (k, 3) and faces (t, 3) of the outside of tets (m, 4) with `nodes` (n, 3)."""
    faces = boundary_faces(tets)
    used, number = np.unique(faces, return_inverse=True)
    return nodes[used], number.reshape(-1, 3).astype(np.int32)
