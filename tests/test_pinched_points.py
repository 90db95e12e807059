# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts that push against each other at one node begin at the middle of both sides; others are left alone."""

from __future__ import annotations

import numpy as np
import pytest

from sinew.solver.contact.active_set.pinched_points import PINCHED_DEPTH, allow_pinched_depths
from sinew.solver.contact.detection.contact_set import ContactSet, ContactState

TETS = np.array([[0, 1, 2, 3], [4, 5, 6, 7]], np.int32)
SIZE = 0.1


def shifts(*contacts: tuple[int, tuple[float, float, float], float], is_thin: bool = True) -> np.ndarray:
    """Returns the shifts of contacts at nodes, with normals and gaps, that all had a shift of 1 mm."""
    count = len(contacts)
    normal = np.array([n for _, n, _ in contacts]) / [[np.linalg.norm(n)] for _, n, _ in contacts]
    found = ContactSet(
        np.arange(count), normal, np.array([gap for *_, gap in contacts]), np.zeros((count, 3)),
        np.zeros(count, np.int8),
    )  # fmt: skip
    state = ContactState.allocate(count)
    state.size[:], state.shift[:] = SIZE, 0.001
    for row, (node, *_) in enumerate(contacts):
        state.attachment.tet[row] = -1
        state.attachment.tet[row, 0] = node // 4
        state.attachment.weights[row, : 4 if count else 0] = 0.1
        state.attachment.weights[row, node % 4] = 0.7
    allow_pinched_depths(found, state, TETS, np.array([is_thin, is_thin]))
    return state.shift


def test_both_sides_act_from_their_middle_on() -> None:
    middle = -(0.5 * (0.03 + 0.01) - PINCHED_DEPTH * SIZE)
    found = shifts((2, (1.0, 0.0, 0.0), -0.03), (6, (1.0, 0.0, 0.0), -0.03), (2, (-1.0, 0.1, 0.0), -0.01))
    assert found == pytest.approx([middle, 0.001, middle])


def test_the_deepest_of_several_counts() -> None:
    found = shifts((1, (1, 0, 0), -0.02), (1, (-1, 0, 0), -0.01), (1, (-1, 0.2, 0), -0.04), (1, (1, 0.1, 0), -0.005))
    pairs = np.array([0.5 * (0.02 + 0.04), 0.5 * (0.01 + 0.02), 0.5 * (0.04 + 0.02), 0.5 * (0.005 + 0.04)])
    assert found == pytest.approx(-(pairs - PINCHED_DEPTH * SIZE))


def test_what_does_not_oppose_or_hardly_touches_stays() -> None:
    assert (shifts((1, (1, 0, 0), -0.03), (1, (0, 1, 0), -0.03)) == 0.001).all()
    assert (shifts((1, (1, 0, 0), -0.0015), (1, (-1, 0, 0), -0.0015)) == 0.001).all()
    assert (shifts((1, (1, 0, 0), -0.03), (1, (-1, 0, 0), -0.03), is_thin=False) == 0.001).all()
    assert (shifts((1, (1, 0, 0), 0.02), (1, (-1, 0, 0), -0.03)) == 0.001).all()
