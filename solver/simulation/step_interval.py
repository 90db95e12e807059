# SPDX-License-Identifier: GPL-3.0-or-later
"""A step, or a part of one that was halved."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..mechanics.state import State

MAX_HALVINGS = 14  # halvings of a step where what is stiff turns far, or energy comes from nothing
MAX_HALVINGS_IN_HAND = 4  # of a step in which a hand may squeeze bodies: it is not to wait for what it forces


@dataclass(frozen=True, eq=False)
class StepPart:
    """A step, or a part of one that was halved.

    Attributes:
        begin, end: Its times [s].
        speed: Simulated time that passes over the time of the scene (`scene/time_scale.py`).
        halvings: How often the step has been halved.
        turns_solves: Whether turns of solves are made as rotations. Rotations then follow also where bodies touch
            colliders alone.
        is_by_euler: Whether flesh by Newmark's scheme moves by implicit Euler: some of it is beyond its stretch limit.
        whole_start: The state where the whole step began; None: this is the whole step.
        is_in_hand: Whether a hand may squeeze bodies (`Force.may_squeeze`).
    """

    begin: float
    end: float
    speed: float = 1.0
    halvings: int = 0
    turns_solves: bool = False
    is_by_euler: bool = False
    whole_start: State | None = None
    is_in_hand: bool = False

    @property
    def may_halve(self) -> bool:
        """Whether it may be halved once more."""
        return self.halvings < (MAX_HALVINGS_IN_HAND if self.is_in_hand else MAX_HALVINGS)

    @property
    def dt(self) -> float:
        """Δt, simulated [s]."""
        return self.speed * (self.end - self.begin)

    def halves(self, turns_solves: bool) -> list[StepPart]:
        """Returns its two halves."""
        middle = 0.5 * (self.begin + self.end)
        first = replace(self, end=middle, halvings=self.halvings + 1, turns_solves=turns_solves)
        return [first, replace(first, begin=middle, end=self.end)]

    def shares(self, halvings: int) -> list[StepPart]:
        """Returns the equal parts that so many halvings of each would leave."""
        if not halvings:
            return [self]
        return [part for half in self.halves(self.turns_solves) for part in half.shares(halvings - 1)]
