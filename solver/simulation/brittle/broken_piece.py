# SPDX-License-Identifier: GPL-3.0-or-later
"""A piece of a brittle body by itself, and what has become of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...brittle.break_bisected_body import break_bisected
from ...brittle.break_body import Breakage
from ...brittle.brittle_body import BrittleBody
from ...brittle.crack_progress import OnStressSolve
from ...brittle.cracked_mesh import CrackedMesh
from ...brittle.hit import Hit
from ...brittle.rigid_mass import RigidMotion
from ...brittle.wanted_pieces import break_into
from ...mesh.node_splitting.face_adjacency import face_adjacency
from ...runtime.arrays import Floats, indices
from .body_in_pieces import BodyInPieces
from .island_motion import IslandMotion


@dataclass(frozen=True, eq=False)
class BrokenPiece:
    """A piece in which cracks have gone on in a step.

    Attributes:
        body, piece: Of which body, and which of its pieces.
        breakage: What has become of it, in its space at rest.
        island: Of the model.
        motion: Of it, as the step moved it.
        pose: R and t that take it from rest to where the step ended.
        others: The island on the other side of each hit, −1 of colliders.
    """

    body: BodyInPieces
    piece: int
    breakage: Breakage
    island: int
    motion: IslandMotion
    pose: tuple[Floats, Floats]
    others: tuple[int, ...]

    def impulses(self) -> tuple[Floats, Floats]:
        """Returns what hits gave, in the world [N s], and its moments about the origin [N m s], (h, 3) each."""
        R, t = self.pose
        given = self.breakage.impulses @ R.T
        return given, self.breakage.impulse_moments @ R.T + np.cross(t, given)


def break_piece(
    body: BodyInPieces,
    piece: int,
    hits: Sequence[Hit],
    motion: RigidMotion,
    alone: CrackedMesh,
    wanted: int,
    on_solve: OnStressSolve = lambda solves, pieces: None,
) -> Breakage:
    """Returns what becomes of a piece, `alone`, under hits, as about so many pieces as wanted, 0: any number."""
    if body.bisected is None:
        return break_into(alone.body, hits, motion, alone, wanted, on_solve)
    own = alone, body.tets_of_pieces[piece]
    return break_bisected(body.bisected, own, hits, motion, wanted, on_solve)


def piece_alone(body: BodyInPieces, piece: int) -> CrackedMesh:
    """Returns a piece as a body of its own, with the cracks in it."""
    whole, tets = body.body, body.tets_of_pieces[piece]
    used, local = np.unique(whole.tets[tets], return_inverse=True)
    own_tets = indices(local.reshape(-1, 4), -1, 4)
    neighbours = face_adjacency(own_tets, np.ones(len(tets), bool))
    is_inner = neighbours.tet >= 0
    alone: BrittleBody = replace(
        whole,
        nodes=whole.nodes[used],
        tets=own_tets,
        fill=whole.fill[tets],
        moments=whole.moments.of_tets(tets),
        strength_share=whole.strength_share[tets],
        is_breakable=whole.is_breakable[tets],
        load_share=whole.load_share[tets],
        size=whole.size[tets],
        coarse_size=whole.coarse_size[tets],
        volume=whole.volume[tets],
        coarse_volume=whole.coarse_volume[tets],
        neighbours=neighbours,
        is_bonded=whole.is_bonded[tets] & is_inner,
        guides=None if whole.guides is None else whole.guides.of_tets(tets),
        is_held=whole.is_held[tets],
    )
    return CrackedMesh(alone, body.cracked.is_parted[tets] & is_inner)
