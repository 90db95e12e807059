# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the cracks of a piece go on under its stress, by as far as that stress is known.

The most overloaded tet comes first. It splits one of its nodes, those at crack tips first, then those under most
stress, by a plane normal to the largest principal stress: that of the tet at a tip, that of the node elsewhere. Tets at
a node that has just split wait: their stress is not known any more. So do tets whose overload is less than
`BATCH_SHARE` of that of the first that split: a load that rises would have reached them later, when its crack has taken
it off. A hit may be faster, and reach them long before a crack has got through a tet. Then all whose overload is
`RUNNING_SHARE` of that split as well, which takes fewer solves. One crack begins at a time, since
where stress is even all around is overloaded at once; those that are there all run.

Where a tet is overloaded across a face of a crack guide rather than as a whole, a node of that face splits along the
guide: the tets at the node go to the side of the guide that they are on.

Source: Müller and Gross (2004), section 4, for the plane; Müller, McMillan, Dorsey and Jagnow (2001).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..mesh.node_splitting.face_adjacency import FACE_CORNERS
from ..mesh.node_splitting.minimum_fragment import leaves_small_fragment
from ..mesh.node_splitting.plane_separation import FaceList, faces_between_sides
from ..runtime.arrays import Bools, Floats, Indices
from .piece_stress import PieceStress, normal_stress

BATCH_SHARE = 0.8
# where the load rises so many times as fast as cracks run: by 1 instead of 10, a vase breaks into 5 pieces, not 41
RUNNING_SHARE, TIMES_AS_FAST = 0.5, 10.0


@dataclass(frozen=True, eq=False)
class CrackStep:
    """Cracks that have gone on.

    Attributes:
        is_parted: Across which faces the tets of the body have parted by now, (m, 4).
        overload: Stress over strength of the first tet that split, at the load of the stress.
    """

    is_parted: Bools
    overload: float


def crack_on(stress: PieceStress, load: float, at_once: float = np.inf) -> CrackStep | None:
    """Returns how cracks go on; None: they do not.

    Args:
        stress: Of the piece.
        load: That to which the load rises, over that of the stress.
        at_once: Stress over strength at that load, from which on this rises to what a tet bears before a crack has got
            through one.
    """
    overload = stress.overload
    splitter = _Splitter(stress)
    first, least, has_begun = 0.0, 1.0 / load if load > 0.0 else np.inf, False
    for row in np.argsort(-overload, kind="stable").tolist():
        if overload[row] < least:
            break
        is_begin = not bool(stress.is_tip[row].any())
        if (is_begin and has_begun) or not splitter.split_at(row, least):
            continue
        has_begun |= is_begin
        if first == 0.0:
            first = float(overload[row])
            runs = max(RUNNING_SHARE * first, TIMES_AS_FAST * at_once / load)
            least = max(least, min(BATCH_SHARE * first, runs))
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

    def split_at(self, row: int, least: float) -> bool:
        """Splits a node of a tet of the piece that is overloaded by at least so much, if one can be split.

        Returns whether it did.
        """
        stress = self.stress
        if self.is_done[stress.solid.mesh.tets[row, :4]].any():
            return False
        guided = stress.guided_overload[row]
        face = int(guided.argmax())
        if guided[face] >= max(least, stress.unguided_overload[row]) and self._split_along_guide(row, face):
            return True
        return bool(stress.unguided_overload[row] >= least) and self._split_by_stress(row)

    def _split_along_guide(self, row: int, face: int) -> bool:
        """Splits a node of a guided face."""
        stress, body = self.stress, self.stress.cracked.body
        assert body.guides is not None
        nodes, tet = stress.solid.mesh.tets[row, :4], int(stress.tets[row])
        at = FACE_CORNERS[face]
        pull = normal_stress(stress.nodal, nodes[at], body.guides.normal[tet, face])
        for corner in at[np.lexsort((-pull, ~stress.is_tip[row, at]))].tolist():
            node = int(nodes[corner])
            corners = self._corners_at(node)
            height = body.guides.heights(tet, face, self.middles[corners >> 2])
            if self._try_splitting(node, self._separated(corners, height, body.is_bonded | ~body.guides.is_guided)):
                return True
        return False

    def _split_by_stress(self, row: int) -> bool:
        """Splits a node by a plane normal to the largest principal stress."""
        stress = self.stress
        nodes, is_tip = stress.solid.mesh.tets[row, :4], stress.is_tip[row]
        values, directions = stress.nodal
        for corner in np.lexsort((-values[nodes, 2], ~is_tip)).tolist():
            node = int(nodes[corner])
            normal = stress.at_tips[1][row, :, 2] if is_tip[corner] else directions[node, :, 2]
            corners = self._corners_at(node)
            height = (self.middles[corners >> 2] - stress.solid.mesh.nodes[node]) @ normal
            if self._try_splitting(node, self._separated(corners, height, stress.cracked.body.is_bonded)):
                return True
        return False

    def _corners_at(self, node: int) -> Indices:
        """Returns the corners of the tets of the piece at a node, (c,)."""
        return self.corners[self.corner_start[node] : self.corner_start[node + 1]]

    def _separated(self, corners: Indices, height: Floats, is_bonded: Bools) -> FaceList | None:
        """Returns what lies between tets above a plane and those below it."""
        body = self.stress.cracked.body
        of_body = 4 * self.stress.tets[corners >> 2].astype(np.int64) + (corners & 3)
        return faces_between_sides(of_body, height, body.neighbours, self.is_parted, is_bonded, ~body.is_breakable)

    def _try_splitting(self, node: int, faces: FaceList | None) -> bool:
        """Parts tets across some faces, if there are any, and returns whether it did.

        Where no dust is asked for, none may come of it.
        """
        if faces is None:
            return False
        body = self.stress.cracked.body
        self.is_parted[faces] = True
        across, least = body.neighbours.tet, 0.0 if body.makes_dust else body.min_fragment_volume
        if not leaves_small_fragment(faces[0], across, self.is_parted, body.coarse_volume, least):
            self.is_done[node] = True
            return True
        self.is_parted[faces] = False
        return False
