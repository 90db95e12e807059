# SPDX-License-Identifier: GPL-3.0-or-later
"""Active-set iteration: solves a step until no contact changes sides, group by group of bodies that touch."""

from __future__ import annotations

import numpy as np

from ...mechanics.model import Model
from ...runtime.arrays import Bools, Floats, Indices
from ..detection.contact_set import ContactSet, ContactState
from .active_set_update import (
    CONTINUES,
    CONVERGED,
    DIVERGED,
    ROTATES,
    ContactGroups,
    SolveRules,
    find_frozen_nodes,
    find_gained_energy,
    group_islands,
    update_active_set,
)
from .contact_line_search import keep_earliest_contacts, line_search_steps

MAX_SOLVES = 5  # linear solves per step; in most steps contacts converge after one or two
# the same among pieces of broken bodies, and while forces from colliders are wrong: most such steps need six to nine,
# and what is cut off is halved, or adds energy
MAX_LONGER_SOLVES = 10
MAX_SOLVES_AT_IMPACT = 20  # the same where bodies hit each other so hard that they would be deep in each other
MAX_LIFT_SOLVES = 4  # solves of a step after which contacts that sank are lifted; later those that are crushed alone
DROP_ONLY_AFTER_SOLVES = 13  # solves of a violent step after which no contact is added: pulling ones scatter bodies
ADD_ONLY_AFTER_SOLVES = 3  # solves of a step after which no contact is dropped


class ActiveSet:
    """The groups of a step, and which of them are still being solved."""

    def __init__(self, model: Model) -> None:
        """Begins the iteration for the bodies of a model."""
        self.model = model
        self.solves, self.is_converged = 0, True
        self.group = np.arange(model.pattern.island_count, dtype=np.int32)
        self.group_status = np.empty(model.pattern.island_count, np.int8)
        self.step_length = np.ones(model.pattern.island_count)
        self.is_piece = np.zeros(model.pattern.island_count, bool)
        self.is_globalised = False
        self.lifts_itself = False  # whether what solves the step lifts contacts that sank

    def begin(self, contacts: ContactSet, state: ContactState, previous_force: Floats, normal_force: Floats) -> None:
        """Leaves active, of contacts predicted from velocities, those that bodies reach first.

        Args:
            contacts, state: The contacts.
            previous_force: Normal forces in the step before [N], (k,).
            normal_force: At the end of the step by velocity alone [N], (k,).
        """
        group_of_contact = self._group_contacts(state, normal_force)
        first = np.empty(len(self.group))
        keep_earliest_contacts(
            group_of_contact, previous_force, normal_force, contacts.gap, state.size, state.k, first, state.is_active
        )

    def line_search(self, state: ContactState, before: Floats, after: Floats, bending: Floats) -> Floats | None:
        """Returns the share of a solve that each island follows, 0 to 1, (islands,); None: all follow it to its end.

        Args:
            state: Of the contacts in the solve.
            before, after: Normal forces at both ends, negative where a contact would pull [N], (k,).
            bending: dᵀ H d of the change d of velocities between them per island, (islands,).
        """
        self.is_globalised = True
        group_of_contact = self._group_contacts(state, np.maximum(before, after))
        line_search_steps(group_of_contact, self.group, bending, before, after, state.arrays, self.step_length)
        return self.step_length if self.step_length.min() < 1.0 else None

    def update(
        self,
        contacts: ContactSet,
        rigid_count: int,
        state: ContactState,
        normal_force: Floats,
        shear: Floats,
        is_wrong: Bools | None = None,
    ) -> bool:
        """Changes which contacts push and slide by the end of a solve; returns whether any group needs another solve.

        Args:
            contacts, rigid_count, state: The contacts, and how many of them are with rigid colliders.
            normal_force, shear: Of `measure_contacts` at the end of the solve.
            is_wrong: Islands that need another solve whatever contacts say, (islands,); None: none.
        """
        self.solves += 1
        if not len(normal_force) and is_wrong is None and not self.is_globalised:
            self.group_status[:], self.is_converged = CONVERGED, True
            return False
        count = self.solves
        # active sets may cycle; a short pull does less harm than a point that sinks in
        rules = SolveRules(
            only_add=count >= ADD_ONLY_AFTER_SOLVES and not self.is_globalised,
            only_drop=count >= DROP_ONLY_AFTER_SOLVES and not self.is_globalised,
            may_lift=count <= MAX_LIFT_SOLVES and not self.lifts_itself,
            may_continue=count < MAX_SOLVES,
            may_continue_longer=count < MAX_LONGER_SOLVES,
            may_continue_at_impact=count < MAX_SOLVES_AT_IMPACT,
        )
        group_of_contact = self._group_contacts(state, normal_force)
        is_wrong = np.zeros(len(self.group), bool) if is_wrong is None else is_wrong
        groups = ContactGroups(
            self.group, group_of_contact, self.step_length, is_wrong, self.is_piece, self.group_status
        )
        highest = update_active_set(rules, groups, contacts.arrays, state.arrays, rigid_count, normal_force, shear)
        self.is_converged = highest == CONVERGED
        return bool(highest >= CONTINUES)

    def diverged_islands(self, available: Floats, v: Floats, min_speed: float) -> Bools:
        """Returns islands whose group ended with large errors of contacts, or with energy from nothing, (islands,).

        Args:
            available: Kinetic energy of islands where the step began, and the work of gravity in it [J], (islands,).
            v: Velocities at its end [m/s], (n, 3).
            min_speed: Slower motion does not count [m/s].
        """
        if self.is_converged:
            return np.zeros(len(self.group), bool)
        has_diverged, energy = self.group_status == DIVERGED, np.empty((len(self.group), 2))
        row, mass = self.model.pattern.island_of_row, self.model.mass
        find_gained_energy(min_speed, self.group_status, self.group, row, mass, available, v, energy, has_diverged)
        return has_diverged

    def islands_with_pieces(self) -> Bools:
        """Returns islands that are pieces of a broken body, or are in a group with some, (islands,)."""
        has_pieces = np.zeros(len(self.group), bool)
        has_pieces[self.group[self.is_piece]] = True
        return has_pieces[self.group]

    def frozen_nodes(self) -> Bools | None:
        """Returns which nodes keep the result of the last solve, (n,); None if there are none."""
        if not self.solves or len(self.group_status) == 1 or self.group_status.min() >= CONTINUES:
            return None
        is_frozen = np.empty(self.model.node_count, bool)
        find_frozen_nodes(self.group_status, self.model.pattern.island_of_row, is_frozen)
        return is_frozen

    def rotation_only_islands(self) -> Bools | None:
        """Returns the islands whose contacts have converged, but not their rotations, (islands,); None before any
        solve.
        """
        return self.group_status == ROTATES if self.solves else None

    def groups(self, state: ContactState, normal_force: Floats) -> Indices:
        """Returns the lowest island of each island's group, (islands,), by normal forces [N], (k,)."""
        self._group_contacts(state, normal_force)
        return self.group.copy()

    def _group_contacts(self, state: ContactState, normal_force: Floats) -> Indices:
        """Joins islands to groups, and returns the group of each contact, (k,)."""
        model, count = self.model, len(normal_force)
        if len(self.group) == 1:  # by far most scenes, where microseconds count
            self.group[0] = 0
            return np.zeros(count, np.int32)
        of_contact = np.empty(count, np.int32)
        row = model.pattern.island_of_row
        group_islands(normal_force, state.is_active, state.attachment.tet, model.tets, row, self.group, of_contact)
        return of_contact
