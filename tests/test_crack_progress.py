# SPDX-License-Identifier: GPL-3.0-or-later
"""A hit that takes long tells how far it has cracked a body, and ends when it is asked to; nothing is lost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fixtures.brittle_scenes import dropped_slab
from sinew.solver.bake import bake_loop
from sinew.solver.bake.cache import CacheReader
from sinew.solver.bake.run_bake import BakeOptions, run_bake
from sinew.solver.runtime.errors import Cancelled
from sinew.solver.scene.tracks import TrackWriter

SCENE = dropped_slab(3.0, frames=6)


def write(folder: Path) -> Path:
    SCENE.save(folder / "scene")
    TrackWriter(folder / "scene").close()
    return folder


@pytest.mark.slow
def test_a_hit_tells_how_far_it_is_and_a_bake_that_is_stopped_in_it_goes_on_with_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bake_loop, "MIN_SECONDS_BETWEEN_EVENTS", 0.0)
    told: list[dict[str, Any]] = []
    run_bake(write(tmp_path / "whole"), lambda event: told.append(dict(event)))
    (built,) = (event for event in told if event["event"] == "built")
    assert built["tets"] == sum(body["tets"] for body in built["bodies"]) > 100, "along which it may break, not 1"
    cracking = [event for event in told if event["event"] == "cracking"]
    assert {event["body"] for event in cracking} == {"Glass"}
    solves = np.array([event["stress_solves"] for event in cracking])
    pieces = np.array([event["pieces"] for event in cracking])
    begins = solves == 0  # of one hit
    assert len(solves) > 10 and (np.diff(solves)[~begins[1:]] == 1).all()
    assert pieces[begins].max() == 1 and (np.diff(pieces)[~begins[1:]] >= 0).all() and pieces.max() > 2
    at = min(event["frame"] for event in cracking if event["pieces"] > 2)

    heard: list[dict[str, Any]] = []
    with pytest.raises(Cancelled):
        run_bake(
            write(tmp_path / "parts"),
            lambda event: heard.append(dict(event)),
            lambda: any(event["event"] == "cracking" and event["pieces"] > 2 for event in heard),
        )
    assert CacheReader(tmp_path / "parts").last_frame() == at - 1
    run_bake(tmp_path / "parts", lambda event: None, options=BakeOptions(resume=True))
    whole, parts = CacheReader(tmp_path / "whole"), CacheReader(tmp_path / "parts")
    for frame in range(1, 7):
        assert np.array_equal(whole.read_frame(frame).x, parts.read_frame(frame).x)
        assert whole.read_frame(frame).topology == parts.read_frame(frame).topology


def test_the_panel_says_what_cracks() -> None:
    pytest.importorskip("bpy")
    from fixtures.blender_scenes import add_box, fresh
    from sinew.addon.baking import bake_status
    from sinew.addon.baking.state_machine import Job, advance
    from sinew.addon.baking.state_machine_events import ChildSaid
    from test_addon import drawn

    fresh()
    obj = add_box("Vase")
    obj.sinew.role, obj.sinew.motion = "BODY", "BRITTLE"
    job = Job("baking", 1, 50, tets=1234)

    def after(**event: Any) -> str:
        nonlocal job
        job, _ = advance(job, ChildSaid(event, 1.0))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(bake_status, "status", lambda _: bake_status._running_status(job))
            return " | ".join(drawn(obj).lines)

    assert "Compiling" in after(event="compiling")
    words = after(event="cracking", frame=2, body="Vase", stress_solves=0, pieces=1)
    assert "Vase" in words and '"Vase" cracks' in words and "Compiling" not in words
    assert '"Vase" cracks, 1,200 pieces' in after(event="cracking", frame=2, body="Vase", stress_solves=9, pieces=1200)
    assert "cracks" not in after(event="frame", frame=2, not_converged=0, residual=0.0)
    job = replace(job, phase="cancelling")
    after(event="cracking", frame=3, body="Vase", stress_solves=1, pieces=2)
    assert job.phase == "cancelling"
