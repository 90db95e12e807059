# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts the tets at a node by a plane: each goes to the side that its middle is on, those that keep together as one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Bools, Floats, Indices
from ...runtime.union_find import union_pairs
from .face_adjacency import FaceAdjacency

FaceList = tuple[Indices, Indices]  # tets and faces, both sides of each


def faces_between_sides(
    corners: npt.NDArray[np.int64],
    height: Floats,
    neighbours: FaceAdjacency,
    is_parted: Bools,
    is_bonded: Bools,
    is_unbreakable: Bools,
) -> FaceList | None:
    """Returns the faces between the tets at a node above a plane and those below it; None: all are on one side.

    Args:
        corners: 4 · tet + corner of the tets at the node, rising, (k,).
        height: Of the middles of these tets above the plane [m], (k,).
        neighbours: The inner faces.
        is_parted: Across which faces tets have parted, (m, 4).
        is_bonded: Across which faces tets never part, (m, 4).
        is_unbreakable: Which tets stay with each other, (m,).
    """
    tets = corners >> 2
    across = neighbours.tet[tets]
    joined = (across >= 0) & ~is_parted[tets] & (np.arange(4, dtype=np.int64) != (corners & 3)[:, None])
    kept = joined & (is_bonded[tets] | is_unbreakable[tets][:, None] & is_unbreakable[across])
    if kept.any():
        row, face = np.nonzero(kept)
        group = np.arange(len(tets), dtype=np.int64)
        union_pairs(row, np.searchsorted(tets, across[row, face]), group)
        height = (np.bincount(group, height) / np.maximum(np.bincount(group), 1))[group]
    is_above = height >= 0.0
    if is_above.all() or not is_above.any():
        return None
    place = np.searchsorted(tets, np.where(joined, across, tets[0]))
    row, face = np.nonzero(joined & (is_above[place] != is_above[:, None]))
    return tets[row].astype(np.int32), face.astype(np.int32)
