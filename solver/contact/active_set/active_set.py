# SPDX-License-Identifier: GPL-3.0-or-later
"""How often a step is solved until its contacts are content, group by group of bodies that touch."""

from __future__ import annotations

import numpy as np

from ...mechanics.model import Model
from ...runtime.arrays import Bools, Floats, Indices
from ..detection.contact_set import ContactSet
from .active_set_kernels import (
    CONTINUES,
    CONVERGED,
    DIVERGED,
    ROTATES,
    find_frozen_nodes,
    group_islands,
    has_gained_energy,
    update_active_set,
)
from .contact_line_search import keep_earliest_contacts, line_search_steps
from .contact_state import ContactState

MAX_SOLVES = 5  # linear solves per step; contacts are content after one or two in most steps
MAX_SOLVES_AT_IMPACT = 20  # the same where bodies hit each other so hard that they would be deep in each other
MAX_LIFT_SOLVES = 4  # solves of a step after which contacts that sank are lifted; later those that are crushed alone
DROP_ONLY_AFTER_SOLVES = 13  # solves of a violent step after which none is added: what pulls would throw bodies apart
ADD_ONLY_AFTER_SOLVES = 3  # solves of a step after which contacts are not dropped any more


class ActiveSet:
    """The groups of a step, and which of them are still being solved."""

    def __init__(self, model: Model) -> None:
        """Begins it for the bodies of a model."""
        self.model = model
        self.solves, self.is_converged = 0, True
        self.group = np.empty(model.pattern.island_count, np.int32)
        self.group_status = np.empty(model.pattern.island_count, np.int8)
        self.step_length = np.ones(model.pattern.island_count)
        self.has_line_search, self.has_failed = False, False

    def begin(self, touching: ContactSet, pushing: ContactState, known_force: Floats, normal_force: Floats) -> None:
        """Leaves of contacts guessed by velocity those on that bodies meet first."""
        of = self._group_contacts(pushing, normal_force)
        first = np.empty(len(self.group))
        keep_earliest_contacts(
            of, known_force, normal_force, touching.gap, pushing.size, pushing.k, first, pushing.is_active
        )

    def line_search(self, pushing: ContactState, before: Floats, after: Floats, bending: Floats) -> Floats | None:
        """Returns how far each island follows a solve, 0 to 1, (islands,); None: all to its end.

        Args:
            pushing: What was solved with.
            before, after: Normal forces at both ends, negative where a contact would pull [N], (k,).
            bending: dᵀ H d of the way between them per island, (islands,).
        """
        self.has_line_search = True
        of = self._group_contacts(pushing, np.maximum(before, after))
        line_search_steps(of, self.group, bending, before, after, pushing.k, pushing.is_active, self.step_length)
        return self.step_length if self.step_length.min() < 1.0 else None

    def update(
        self,
        touching: ContactSet,
        rigid: int,
        pushing: ContactState,
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
        if not len(normal_force) and is_wrong is None and not self.has_line_search:
            self.group_status[:], self.is_converged, self.has_failed = CONVERGED, True, False
            return False
        count = self.solves
        # sets of contacts may go round in circles; a short pull does less harm than a point that sinks in
        only_add = count >= ADD_ONLY_AFTER_SOLVES and not self.has_line_search
        only_drop = count >= DROP_ONLY_AFTER_SOLVES and not self.has_line_search
        of = self._group_contacts(pushing, normal_force)
        highest = update_active_set(
            only_add,
            only_drop,
            rigid,
            count <= MAX_LIFT_SOLVES,
            count < MAX_SOLVES,
            count < MAX_SOLVES_AT_IMPACT,
            self.group,
            of,
            self.step_length,
            normal_force,
            shear,
            touching.gap,
            pushing.shear,
            pushing.size,
            pushing.k,
            pushing.mu,
            pushing.is_active,
            pushing.kappa,
            pushing.sliding_friction,
            pushing.shift,
            np.zeros(len(self.group), bool) if is_wrong is None else is_wrong,
            self.group_status,
        )
        self.is_converged = highest == CONVERGED
        self.has_failed = highest == DIVERGED
        return bool(highest >= CONTINUES)

    def has_diverged(self, before: Floats, v: Floats, least: float) -> bool:
        """Returns whether the step has ended far from what contacts want, or with energy out of nothing.

        Velocities at its start and its end [m/s] are (n, 3); slower than `least` is no energy worth that.
        """
        if self.is_converged:
            return False
        gained, row = np.empty((len(self.group), 2)), self.model.pattern.island_of_row
        return self.has_failed or bool(
            has_gained_energy(least, self.group_status, self.group, row, self.model.mass, before, v, gained)
        )

    def frozen_nodes(self) -> Bools | None:
        """Returns which nodes stay as the last solve has left them, (n,); None where that is none."""
        if not self.solves or len(self.group_status) == 1 or self.group_status.min() >= CONTINUES:
            return None
        is_done = np.empty(self.model.node_count, bool)
        find_frozen_nodes(self.group_status, self.model.pattern.island_of_row, is_done)
        return is_done

    def rotation_only_islands(self) -> Bools | None:
        """Returns the islands whose contacts are content, but not their rotations, (k,); None before any solve."""
        return self.group_status == ROTATES if self.solves else None

    def groups(self, pushing: ContactState, normal_force: Floats) -> Indices:
        """Returns the lowest island of each island's group, (islands,), by what presses [N], (k,)."""
        self._group_contacts(pushing, normal_force)
        return self.group.copy()

    def _group_contacts(self, pushing: ContactState, normal_force: Floats) -> Indices:
        """Joins islands to groups, and returns the group of each contact, (k,)."""
        model, count = self.model, len(normal_force)
        if len(self.group) == 1:  # by far most scenes, where microseconds count
            self.group[0] = 0
            return np.zeros(count, np.int32)
        of = np.empty(count, np.int32)
        group_islands(
            normal_force, pushing.is_active, pushing.ends, model.tets, model.pattern.island_of_row, self.group, of
        )
        return of
