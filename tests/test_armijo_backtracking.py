# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps have to lower the potential enough. Those that are too long are cut to the lowest point of a parabola."""

from __future__ import annotations

import numpy as np
import pytest

from sinew.solver.mechanics.armijo_backtracking import (
    ARMIJO_FACTOR,
    MAX_STEP_RATIO,
    MIN_STEP_RATIO,
    falls_enough,
    shorter_step,
)


@pytest.mark.parametrize("before", [0.0, -7.0])
def test_a_step_has_to_fall_by_a_share_of_its_slope(before: float) -> None:
    s, g = 0.5, 8.0
    least = ARMIJO_FACTOR * s * g
    assert falls_enough(before, before - 1.01 * least, s, g, 0.0)
    assert not falls_enough(before, before - 0.99 * least, s, g, 0.0)
    assert falls_enough(before, before - 0.99 * least, s, g, 0.02 * least)
    assert not falls_enough(before, np.nan, s, g, 1.0) and not falls_enough(before, np.inf, s, g, 1.0)


def test_bodies_fall_enough_each_for_itself() -> None:
    after, s, g = np.array([-1.0, 1.0, np.nan, 0.5]), np.ones(4), np.ones(4)
    assert falls_enough(0.0, after, s, g, np.array([0.0, 0.0, 0.0, 1.0])).tolist() == [True, False, False, True]


@pytest.mark.parametrize("lowest", [0.12, 0.3, 0.49])
def test_a_parabola_is_cut_to_its_lowest_point(lowest: float) -> None:
    """Φ(s) = a s² − g s has its lowest point at g / 2a, and rises by a s² above its tangent."""
    g, s = 3.0, 2.0
    a = 0.5 * g / (lowest * s)
    assert shorter_step(s, g, a * s * s) == pytest.approx(lowest * s)


@pytest.mark.parametrize("rise", [0.0, -1.0, np.inf, np.nan, 1.0e30])
def test_without_a_lowest_point_ahead_the_step_is_cut_most(rise: float) -> None:
    assert shorter_step(2.0, 1.0, rise) == MIN_STEP_RATIO * 2.0


def test_bodies_have_their_own_steps() -> None:
    s, g, rise = np.array([1.0, 1.0, 0.5]), np.array([1.0, 2.0, 1.0]), np.array([1.0e-9, 4.0, np.inf])
    single = [shorter_step(*each) for each in zip(s.tolist(), g.tolist(), rise.tolist(), strict=True)]
    assert shorter_step(s, g, rise).tolist() == single == [MAX_STEP_RATIO, 0.25, 0.5 * MIN_STEP_RATIO]
