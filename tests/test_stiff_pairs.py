# SPDX-License-Identifier: GPL-3.0-or-later
"""Small stiff bodies keep their shape when they meet each other, and a step that cannot be right ends the bake."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fixtures.stiff_drops import Drop
from fixtures.stiff_drops import run_of as run_of_drop
from fixtures.stiff_pairs import Meeting, outcome_of, run_of
from sinew.solver.bake.cache import CacheReader
from sinew.solver.bake.run_bake import BakeOptions, run_bake
from sinew.solver.runtime.error_messages.command_line_next_steps import MESH_COMMAND_NEXT_STEPS
from sinew.solver.runtime.errors import SolveFailed
from sinew.solver.simulation import step_attempt, step_interval, step_verdict

pytestmark = pytest.mark.slow

GLASS = Meeting("meet", "ball", 3.0e-3, 7.0e10, 2500.0, 2.0, 4, 0.3, 4)
FALLS = Drop("ball", 2.0e-3, 7.0e10, 2500.0, 0.1, 4, 0.3, (0.0, 0.0, 0.0))


@pytest.mark.parametrize(
    "meeting",
    [
        GLASS,
        replace(GLASS, youngs_modulus=1.0e9, seed=5),
        Meeting("on jelly", "ball", 2.0e-3, 7.0e10, 2500.0, 1.4, 4, 0.6, 1),
        Meeting("itself", "ball", 1.0e-2, 1.0e9, 1200.0, 1.0, 4, 0.2, 3),
    ],
    ids=["glass balls", "balls of 1 GPa", "glass ball on jelly", "ring"],
)
def test_small_stiff_bodies_that_meet_keep_their_volume_and_gain_no_energy(tmp_path: Path, meeting: Meeting) -> None:
    found = outcome_of(run_of(tmp_path, meeting), meeting)
    assert found.volume < 0.05 and found.depth < 0.02 and found.gain < 0.01, found


def without_halvings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets steps be taken as they are, so that what is small and stiff gets energy from nothing."""
    monkeypatch.setattr(step_interval, "MAX_HALVINGS", 0)
    monkeypatch.setattr(step_verdict, "MAX_CONTACT_HALVINGS", 0)


@pytest.mark.parametrize("kind", ["ground", "pair"])
def test_a_step_that_cannot_be_right_ends_the_bake_and_keeps_the_frames_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    run = run_of_drop(tmp_path / "run", FALLS) if kind == "ground" else run_of(tmp_path / "run", GLASS)
    run.scene.save(tmp_path / "cache" / "scene")
    without_halvings(monkeypatch)
    with pytest.raises(SolveFailed) as told:
        run_bake(tmp_path / "cache", lambda event: None)
    assert told.value.kind == "step-gains-energy" and told.value.exit_code == 3
    assert "frame" in told.value.sentence and "Substeps" in told.value.next_step
    reader = CacheReader(tmp_path / "cache")
    last = reader.last_frame()
    assert last is not None and last >= 1 and reader.resume_frame() == last
    monkeypatch.undo()
    run_bake(tmp_path / "cache", lambda event: None, options=BakeOptions(resume=True))
    assert reader.last_frame() == run.scene.settings.frame_end


def test_the_error_names_an_option_on_the_command_line() -> None:
    assert "--substeps" in MESH_COMMAND_NEXT_STEPS["step-gains-energy"]


def test_what_is_only_unsettled_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Soft bodies whose contacts are cut off after two solves are unsettled, and nothing else."""
    monkeypatch.setattr(step_attempt, "MAX_SOLVES_AT_IMPACT", 2)
    without_halvings(monkeypatch)
    run = run_of(tmp_path, Meeting("meet", "cube", 0.1, 1.0e5, 1000.0, 1.0, 2, 0.3, 6))
    run.advance(8)
    assert sum(report.unsettled for report in run.reports) > 0


def test_numbers_that_do_not_stay_finite_are_tried_in_halves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps longer than a thousandth of a frame fail here; the shorter ones are right."""
    run = run_of(tmp_path, replace(GLASS, youngs_modulus=1.0e9))
    longest, taken = run.scene.settings.fps**-1 / 1000.0, []
    real = step_attempt.StepAttempt.solve

    def solve(self, simulation, on_progress):
        dt = self.part.dt
        if dt > longest:
            raise SolveFailed("solve-not-finite", time=simulation.state.time + dt)
        taken.append(dt)
        return real(self, simulation, on_progress)

    monkeypatch.setattr(step_attempt.StepAttempt, "solve", solve)
    run.advance(1)
    assert taken and max(taken) <= longest and sum(taken) > 0.999 / run.scene.settings.fps
    assert np.isfinite(run.state.x).all()
    monkeypatch.setattr(step_interval, "MAX_HALVINGS", 3)
    with pytest.raises(SolveFailed) as told:
        run.advance(1)
    assert told.value.kind == "solve-not-finite"
