# SPDX-License-Identifier: GPL-3.0-or-later
"""Surface detail in a live run: a stamp in the hand leaves dents, which a bake and a start keep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import numpy as np
import pytest

from fixtures.live_runs import drive
from fixtures.scenes import pose
from fixtures.stamps import GAP, StampScene, stamped
from sinew.solver.bake.cache import CacheReader, layout
from sinew.solver.live.keep import keep
from sinew.solver.live.live_loop import LiveOptions, run_live
from sinew.solver.live.live_run import LiveRun
from sinew.solver.live.pacing import NoPace
from sinew.solver.live.refused_starts import read_refused
from sinew.solver.mechanics.state_fields import DETAIL_FIELD
from sinew.solver.scene.start import Start
from sinew.solver.scene.surface_detail import SurfaceDetail
from sinew.solver.scene.tracks import NoTracks, TrackReader, TrackWriter
from sinew.solver.simulation.features.surface_dents import SurfaceDents
from sinew.solver.simulation.kept_start import keep_start
from sinew.solver.simulation.simulation import Simulation

STEPS, DOWN, UP = 60, 20, 30  # of a run; at which the hand has pressed, and lifts
DEPTH = 0.005  # [m]


def small() -> StampScene:
    return stamped(4, 2)


def hand(step: int) -> list[Mapping[str, Any]]:
    """Returns the stamp as a hand holds it: down within a second, still, and away."""
    height = -(GAP + DEPTH) * min(step / DOWN, 1.0) if step < UP else min(0.004 * (step - UP), 0.1)
    return [{"command": "set", "track": "collider.stamp.matrix", "value": pose(move=(0.0, 0.0, height)).tolist()}]


def stamped_by_hand(folder: Path) -> tuple[LiveRun, list]:
    made = small()
    run = LiveRun(made.scene, TrackReader(folder, wait=0.0), {"collider.stamp.matrix": np.eye(4)})
    return run, drive(run, STEPS, hand)


def under(made: StampScene) -> np.ndarray:
    """Returns the vertices of the clay that the writing of the stamp presses."""
    vertices = made.scene.bodies[0].vertices
    return np.flatnonzero(made.under(vertices, 1e-4) & (vertices[:, 2] > made.top - 1e-9))


@pytest.mark.slow
def test_dents_appear_while_the_hand_presses_and_stay(tmp_path: Path) -> None:
    run, samples = stamped_by_hand(tmp_path)
    vertices = run.scene.bodies[0].vertices
    sunk = np.array([(vertices - sample.positions["clay"])[under(small()), 2].max() for sample in samples])
    assert sunk[DOWN // 2] > 0.2 * DEPTH and sunk[UP] == pytest.approx(DEPTH, abs=2e-4)
    assert 0.7 * DEPTH < sunk[-1] < DEPTH
    assert np.abs(np.diff(sunk[-10:])).max() < 1e-4, "it stays"
    assert len(run.simulation.state.fields[DETAIL_FIELD.format(key="clay", name="particle")]) > 5


def begun(start: Start | None, detail: SurfaceDetail) -> Simulation:
    """Returns the clay alone, which begins at a start."""
    made = small()
    body = replace(made.scene.bodies[0], start=start, surface_detail=detail)
    return Simulation(replace(made.scene, bodies=(body,), colliders=()), NoTracks())


def test_a_start_keeps_dents(tmp_path: Path) -> None:
    run, samples = stamped_by_hand(tmp_path)
    start = keep_start(run.simulation, 0)
    assert start.dented is not None and len(start.dented) > 5
    again = begun(Start.from_bytes(start.to_bytes(), "Clay"), SurfaceDetail())
    first = again.start().positions["clay"]
    assert first == pytest.approx(samples[-1].positions["clay"], abs=1e-3 * DEPTH)  # but for drift
    kept_again = keep_start(again, 0)
    for name in ("dented", "dents", "dent_reach"):
        assert getattr(kept_again, name) == pytest.approx(getattr(start, name), abs=1e-12)
    plain = begun(replace(start, dented=None, dents=None, dent_reach=None), SurfaceDetail()).start().positions["clay"]
    assert (plain - first)[under(small()), 2].max() > 0.3 * DEPTH, "of the tets alone it is less deep"
    turn = np.diag([2.0, 2.0, 2.0, 1.0]) @ pose(move=(1.0, 2.0, 3.0))
    back = start.transformed(turn).transformed(np.linalg.inv(turn))
    for name in ("dented", "dents", "dent_reach"):
        assert getattr(back, name) == pytest.approx(getattr(start, name), abs=1e-12)


def test_finer_particles_begin_with_the_dents_of_a_start(tmp_path: Path) -> None:
    run, _ = stamped_by_hand(tmp_path)
    start = keep_start(run.simulation, 0)
    assert start.dented is not None and start.dents is not None
    fine = begun(start, SurfaceDetail(8))
    fine.start()
    feature = fine.built.feature(SurfaceDents)
    assert feature is not None
    report = feature.report(fine.built.model, fine.built.model, fine.state)["clay"]
    assert report["deepest_dent"] == pytest.approx(np.linalg.norm(start.dents - start.dented, axis=1).max(), rel=1e-6)
    assert report["detail_particles"] > 2 * len(start.dented)


@pytest.mark.slow
def test_keep_and_keep_as_start_have_the_dents_of_the_run(tmp_path: Path) -> None:
    made, cache = small(), tmp_path / "Take 1.sinew"
    made.scene.save(cache / layout.SCENE_FOLDER)
    tracks = TrackWriter(cache / layout.SCENE_FOLDER)
    tracks.append("collider.stamp.matrix", *made.tracks["collider__stamp__matrix"])
    tracks.close()
    queue, events = SimpleQueue[Mapping[str, Any]](), list[Mapping[str, Any]]()
    run_live(cache, made.scene, queue, lambda: False, events.append, LiveOptions(STEPS, NoPace))
    assert read_refused(cache) == {}
    start = Start.from_bytes(layout.live_start_path(cache, "clay").read_bytes(), "Clay")
    assert start.dented is not None and len(start.dented) > 5
    keep(cache, made.scene, lambda: False, events.append)
    assert events[-1]["event"] == "done"
    samples = CacheReader(cache).read_samples("clay", 0, 30)
    assert 0.7 * DEPTH < (samples[0] - samples[-1])[under(made), 2].min() < DEPTH
