# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigid bodies and sheets in a live run; the stiffness of sheets changes while it goes on."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="needs Blender's module")

from fixtures.blender_scenes import add_box, fresh
from fixtures.live_in_blender import ended as ended  # a fixture
from fixtures.live_in_blender import shown, started, until
from sinew.addon.baking.addon_session import session
from sinew.addon.objects import roles


@pytest.mark.slow
@pytest.mark.parametrize("method", ["RIGID", "SHEET"])
def test_a_body_without_tets_falls_live(method: str) -> None:
    fresh()
    obj = add_box("Thing", divisions=3)
    obj.location.z = 1.0
    roles.make_body(obj)
    obj.sinew.method = method
    before = shown(obj)[:, 2].mean()
    run = started()
    until(lambda: run.step >= 6 or session.live is not run, 300.0)
    assert session.live is run, run.driver.job
    assert shown(obj)[:, 2].mean() < before and np.isfinite(shown(obj)).all()
    if method == "SHEET":
        obj.sinew.youngs_modulus *= 0.25
        until(lambda: "youngs_modulus" in (run.folder / "live" / "inputs.jsonl").read_text(), 60.0)
        step = run.step
        until(lambda: run.step > step + 3 or session.live is not run, 300.0)
        assert session.live is run and not run.note, run.note
