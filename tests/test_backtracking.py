# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps that are too long are cut to the lowest point of a parabola, by no more and no less than the bounds."""

from __future__ import annotations

import numpy as np
import pytest

from sinew.solver.mechanics.backtracking import MAX_STEP_RATIO, MIN_STEP_RATIO, shorter_step


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
