# SPDX-License-Identifier: GPL-3.0-or-later
"""An arm of flesh on bones swings into its own torso and out again, by Exact contact and by Fast."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest

from fixtures.exact_checks import advance_and_count
from fixtures.posed_figures import posed_figure
from sinew.solver.scene.flesh import FLESH_MOTIONS, Flesh
from sinew.solver.scene.scene import Settings

SETTINGS = Settings(contact="exact", frame_end=60, substeps=2)
SWING = np.concatenate([np.linspace(0.0, 100.0, 16), np.linspace(100.0, 0.0, 16)[1:]])


@pytest.mark.parametrize("motion", FLESH_MOTIONS)
def test_an_arm_passes_into_its_own_torso(reach, tmp_path, motion) -> None:
    frames, seconds = len(SWING) - 1, {}
    for contact in ("exact", "fast"):
        run = posed_figure(tmp_path / contact, SWING, replace(SETTINGS, contact=contact), 2, Flesh(motion))
        run.simulation.start()
        started = time.process_time()
        found = advance_and_count(run, frames)
        seconds[contact] = time.process_time() - started
        tets = run.built.model.tet_count
        label = f"{contact}: an arm swings into its own torso, {motion} flesh of {tets} tets, {2 * frames} steps"
        if contact == "fast":
            reach("Contact", f"{label}: intersections at frames", found, "some", found > 0)
            continue
        reach("Contact", f"{label}: intersections", found, 0, found == 0)
        unsettled = sum(report.unsettled for report in run.reports)
        reach("Contact", f"{label}: steps that did not converge", unsettled, 0, unsettled == 0)
        let_in = max(report.let_in for report in run.reports)
        reach("Contact", f"{label}: let in", let_in, 0, let_in == 0)
        most = max(report.contacts for report in run.reports)
        reach("Contact", f"{label}: pairs that push at most", most, "some", most > 0)
        solves = sum(report.solves for report in run.reports) / (2 * frames)
        reach("Contact", f"{label}: Newton iterations a step", f"{solves:.1f}", "30", solves < 30.0)
    ratio = seconds["exact"] / seconds["fast"]
    reach("Contact", f"processor time over Fast's, {motion} flesh", f"{ratio:.1f}", "5", ratio < 5.0)
