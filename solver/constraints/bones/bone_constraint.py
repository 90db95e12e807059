# SPDX-License-Identifier: GPL-3.0-or-later
"""What one bone holds of one body, and the springs of bones that hold softly."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from ...runtime.arrays import Floats, Indices
from ...scene.flesh import Bone
from ...scene.tracks import TrackReader
from .bone_inverted_tets import count_inverted
from .bone_motion import BoneMotion
from .bone_parts import GoverningAttachment


@dataclass(frozen=True)
class BoneSprings:
    """Springs from nodes to places.

    Attributes:
        nodes: Of the model, (k,).
        targets: Where they are pulled [m], (k, 3).
        stiffness: [N/m], (k,).
    """

    nodes: Indices
    targets: Floats
    stiffness: Floats


@dataclass(frozen=True, eq=False)
class BoneConstraint:
    """What one bone, or one piece of a bone that deforms, holds of one body.

    Attributes:
        number: Of the bone, in the order of the scene.
        bone: As in the scene, with the triangles of that piece.
        body, name: Number of the body, and its name for people.
        nodes: Nodes of the model, rising, (k,).
        rows: Which place of `motion` each of them has, (k,).
        motion: Where these places are.
        tets: Tets of the model all of whose nodes it holds, by `rows`, (t, 4).
        attachment: Of the body, which says how strongly the bone holds it; None: always as its own settings say.
        painted_strength: Factors on its springs, (k,).
        target_shift: Added to the targets of its springs: what holds the rest pose still against gravity [m], (k, 3),
            or (0, 3) for nothing.
    """

    number: int
    bone: Bone
    body: int
    name: str
    nodes: Indices
    rows: Indices
    motion: BoneMotion
    tets: Indices
    attachment: GoverningAttachment | None
    painted_strength: Floats
    target_shift: Floats = field(default_factory=lambda: np.zeros((0, 3)))

    def strength(self, tracks: TrackReader, time: float) -> float:
        """Returns the factor on its springs at a time [s]; what holds exactly does so where this is above zero."""
        return 1.0 if self.attachment is None else self.attachment.strength(tracks, time, self.name)

    def holds_exactly(self, tracks: TrackReader, time: float) -> bool:
        """Whether it holds its nodes exactly at a time [s]."""
        return self.bone.stiffness is None and self.strength(tracks, time) > 0.0

    def may_let_go(self, tracks: TrackReader) -> bool:
        """Whether its strength is animated, or zero for ever."""
        return self.attachment is not None and (
            tracks.has(f"{self.attachment.key}.strength") or self.attachment.attachment.strength == 0.0
        )

    def targets(self, tracks: TrackReader, time: float) -> Floats:
        """Returns where the nodes are pulled at a time [s] in metres, (k, 3); raises as `BoneMotion.targets`."""
        targets = self.motion.targets(tracks, time)[self.rows]
        return targets + self.target_shift if len(self.target_shift) else targets

    def count_inverted(self, places: Floats) -> int:
        """Returns how many of `tets` are inside out with places [m]; a matrix turns none, and has been looked at."""
        return count_inverted(places, self.tets) if self.motion.deforming else 0

    def remapped(self, whole_tets: Indices, tets: Indices) -> BoneConstraint:
        """Returns the same after nodes have split: tets (m, 4) as they were and as they are."""
        place = np.full(int(whole_tets.max(initial=0)) + 1, -1, np.int32)
        place[self.nodes] = np.arange(len(self.nodes), dtype=np.int32)
        corners = np.flatnonzero(place[whole_tets.ravel()] >= 0)
        nodes, first = np.unique(tets.ravel()[corners], return_index=True)
        before = place[whole_tets.ravel()[corners[first]]]
        shift = self.target_shift[before] if len(self.target_shift) else self.target_shift
        return replace(
            self,
            nodes=nodes.astype(np.int32),
            rows=self.rows[before],
            painted_strength=self.painted_strength[before],
            target_shift=shift,
        )
