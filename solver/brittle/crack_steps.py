# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the cracks of a piece go on under its stress, by as far as that stress is known.

The most overloaded tet comes first. It splits one of its nodes, those at crack tips first, then those under most
stress, by a plane normal to the largest principal stress: that of the tet at a tip, that of the node elsewhere. Tets at
a node that has just split wait: their stress is not known any more. So do tets whose overload is less than
`BATCH_SHARE` of that of the first that split: a load that rises would have reached them later, when its crack has taken
it off. One crack begins at a time, since where stress is even all around is overloaded at once; those that are there
all run.

Source: Müller and Gross (2004), section 4, for the plane; Müller, McMillan, Dorsey and Jagnow (2001).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..mesh.node_splitting.minimum_fragment import leaves_small_fragment
from ..mesh.node_splitting.plane_separation import FaceList, faces_between_sides
from ..runtime.arrays import Bools, Floats
from .piece_stress import PieceStress

BATCH_SHARE = 0.8


@dataclass(frozen=True, eq=False)
class CrackStep:
    """Cracks that have gone on.

    Attributes:
        is_parted: Across which faces the tets of the body have parted by now, (m, 4).
        overload: Stress over strength of the first tet that split, at the load of the stress.
    """

    is_parted: Bools
    overload: float


def crack_on(stress: PieceStress, load: float) -> CrackStep | None:
    """Returns how cracks go on; None: they do not.

    Args:
        stress: Of the piece.
        load: The load that there is over that of the stress.
    """
    overload = stress.overload
    splitter = _Splitter(stress)
    first, least, has_begun = 0.0, 1.0 / load if load > 0.0 else np.inf, False
    for row in np.argsort(-overload, kind="stable").tolist():
        if overload[row] < least:
            break
        is_begin = not bool(stress.is_tip[row].any())
        if (is_begin and has_begun) or not splitter.split_at(row):
            continue
        has_begun |= is_begin
        if first == 0.0:
            first = float(overload[row])
            least = max(least, BATCH_SHARE * first)
    return CrackStep(splitter.is_parted, first) if first > 0.0 else None


class _Splitter:
    """A piece while nodes split one after the other."""

    def __init__(self, stress: PieceStress) -> None:
        """Begins with the cracks that are there."""
        self.stress = stress
        self.is_parted = stress.cracked.is_parted.copy()
        nodes = stress.solid.mesh.tets[:, :4]
        self.corners = np.argsort(nodes.ravel(), kind="stable")
        self.corner_start = np.searchsorted(
            nodes.ravel()[self.corners], np.arange(stress.solid.mesh.corner_count + 1, dtype=np.int64)
        )
        self.is_done = np.zeros(stress.solid.mesh.corner_count, bool)
        self.middles = stress.solid.mesh.corners.mean(axis=1)

    def split_at(self, row: int) -> bool:
        """Splits a node of a tet of the piece, if one can be split, and returns whether."""
        stress = self.stress
        nodes, is_tip = stress.solid.mesh.tets[row, :4], stress.is_tip[row]
        if self.is_done[nodes].any():
            return False
        values, directions = stress.nodal
        for corner in np.lexsort((-values[nodes, 2], ~is_tip)).tolist():
            node = int(nodes[corner])
            normal = stress.mean[1][row, :, 2] if is_tip[corner] else directions[node, :, 2]
            faces = self._separated(node, normal)
            if faces is not None and self._try_parting(faces):
                self.is_done[node] = True
                return True
        return False

    def _separated(self, node: int, normal: Floats) -> FaceList | None:
        corners = self.corners[self.corner_start[node] : self.corner_start[node + 1]]
        rows = corners >> 2
        height = (self.middles[rows] - self.stress.solid.mesh.nodes[node]) @ normal
        body = self.stress.cracked.body
        of_body = 4 * self.stress.tets[rows].astype(np.int64) + (corners & 3)
        return faces_between_sides(of_body, height, body.neighbours, self.is_parted, body.is_bonded, ~body.is_breakable)

    def _try_parting(self, faces: FaceList) -> bool:
        """Parts tets across some faces, if no crumb comes of it, and returns whether it did."""
        body = self.stress.cracked.body
        self.is_parted[faces] = True
        across, least = body.neighbours.tet, body.min_fragment_volume
        if not leaves_small_fragment(faces[0], across, self.is_parted, body.volume, least):
            return True
        self.is_parted[faces] = False
        return False
