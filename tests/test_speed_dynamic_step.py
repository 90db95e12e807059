# SPDX-License-Identifier: GPL-3.0-or-later
"""The comparison of dynamic steps: peers solve the same system, and errors are what they are said to be."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "benchmarks"))

from speed.baseline_scipy import ScipyConjugateGradients
from speed.beams import CELLS, DT, GRAVITY
from speed.dynamic_step import (
    SOLUTION_TOLERANCE,
    MujocoBeam,
    energy_norm_error,
    fewest_iterations,
    make_beam,
    run,
    solver_settings,
)

pytestmark = pytest.mark.slow


def test_the_fewest_iterations_are_found():
    assert [fewest_iterations(lambda n, k=k: n >= k) for k in (1, 2, 3, 37, 1000, 1001)] == [1, 2, 3, 37, 1000, None]


def test_errors_are_relative_and_fall_with_iterations():
    beam = make_beam(CELLS["450"])
    goal = beam.goal
    assert energy_norm_error(beam.model, beam.values, 1.1 * goal, goal) == pytest.approx(0.1)
    asked = solver_settings(beam, 0.025)
    assert all(energy_norm_error(beam.model, beam.values, beam.first_step(s), goal) <= 0.025 for s in asked.values())


def test_scipy_solves_the_same_system():
    beam = make_beam(CELLS["450"])
    model = beam.model
    peer = ScipyConjugateGradients(model.pattern, beam.values, model.X[:, 2] != 0.0)
    b = np.outer(model.mass, np.multiply(DT, GRAVITY))
    assert energy_norm_error(model, beam.values, peer.solve(b, 500), beam.goal) < SOLUTION_TOLERANCE


def test_mujoco_solves_the_same_system_but_for_its_masses():
    pytest.importorskip("mujoco")
    peer = MujocoBeam(make_beam(CELLS["450"]))
    assert peer.error(500) < SOLUTION_TOLERANCE
    assert peer.error(3) > peer.error(6) > SOLUTION_TOLERANCE


def test_a_quick_run_has_rows_and_values():
    pytest.importorskip("mujoco")
    result = run(True)
    assert len([row for row in result.rows if row.line == 1]) == 2, result.rows
    assert result.values["mujoco.10K.0.025.ratio"] > 0.0
