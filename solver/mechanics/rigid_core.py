# SPDX-License-Identifier: GPL-3.0-or-later
"""The rigid core of a body: its nodes and tets, and the axis that it turns about, which may move."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..runtime.arrays import Floats, Indices


@dataclass(frozen=True, eq=False)
class AxisMotion:
    """How the axis that a core turns about moves in a step: the z axis of a space.

    Attributes:
        rest, before, now: World [m] ← that space: in the rest pose, and where the step begins and ends, (4, 4).
        dt: Length of the step [s].
    """

    rest: Floats
    before: Floats
    now: Floats
    dt: float = 1.0

    @property
    def is_still(self) -> bool:
        """Whether it does not move in the step."""
        return bool(np.array_equal(self.before, self.now))


@dataclass(frozen=True, eq=False)
class RigidCore:
    """Nodes of a body that move as one rigid body.

    Attributes:
        nodes: Rising, (k,).
        tets: Those that have no other nodes, rising, (t,): they are never strained, so they push nothing.
        hinge: The axis that it turns about; None: it is free.
        is_whole: Whether it is all of its body.
    """

    nodes: Indices
    tets: Indices
    hinge: AxisMotion | None = None
    is_whole: bool = False

    def renumbered(self, nodes: int, tets: int) -> RigidCore:
        """Returns the core where its nodes and tets have these numbers more."""
        return replace(self, nodes=self.nodes + np.int32(nodes), tets=self.tets + np.int32(tets))
