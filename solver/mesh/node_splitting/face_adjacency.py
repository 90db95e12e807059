# SPDX-License-Identifier: GPL-3.0-or-later
"""Which tets lie across the faces of each tet while a body is whole, and across which of them they have parted.

Face f of a tet is the one opposite to its corner f; corners are numbered 4 · tet + corner.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...runtime.arrays import Bools, Floats, Indices, floats
from ..geometry.connected_components import connected_components

MIN_FILL = 0.25
# below this share of the fullest around it a tet is too little to judge by
MIN_LOAD_SHARE = 0.5
FACE_CORNERS = np.array(
    [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]], np.int64
)  # corners of the faces, seen from outside


@dataclass(frozen=True)
class FaceAdjacency:
    """The inner faces of whole tets.

    Attributes:
        tet: The tet across each face, −1 where there is none, (m, 4).
        twin: The corner across face f at the same node as corner c, (m, 4, 4); −1 for c = f and where there is none.
    """

    tet: Indices
    twin: Indices

    def is_parted(self, tets: Indices) -> Bools:
        """Returns across which faces the tets, (m, 4) with their nodes by now, have parted, (m, 4)."""
        has_twin = self.twin >= 0
        other = tets.ravel()[np.where(has_twin, self.twin, 0)]
        return ((other != tets[:, None, :]) & has_twin).any(axis=2)

    def piece_of_tets(self, is_parted: Bools) -> Indices:
        """Returns the piece of each tet, (m,), by the order of their first tets, where some faces part tets, (m, 4)."""
        tet, face = np.nonzero((self.tet >= 0) & ~is_parted)
        return connected_components(tet, self.tet[tet, face], len(self.tet))

    def piece_count(self, is_parted: Bools) -> int:
        """Returns into how many pieces tets have fallen where some faces part them, (m, 4)."""
        return int(self.piece_of_tets(is_parted).max(initial=-1)) + 1

    def bonded_faces(self, share: Floats, material: Floats) -> Bools:
        """Returns the faces across which a body never parts, (m, 4): tets with little in them keep to a fuller one.

        Alone they would be flakes that weigh next to nothing. Of its neighbours, a tet with a share of less than
        `MIN_FILL` keeps to the one with most material.

        Args:
            share: How full each tet is, (m,): at most 1.
            material: What is in the tets [m³], (m,).
        """
        beside = np.where(self.tet >= 0, material[self.tet], 0.0)
        face = beside.argmax(axis=1)
        tet = np.flatnonzero((share < MIN_FILL) & (beside.max(axis=1) > 0.0))
        together = np.zeros(self.tet.shape, bool)
        together[tet, face[tet]] = True
        other = self.tet[tet, face[tet]]
        together[other, (self.tet[other] == tet[:, None]).argmax(axis=1)] = True
        return together


def load_shares(tets: Indices, fill: Floats) -> Floats:
    """Returns how much of its stress a tet passes on, (m,), of tets (m, 4) by their filled shares, (m,).

    That is its filled share over that of the fullest at its nodes. A tet is as stiff as it is full, so the less there
    is in it, the more it is stretched, depending on where the lattice happens to lie: in a bar that was filled by the
    robust method and pulled, tets less than half full had up to twice the stress of full ones. What is in balance with
    the tets around is the stress times the filled share.
    """
    fullest = np.zeros(int(tets.max(initial=-1)) + 1)
    np.maximum.at(fullest, tets.ravel(), np.repeat(fill, 4))
    return floats(fill / fullest[tets].max(axis=1))


def face_adjacency(tets: Indices, is_breakable: Bools) -> FaceAdjacency:
    """Returns the inner faces of tets, (m, 4); those of tets that are not breakable, (m,), are left out."""
    which = np.flatnonzero(is_breakable)
    across, twin = np.full((len(tets), 4), -1, np.int32), np.full((len(tets), 4, 4), -1, np.int32)
    corners = np.sort(tets[which][:, FACE_CORNERS].reshape(-1, 3), axis=1).astype(np.int64)
    count = int(tets.max(initial=0)) + 1
    key = (corners[:, 0] * count + corners[:, 1]) * count + corners[:, 2]
    order = np.argsort(key, kind="stable")
    same = np.flatnonzero(key[order][1:] == key[order][:-1])
    one, other = order[same], order[same + 1]
    for a, b in ((one, other), (other, one)):
        first, face, second = which[a // 4], a % 4, which[b // 4]
        across[first, face] = second
        at = FACE_CORNERS[face]
        nodes = np.take_along_axis(tets[first], at, axis=1)
        match = (tets[second][:, None, :] == nodes[:, :, None]).argmax(axis=2)
        for k in range(3):
            twin[first, face, at[:, k]] = 4 * second + match[:, k]
    return FaceAdjacency(across, twin)
