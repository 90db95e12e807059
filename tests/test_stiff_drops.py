# SPDX-License-Identifier: GPL-3.0-or-later
"""Small stiff bodies keep their shape when they fall at the default settings, and a bake that goes wrong says so."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from fixtures.scenes import JELLY, rotation
from fixtures.stiff_drops import Drop, outcome_of, run_of
from fixtures.tet_meshes import bar
from sinew.solver.bake.contact_convergence_warnings import bake_warnings
from sinew.solver.mechanics.finite_rotation_correction import with_finite_rotations
from sinew.solver.mechanics.model import Part, make_model
from sinew.solver.scene.scene import Settings


@pytest.mark.parametrize(
    "drop",
    [
        pytest.param(Drop("ball", 2.0e-3, 7.0e10, 2500.0, 0.1, 4, 0.3, (0.0, 0.0, 0.0)), marks=pytest.mark.slow),
        Drop("cube", 3.0e-3, 1.0e9, 1000.0, 1.0, 4, 0.7, (0.4, 1.1, 0.2)),
        Drop("rock", 1.0e-4, 1.0e5, 1000.0, 0.3, 2, 0.6, (1.0, 2.0, 0.5)),
    ],
    ids=["glass ball of 2 mm", "cube of 3 mm on a corner", "rock of 0.1 mm"],
)
def test_small_stiff_bodies_keep_their_volume_and_gain_no_energy(tmp_path: Path, drop: Drop) -> None:
    found = outcome_of(run_of(tmp_path, drop), drop)
    assert found.volume < 0.05 and found.depth < 0.02 and found.gain < 0.01, found


def test_what_turns_along_straight_ways_is_rotated_instead() -> None:
    """A block that is led along chords of a turn by half a radian keeps its shape."""
    X, tets = bar((2, 1, 1), (2.0, 1.0, 1.0))
    model = make_model([Part("b", X, tets, np.ones(len(tets)), JELLY)])
    axis = np.array([0.0, 0.0, 0.5])
    middle = model.mass @ model.X / model.mass.sum()
    led = model.X + np.cross(axis, model.X - middle) + [1.0, 2.0, 3.0]
    start = np.asarray(model.pattern.island_start, np.int64)
    found, angle = with_finite_rotations(start, model.mass, model.X, led, np.ones(1, bool))
    want = (model.X - middle) @ rotation([0.0, 0.0, 1.0], 0.5).T + middle + [1.0, 2.0, 3.0]
    assert angle[0] == pytest.approx(0.5) and found == pytest.approx(want)
    kept, none = with_finite_rotations(start, model.mass, model.X, led, np.zeros(1, bool))
    assert kept is led and not none.any()


@pytest.mark.parametrize(("unsettled", "count"), [(0, 0), (2, 0), (3, 1)])
def test_a_bake_says_when_most_steps_with_contact_are_unsettled(unsettled: int, count: int) -> None:
    """Two frames of two steps touch something; those in the air do not count."""
    touching = [{"contacts": 3, "unsettled": unsettled // 2}, {"contacts": 1, "unsettled": unsettled - unsettled // 2}]
    lines = [{"contacts": 0, "unsettled": 0}] * 5 + touching
    told = bake_warnings(lines, Settings(substeps=2))
    assert len(told) == count
    assert not told or ("3 of 4" in told[0].sentence and "Substeps" in told[0].next_step)


def test_cases_are_told_to_be_stiff_by_blow_and_weight() -> None:
    drop = Drop("ball", 1.0, 1.0e7, 1000.0, 1.0, 4, 0.5, (0.0, 0.0, 0.0))
    assert drop.blow == pytest.approx(math.sqrt(2.0 * 9.81) * 0.01) and drop.sag == pytest.approx(9.81e-4)
    assert not drop.is_stiff
