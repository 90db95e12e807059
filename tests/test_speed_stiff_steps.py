# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames of stiff beams: the two that are compared do the same, one of them with more iterations."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "benchmarks"))

from speed import stiff_steps

pytestmark = pytest.mark.slow


def test_both_swing_alike_and_one_takes_longer() -> None:
    settings = stiff_steps.SETTINGS, stiff_steps.JACOBI_SETTINGS
    ours, alone = (stiff_steps.SwingingBeam((5, 5, 20), 1.0e8, each) for each in settings)
    for _ in range(3):
        ours()
        alone()
    away = np.abs(ours.state.x - alone.state.x).max() / np.abs(ours.state.x - ours.model.X).max()
    assert away < 0.1
    assert ours.converged and 5 * max(ours.iterations[1:]) < min(alone.iterations)
    assert "not converged" not in ours.told(1.0)
    alone.converged = False
    assert "not converged" in alone.told(1.0)


def test_every_step_of_a_large_stiff_beam_converges() -> None:
    """100,000 tets of 100 MPa: block Jacobi alone spends its 400 iterations without arriving."""
    beam = stiff_steps.SwingingBeam(stiff_steps.CELLS["100K"], 1.0e8, stiff_steps.SETTINGS)
    for frame in range(5):
        beam()
        assert beam.converged and max(beam.iterations) < 100, (frame, beam.iterations)


def test_a_quick_run_has_a_row_for_each_stiffness() -> None:
    result = stiff_steps.run(True)
    assert len(result.rows) == len(stiff_steps.STIFFNESSES) and all(row.reached is None for row in result.rows)
    assert all(value > 0.0 for value in result.values.values())
