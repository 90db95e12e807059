# SPDX-License-Identifier: GPL-3.0-or-later
"""The experiments of MG04, reduced: they reach the paper's claims."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="make papers draws with it")

from harness.formulations import formulation
from papers import mg04_condition, mg04_cost

pytestmark = pytest.mark.slow


def test_the_condition_number_is_that_of_numpy():
    model = mg04_condition.bar_model(1.0e5)
    is_free = model.X[:, 2] > 0.0
    # the stiffness column by column from forces, which are linear about the rest shape for tiny motions

    h, n = 1e-7, model.node_count
    asked = formulation(model, mg04_condition.WARPED)
    K = np.empty((3 * n, 3 * n))
    for k in range(3 * n):
        there, back = model.X.copy(), model.X.copy()
        there.ravel()[k] += h
        back.ravel()[k] -= h
        K[:, k] = ((asked.forces(back) - asked.forces(there)) / (2.0 * h)).ravel()
    A = mg04_condition.DT**2 * K + np.diag(np.repeat(model.mass, 3))
    free = np.repeat(is_free, 3)
    expected = np.linalg.cond(A[np.ix_(free, free)])
    assert mg04_condition.condition_number(model, model.X, is_free) == pytest.approx(expected, rel=1e-5)


def test_the_condition_number_hardly_changes():
    assert mg04_condition.run(True).values["bar 1e+05"] <= 0.25


def test_turning_the_bar_does_not_change_the_condition_number():
    model = mg04_condition.bar_model(1.0e6)
    is_free = np.ones(model.node_count, bool)
    turned = model.X @ np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    at_rest = mg04_condition.condition_number(model, model.X, is_free)
    assert mg04_condition.condition_number(model, turned, is_free) == pytest.approx(at_rest, rel=1e-9)


def test_figure_7_counts_tets_and_takes_time():
    result = mg04_cost.run(True)
    assert [row.quantity for row in result.rows[:2]] == ["140 tets", "450 tets"]
    assert all(result.values[f"ratio {tets}"] > 0.2 for tets in (140, 450))
