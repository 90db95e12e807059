# SPDX-License-Identifier: GPL-3.0-or-later
"""What becomes of a contact that pushes and sinks in deep within a step."""

import numpy as np
import pytest

from sinew.solver.contact.active_set.active_set_update import (
    CONTINUES,
    CONVERGED,
    CRUSH_DEPTH,
    DIVERGED,
    MAX_SINK_DEPTH,
    ContactGroups,
    SolveRules,
    update_active_set,
)
from sinew.solver.contact.active_set.contact_springs import MAX_PUSH_OUT_PER_STEP
from sinew.solver.contact.detection.contact_set import ContactSet, ContactState

K, SIZE = 1.0e4, 0.2


def settled(deep: float, *, gap=0.0, rigid=0, may_lift=False, may_go_on=False, may_go_on_long=True):
    """Returns the fate of a body with one contact that pushes, that ends `deep` sizes of tets in, and its shift [m]."""
    N, status, state = np.array([K * deep * SIZE]), np.zeros(1, np.int8), ContactState.allocate(1)
    state.size[:], state.k[:] = SIZE, K
    whole, vector = np.zeros(1, np.int32), np.zeros((1, 3))
    contacts = ContactSet(np.zeros(1, np.int64), vector, np.array([gap]), vector, np.zeros(1, np.int8))
    rules = SolveRules(False, False, may_lift, may_go_on, may_go_on, may_go_on_long)
    groups = ContactGroups(whole, whole, np.ones(1), np.zeros(1, bool), np.zeros(1, bool), status)
    highest = update_active_set(rules, groups, contacts.arrays, state.arrays, rigid, N, vector)
    assert highest == status[0]
    return status[0], state.shift[0]


def test_what_is_crushed_is_lifted_as_long_as_a_step_is_solved():
    assert settled(1.5 * CRUSH_DEPTH) == (CONTINUES, pytest.approx(MAX_PUSH_OUT_PER_STEP * SIZE))
    assert settled(0.9 * CRUSH_DEPTH) == (CONVERGED, 0.0)


def test_a_step_that_ends_crushed_is_lost():
    assert settled(1.5 * CRUSH_DEPTH, may_go_on_long=False)[0] == DIVERGED
    assert settled(0.9 * CRUSH_DEPTH, may_go_on_long=False)[0] == CONVERGED


def test_what_is_sunk_is_lifted_in_the_first_solves():
    deep = 0.9 * CRUSH_DEPTH
    assert settled(deep, may_lift=True, may_go_on=True) == (
        CONTINUES,
        pytest.approx((deep - 0.5 * MAX_SINK_DEPTH) * SIZE),
    )


def test_what_was_deep_already_and_what_is_in_a_rigid_collider_is_not_lifted():
    assert settled(1.5 * CRUSH_DEPTH, gap=-CRUSH_DEPTH * SIZE) == (CONVERGED, 0.0)
    assert settled(1.5 * CRUSH_DEPTH, rigid=1) == (CONVERGED, 0.0)
