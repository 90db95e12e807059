# SPDX-License-Identifier: GPL-3.0-or-later
"""Pins of a brittle body: a piece that has a tet with a pinned vertex follows its pinned vertices as a rigid body.

The rigid motion of a piece is the one nearest to those of its pinned vertices, by least squares. Where these do not
tell how it is turned, those of the whole body do; where they do not either, it is turned as little as they allow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...constraints.force import ForceStep
from ...constraints.pin_regions import tells_rotation
from ...constraints.pin_targets import PinTargets
from ...mesh.embedding import Binding
from ...mesh.rigid_alignment import kabsch_rotation
from ...runtime.arrays import Bools, Floats, Indices, floats, indices
from ...scene.scene import Body
from .body_in_pieces import BodyInPieces

LEAST_TURN = 1.0e-9  # of the spread of points, by which none of their turns is preferred to others that they allow


@dataclass(frozen=True)
class PiecePins(PinTargets):
    """The pins of one brittle body in pieces.

    Attributes:
        piece: Of each pinned vertex, (p,).
        first_node: Of the body in the model that takes steps: pieces have four each.
        corners: Of the tets of its k pieces at rest [m], (k, 4, 3).
        tet_size: Of its tets [m].
    """

    piece: Indices
    first_node: int
    corners: Floats
    tet_size: float
    kind: ClassVar[str] = "pins of brittle bodies"

    @property
    def fixed_nodes(self) -> Indices:
        """Nodes of the model that are held."""
        return indices(np.concatenate([np.arange(4, dtype=np.int32) + self._node(piece) for piece in self._held]))

    @property
    def _held(self) -> list[int]:
        return [int(piece) for piece in np.unique(self.piece)]

    def _node(self, piece: int) -> int:
        return self.first_node + 4 * piece

    def prescribe(self, step: ForceStep, is_fixed: Bools, fixed_target: Floats) -> None:
        """Marks the nodes of held pieces, (n,), and writes where they are at the end of the step [m], (n, 3)."""
        targets = self.targets_at_end(step)
        if targets is None:
            return
        for piece in self._held:
            nodes = slice(self._node(piece), self._node(piece) + 4)
            is_fixed[nodes] = True
            fixed_target[nodes] = self._moved(self.corners[piece], np.flatnonzero(self.piece == piece), targets)

    def _moved(self, points: Floats, rows: Indices, targets: Floats) -> Floats:
        """Returns where points at rest [m], (k, 3), go with some of the pinned vertices, (q,)."""
        rest, now = self.rest[rows], targets[rows]
        if np.array_equal(rest, now):  # to the last bit
            return points
        tells = rows if tells_rotation(rest, self.tet_size) else np.arange(len(self.rest), dtype=np.int32)
        R = nearest_rotation_of(self.rest[tells], targets[tells])
        return floats((points - rest.mean(axis=0)) @ R.T + now.mean(axis=0))


def nearest_rotation_of(rest: Floats, now: Floats) -> Floats:
    """Returns R, (3, 3), with R (x − x̄) nearest to where points at rest are now, (k, 3) [m] each, by least squares.

    Of several that are as near, it is the one that turns least.
    """
    arms, moved = rest - rest.mean(axis=0), now - now.mean(axis=0)
    spread = float((arms**2).sum())
    if not spread > 0.0:
        return np.eye(3)
    return kabsch_rotation(floats(moved.T @ arms + LEAST_TURN * spread * np.eye(3)))


def held_tets(body: Body, binding: Binding, tet_count: int) -> Bools:
    """Returns which tets of a body its pins hold, (m,): those with pinned vertices.

    Args:
        body: What is asked for.
        binding: Its render vertices in its tets, (n,) and (n, 4).
        tet_count: m.
    """
    is_held = np.zeros(tet_count, bool)
    is_held[binding.tet[body.pinned]] = True
    return is_held


def piece_pins(asked: Body, binding: Binding, body: BodyInPieces, first_node: int) -> PiecePins | None:
    """Returns the pins of a brittle body; None: it has none.

    Args:
        asked: What is asked for.
        binding: Its render vertices in all its tets, (n,) and (n, 4).
        body: It, with the pieces that it has.
        first_node: Of the body in the model that takes steps.
    """
    if not len(asked.pinned):
        return None
    return PiecePins(
        key=body.key,
        name=body.name,
        body=body.number,
        rest=asked.vertices[asked.pinned],
        piece=indices(body.piece_of_tet[binding.tet[asked.pinned]]),
        first_node=first_node,
        corners=body.corners,
        tet_size=body.report.tet_size,
    )
