# SPDX-License-Identifier: GPL-3.0-or-later
"""How often a step is solved until its contacts are content, group by group of bodies that touch."""

from __future__ import annotations

import numpy as np

from ..arrays import Bools, Floats, Indices
from ..model import Model
from .follow import find_shares, take_first
from .pushing import Pushing
from .settle import CONTENT, GOES_ON, LOST, TURNS, find_done, has_gained, join_islands, settle
from .touching import Touching

MOST_SOLVES = 5  # linear solves per step; contacts are content after one or two in most steps
MOST_WHEN_VIOLENT = 20  # the same where bodies hit each other so hard that they would be deep in each other
MOST_LIFTS = 4  # solves of a step after which contacts that sank are lifted; later those that are crushed alone
ONLY_DROP = 13  # solves of a violent step after which none is added: what pulls would throw bodies apart
ONLY_ADD = 3  # solves of a step after which contacts are not dropped any more


class Settling:
    """The groups of a step, and which of them are still being solved."""

    def __init__(self, model: Model) -> None:
        """Begins it for the bodies of a model."""
        self.model = model
        self.solves, self.is_settled = 0, True
        self.group = np.empty(model.pattern.island_count, np.int32)
        self.fate = np.empty(model.pattern.island_count, np.int8)
        self.share = np.ones(model.pattern.island_count)
        self.is_followed, self.is_lost = False, False

    def begin(self, touching: Touching, pushing: Pushing, known_force: Floats, normal_force: Floats) -> None:
        """Leaves of contacts guessed by velocity those on that bodies meet first."""
        of = self._join(pushing, normal_force)
        first = np.empty(len(self.group))
        take_first(of, known_force, normal_force, touching.gap, pushing.size, pushing.k, first, pushing.on)

    def follow(self, pushing: Pushing, before: Floats, after: Floats, bending: Floats) -> Floats | None:
        """Returns how far each island follows a solve, 0 to 1, (islands,); None: all to its end.

        Args:
            pushing: What was solved with.
            before, after: Normal forces at both ends, negative where a contact would pull [N], (k,).
            bending: dᵀ H d of the way between them per island, (islands,).
        """
        self.is_followed = True
        of = self._join(pushing, np.maximum(before, after))
        find_shares(of, self.group, bending, before, after, pushing.k, pushing.on, self.share)
        return self.share if self.share.min() < 1.0 else None

    def settle(
        self,
        touching: Touching,
        rigid: int,
        pushing: Pushing,
        normal_force: Floats,
        shear: Floats,
        is_wrong: Bools | None = None,
    ) -> bool:
        """Lets contacts push and slide as the end of a solve says; returns whether any group has to be solved again.

        Args:
            touching, rigid, pushing: The contacts, and how many of them are with rigid colliders.
            normal_force, shear: Of `measure` at the end of the solve.
            is_wrong: Islands that want to be solved again whatever contacts say, (k,); None: none.
        """
        self.solves += 1
        if not len(normal_force) and is_wrong is None and not self.is_followed:
            self.fate[:], self.is_settled, self.is_lost = CONTENT, True, False
            return False
        count = self.solves
        # sets of contacts may go round in circles; a short pull does less harm than a point that sinks in
        only_add = count >= ONLY_ADD and not self.is_followed
        only_drop = count >= ONLY_DROP and not self.is_followed
        of = self._join(pushing, normal_force)
        highest = settle(
            only_add, only_drop, rigid, count <= MOST_LIFTS, count < MOST_SOLVES, count < MOST_WHEN_VIOLENT, self.group,
            of, self.share, normal_force, shear, touching.gap, pushing.shear, pushing.size, pushing.k, pushing.mu,
            pushing.on, pushing.kappa, pushing.slip, pushing.shift,
            np.zeros(len(self.group), bool) if is_wrong is None else is_wrong, self.fate,
        )  # fmt: skip
        self.is_settled = highest == CONTENT
        self.is_lost = highest == LOST
        return bool(highest >= GOES_ON)

    def is_astray(self, before: Floats, v: Floats, least: float) -> bool:
        """Returns whether the step has ended far from what contacts want, or with energy out of nothing.

        Velocities at its start and its end [m/s] are (n, 3); slower than `least` is no energy worth that.
        """
        if self.is_settled:
            return False
        gained, row = np.empty((len(self.group), 2)), self.model.pattern.island_of_row
        return self.is_lost or bool(has_gained(least, self.fate, self.group, row, self.model.mass, before, v, gained))

    def done(self) -> Bools | None:
        """Returns which nodes stay as the last solve has left them, (n,); None where that is none."""
        if not self.solves or len(self.fate) == 1 or self.fate.min() >= GOES_ON:
            return None
        is_done = np.empty(self.model.node_count, bool)
        find_done(self.fate, self.model.pattern.island_of_row, is_done)
        return is_done

    def only_turn(self) -> Bools | None:
        """Returns the islands whose contacts are content, but not their rotations, (k,); None before any solve."""
        return self.fate == TURNS if self.solves else None

    def groups(self, pushing: Pushing, normal_force: Floats) -> Indices:
        """Returns the lowest island of each island's group, (islands,), by what presses [N], (k,)."""
        self._join(pushing, normal_force)
        return self.group.copy()

    def _join(self, pushing: Pushing, normal_force: Floats) -> Indices:
        """Joins islands to groups, and returns the group of each contact, (k,)."""
        model, count = self.model, len(normal_force)
        if len(self.group) == 1:  # by far most scenes, where microseconds count
            self.group[0] = 0
            return np.zeros(count, np.int32)
        of = np.empty(count, np.int32)
        join_islands(normal_force, pushing.on, pushing.ends, model.tets, model.pattern.island_of_row, self.group, of)
        return of
