# SPDX-License-Identifier: GPL-3.0-or-later
"""What bones do in a step: nodes that they hold exactly, and springs.

`bone_attachment.py` says which node follows which bone, `bone_motion.py` where it is at a time. Pins are asked after
bones, so where both hold a node the pins have it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ...mechanics.model import Model
from ...runtime.arrays import Bools, Floats, Indices
from ...runtime.errors import SinewError
from ...scene.tracks import TrackReader
from ..force import Force, ForceStep
from ..point_forces import PointForces
from .bone_constraint import BoneConstraint, BoneSprings
from .bone_inverted_tets import count_inverted_between, have_moved_apart, refuse_inverted


@dataclass(frozen=True, eq=False)
class BoneConstraints(Force):
    """All bones of a scene, and what they hold.

    Attributes:
        names: Of all bones of the scene, in order, also those that hold nothing.
        is_soft: Which of them hold by springs, unless an attachment of a body says otherwise.
        constraints: Per bone, or piece of it, and body.
        warnings: What an artist should know, by number of the body.
    """

    names: tuple[str, ...]
    is_soft: tuple[bool, ...]
    constraints: tuple[BoneConstraint, ...]
    warnings: dict[int, tuple[SinewError, ...]]
    kind: ClassVar[str] = "bones"
    affects_quasistatic: ClassVar[bool] = True
    precedence: ClassVar[int] = 0  # before pins, which decide where both hold a node

    def bone_of_nodes(self, node_count: int) -> Indices:
        """Returns the number of the bone that each of n nodes of the model follows, −1 for none, (n,)."""
        numbers = np.full(node_count, -1, np.int32)
        for hold in self.constraints:
            numbers[hold.nodes] = hold.number
        return numbers

    def to_arrays(self, nodes: slice) -> dict[str, np.ndarray]:
        """Returns for `model/KEY.npz` what a body with these nodes of the model follows.

        `attached` is the number of each node's bone, −1 for none, (n,), `bones` are the names of all bones of the
        scene, (b,), and `bone_is_soft` says which of them hold by springs, (b,).
        """
        count = max([nodes.stop, *(int(hold.nodes[-1]) + 1 for hold in self.constraints)])
        is_soft = np.array(self.is_soft)
        for hold in self.constraints:
            if nodes.start <= hold.nodes[0] < nodes.stop:
                is_soft[hold.number] = hold.bone.stiffness is not None
        return {
            "attached": self.bone_of_nodes(count)[nodes],
            "bones": np.array(self.names),
            "bone_is_soft": is_soft,
        }

    @property
    def body_warnings(self) -> dict[int, tuple[SinewError, ...]]:
        """What an artist should know, by number of the body."""
        return self.warnings

    @property
    def nodes_on_mass_springs(self) -> Indices:
        """Nodes of the model that soft bones hold."""
        soft = [hold.nodes for hold in self.constraints if hold.bone.stiffness is not None]
        return np.concatenate([np.zeros(0, np.int32), *soft])

    @property
    def fixed_nodes(self) -> Indices:
        """Nodes of the model that are held exactly."""
        held = (hold.nodes for hold in self.constraints if hold.bone.stiffness is None)
        return np.concatenate([np.zeros(0, np.int32), *held])

    def restricted_to(self, bodies: Collection[int]) -> BoneConstraints:
        """Returns what bones hold of the bodies of these numbers."""
        return replace(self, constraints=tuple(hold for hold in self.constraints if hold.body in bodies))

    def prescribe(self, step: ForceStep, is_fixed: Bools, fixed_target: Floats) -> None:
        """Marks the nodes held exactly, (n,), and writes where they are at the end of the step [m], (n, 3).

        Raises:
            SolveFailed: The animation of a bone gives no numbers, or turns what it holds inside out.
        """
        for hold in self.constraints:
            if hold.holds_exactly(step.tracks, step.end):
                places = hold.motion.targets(step.tracks, step.end)
                refuse_inverted(hold.count_inverted(places), len(hold.tets), hold.bone.name, hold.name, step.end)
                is_fixed[hold.nodes] = True
                fixed_target[hold.nodes] = places[hold.rows]

    def springs(self, tracks: TrackReader, model: Model, time: float) -> BoneSprings:
        """Returns the springs of all soft bones at a time [s]; raises as `prescribe`."""
        soft = [hold for hold in self.constraints if hold.bone.stiffness is not None]
        nodes = np.concatenate([np.zeros(0, np.int32), *(hold.nodes for hold in soft)])
        factors = [hold.strength(tracks, time) * np.float64(hold.bone.stiffness) for hold in soft]
        stiffness = [factor * hold.painted_strength for hold, factor in zip(soft, factors, strict=True)]
        return BoneSprings(
            nodes,
            np.concatenate([np.zeros((0, 3)), *(hold.targets(tracks, time) for hold in soft)]),
            np.concatenate([np.zeros(0), *stiffness]) * model.mass[nodes],
        )

    def point_forces(self, step: ForceStep) -> PointForces:
        """Returns the springs of soft bones; raises as `prescribe`."""
        springs = self.springs(step.tracks, step.model, step.end)
        if not len(springs.nodes):
            return PointForces()
        pattern = step.model.pattern
        corner = pattern.corners[pattern.corner_start[springs.nodes]].astype(np.int32)
        weights = np.zeros((len(corner), 4))
        weights[np.arange(len(corner), dtype=np.int64), corner % 4] = 1.0
        k = springs.stiffness
        force = k[:, None] * (springs.targets - step.state.x[springs.nodes])
        return PointForces(corner // 4, weights, force, k[:, None, None] * np.eye(3), np.zeros((len(k), 3, 3)))

    def static_inputs(self, step: ForceStep) -> list[np.ndarray]:
        """Returns the targets of soft bones, and how strongly attachments to bones hold."""
        strengths = [hold.strength(step.tracks, step.end) for hold in self.constraints if hold.attachment is not None]
        return [self.springs(step.tracks, step.model, step.end).targets, np.array(strengths)]

    def inverted_tets(self, tracks: TrackReader, time: float) -> list[tuple[int, str, int]]:
        """Returns number of the body, name of the bone and number of tets that bones alone turn inside out.

        Springs give way, and do not count.
        """
        exact = [hold for hold in self.constraints if hold.motion.deforming and hold.holds_exactly(tracks, time)]
        counts = [(hold, hold.count_inverted(hold.motion.targets(tracks, time))) for hold in exact]
        return [(hold.body, hold.bone.name, count) for hold, count in counts if count]

    def inverted_between(
        self, model: Model, x: Floats, tracks: TrackReader, time: float
    ) -> list[tuple[int, str, str, int]]:
        """Returns number of the body, names of two bones and number of tets that are inside out between them.

        Bones that are to each other as at rest crush nothing. Node positions x are in metres, (n, 3), at a time [s].
        """
        exact = [hold for hold in self.constraints if hold.holds_exactly(tracks, time)]
        number, found = np.full(len(x), -1, np.int32), []
        for hold in exact:
            number[hold.nodes] = hold.number
        for body in sorted({hold.body for hold in exact}):
            tets = model.tets[model.bodies[body].tets]
            for (a, b), count in count_inverted_between(x, tets, number).items():
                if have_moved_apart(model.X, x, tets, number, a, b):
                    found.append((body, self.names[a], self.names[b], count))
        return found

    def with_sag(self, u: Floats) -> BoneConstraints:
        """Returns these bones with springs that bear at rest what they would bear after a sag of u [m], (n, 3)."""
        shifted = (
            hold if hold.bone.stiffness is None else replace(hold, target_shift=-u[hold.nodes])
            for hold in self.constraints
        )
        return replace(self, constraints=tuple(shifted))

    def remapped(self, whole: Model, tets: Indices) -> BoneConstraints:
        """Returns these bones after nodes of other bodies have split: tets have the nodes `tets`, (m, 4), now."""
        return replace(self, constraints=tuple(hold.remapped(whole.tets, tets) for hold in self.constraints))
