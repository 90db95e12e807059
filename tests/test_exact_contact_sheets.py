# SPDX-License-Identifier: GPL-3.0-or-later
"""Sheets with Exact contact: cloth on jelly, on what is sharp, on itself; no triangles intersect after any step."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.exact_checks import advance_and_count
from fixtures.hybrid_scenes import cloth
from fixtures.scenes import Run, block
from sinew.solver.scene.contact import Collision
from sinew.solver.scene.scene import Collider, Scene, Settings

EXACT = Settings(contact="exact", fps=25.0, substeps=4, frame_end=40)
RUBS = Collision(0.3, 0.0, True)
FACES = np.array([[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]], np.int32)


def spike(height: float) -> Collider:
    """Returns a needle with a square foot of 2 cm across a diagonal, on the ground at the origin."""
    tip = [[0.0, 0.0, height], [-0.01, -0.01, 0.0], [0.01, -0.01, 0.0], [0.0, 0.01, 0.0]]
    return Collider("spike", "Spike", "mesh", np.array(tip), FACES, friction=0.3)


@pytest.mark.slow
def test_a_cloth_falls_on_jelly(tmp_path) -> None:
    jelly = block((2, 2, 2), (0.1, 0.1, 0.1), at=(-0.05, -0.05, 0.001), key="jelly", collision=Collision(0.3))
    sheet = cloth((0.24, 0.24), (10, 10), np.array([-0.12, -0.12, 0.12]), "cloth", collision=RUBS)
    run = Run(tmp_path, Scene((jelly, sheet), (Collider("floor", "Floor"),), EXACT))
    assert advance_and_count(run, 10) == 0
    assert max(report.contacts for report in run.reports) > 8
    assert all(report.unsettled == 0 for report in run.reports)
    z = run.render["cloth"][:, 2]
    assert z.min() > 0.0 and z.max() > 0.09 and np.ptp(z) > 0.03  # it lies on the jelly, and hangs around it


@pytest.mark.slow
def test_a_needle_holds_a_cloth_and_does_not_pierce_it(tmp_path) -> None:
    sheet = cloth((0.2, 0.2), (9, 9), np.array([-0.1, -0.1, 0.11]), "cloth", collision=RUBS)
    needle = spike(0.1)
    run = Run(tmp_path, Scene((sheet,), (needle,), EXACT))
    assert advance_and_count(run, 16, {"spike": (needle.vertices, FACES)}) == 0
    z = run.render["cloth"][:, 2]
    assert z.max() > 0.09 and z.min() < 0.06  # folded over it


def test_a_fast_sheet_is_caught_by_another_one(tmp_path) -> None:
    lower = cloth((0.2, 0.2), (6, 6), np.array([-0.1, -0.1, 0.0]), "lower", collision=RUBS)
    held = np.flatnonzero(np.abs(lower.vertices[:, :2]).max(axis=1) > 0.0999).astype(np.int32)
    lower = replace(lower, pinned=held, pin_weights=np.ones(len(held)))
    fast = {"initial_velocity": (0.0, 0.0, -20.0), "collision": RUBS}  # 0.2 m a step
    upper = cloth((0.1, 0.1), (3, 3), np.array([-0.04, -0.05, 0.05]), "upper", **fast)
    run = Run(tmp_path, Scene((lower, upper), (), replace(EXACT, gravity=(0.0, 0.0, 0.0))))
    assert advance_and_count(run, 2) == 0
    assert run.render["upper"][:, 2].mean() > run.render["lower"][:, 2].mean()
