# SPDX-License-Identifier: GPL-3.0-or-later
"""What one bone holds of one body, and the springs of bones that hold softly."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...runtime.arrays import Floats, Indices
from ...scene.flesh import Bone
from ...scene.tracks import TrackReader
from .bone_inverted_tets import count_inverted
from .bone_motion import BoneMotion


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
    """

    number: int
    bone: Bone
    body: int
    name: str
    nodes: Indices
    rows: Indices
    motion: BoneMotion
    tets: Indices

    def targets(self, tracks: TrackReader, time: float) -> Floats:
        """Returns where the nodes are at a time [s] in metres, (k, 3); raises as `Motion.targets`."""
        return self.motion.targets(tracks, time)[self.rows]

    def count_inverted(self, places: Floats) -> int:
        """Returns how many of `tets` are inside out with places [m]; a matrix turns none, and has been looked at."""
        return count_inverted(places, self.tets) if self.motion.deforming else 0

    def remapped(self, whole_tets: Indices, tets: Indices) -> BoneConstraint:
        """Returns the same after nodes have split: tets (m, 4) as they were and as they are."""
        row = np.full(int(whole_tets.max(initial=0)) + 1, -1, np.int32)
        row[self.nodes] = self.rows
        corners = np.flatnonzero(row[whole_tets.ravel()] >= 0)
        nodes, first = np.unique(tets.ravel()[corners], return_index=True)
        rows = row[whole_tets.ravel()[corners[first]]]
        return replace(self, nodes=nodes.astype(np.int32), rows=rows)
