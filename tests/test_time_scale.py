# SPDX-License-Identifier: GPL-3.0-or-later
"""Speed: how much simulated time passes per frame, constant, keyed and zero; what is animated keeps to its frames."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.scenes import Run, block
from sinew.solver.runtime.errors import SolveFailed
from sinew.solver.scene.contact import Collider
from sinew.solver.scene.formulation import BDF2, FormulationSettings
from sinew.solver.scene.goal import Goal
from sinew.solver.scene.scene import Material, Scene, Settings
from sinew.solver.scene.time_scale import mean_speed
from sinew.solver.scene.tracks import MemoryTracks

G, FPS, SUBSTEPS = 9.81, 25.0, 4
FALL = Settings(fps=FPS, substeps=SUBSTEPS, frame_end=40)


def drops(durations) -> np.ndarray:
    """Returns how far implicit Euler falls in steps of these simulated durations [s], after each, (k,)."""
    v = np.cumsum(G * np.asarray(durations))
    return np.cumsum(v * durations)


def fallen(run: Run) -> float:
    mass, model = run.built.model.mass, run.built.model
    return float(-(mass @ (run.state.x - model.X))[2] / mass.sum())


def run_of(folder, settings=FALL, body=None, **tracks) -> Run:
    return Run(folder, Scene((block((2, 2, 2)) if body is None else body,), settings=settings), **tracks)


def test_half_the_speed_falls_as_in_half_the_time(tmp_path):
    run = run_of(tmp_path, replace(FALL, speed=0.5))
    for frame in range(1, 9):
        run.advance()
        time = 0.5 * frame / FPS
        steps = np.full(frame * SUBSTEPS, 0.5 / (FPS * SUBSTEPS))
        assert fallen(run) == pytest.approx(drops(steps)[-1], rel=1e-6)
        assert fallen(run) == pytest.approx(0.5 * G * time**2, abs=0.5 * G * time * steps[0] * 1.001)
    assert run.frame == 9


def test_a_keyed_speed_is_integrated_exactly(tmp_path):
    """1 until frame 5, falling to ¼ at frame 9, from there on ¼: joined, and exact in every step."""
    keys = (np.array([0.0, 4.0, 8.0]) / FPS, np.array([1.0, 1.0, 0.25]))
    run = run_of(tmp_path, speed=keys)
    run.advance(12)
    ends = np.arange(12 * SUBSTEPS + 1) / (FPS * SUBSTEPS)
    k = 0.75 / (4.0 / FPS)
    ramp = np.clip(ends - keys[0][1], 0.0, 4.0 / FPS)
    simulated = np.minimum(ends, keys[0][1]) + ramp - 0.5 * k * ramp**2 + 0.25 * np.maximum(ends - keys[0][2], 0.0)
    assert fallen(run) == pytest.approx(drops(np.diff(simulated))[-1], rel=1e-6)
    tracks = MemoryTracks({"speed": keys})
    assert mean_speed(FALL, tracks, 0.0, ends[-1]) * ends[-1] == pytest.approx(simulated[-1], rel=1e-14)
    stepped = MemoryTracks({"speed": ([0.0, 0.1], [1.0, 3.0], "step")})
    assert mean_speed(FALL, stepped, 0.05, 0.2) * 0.15 == pytest.approx(0.05 + 0.3, rel=1e-14)


def test_speed_one_gives_the_same_bytes_keyed_or_not(tmp_path):
    body = block((2, 2, 2), method=FormulationSettings(scheme=BDF2))
    plain, keyed = run_of(tmp_path / "a", body=body), run_of(tmp_path / "b", body=body, speed=([0.0], [1.0]))
    assert plain.advance(3).tobytes() == keyed.advance(3).tobytes()
    assert plain.scene.digest() == Scene((body,), settings=replace(FALL, speed=1.0)).digest()
    assert plain.scene.digest() != Scene((body,), settings=replace(FALL, speed=0.5)).digest()


def test_at_zero_everything_stands_still_and_then_goes_on(tmp_path):
    keys = (np.array([0.0, 4.0, 8.0]) / FPS, np.array([1.0, 0.0, 1.0]), "step")
    run = run_of(tmp_path, speed=keys)
    run.advance(4)
    still = run.state.x.copy()
    run.advance(4)
    assert (run.state.x == still).all() and run.frame == 9
    run.advance(2)
    assert fallen(run) == pytest.approx(drops(np.full(6 * SUBSTEPS, 1.0 / (FPS * SUBSTEPS)))[-1], rel=1e-6)


def test_what_is_animated_keeps_to_its_frames(tmp_path):
    """A body that its goal carries is on its animation, and leaves it with the velocity that one sees."""
    body = block((2, 2, 2), goal=Goal(1.0))
    times = np.arange(11) / FPS
    shapes = body.vertices + np.outer(times, [2.0, 0.0, 0.0])[:, None]
    keys = ([0.0, 5.0 / FPS, 5.1 / FPS], [1.0, 1.0, 0.0], "step")
    settings = replace(FALL, speed=0.25, gravity=(0.0, 0.0, 0.0))
    run = run_of(tmp_path, settings, body, body__block__goal__targets=(times, shapes), body__block__goal_strength=keys)
    assert run.advance(5) == pytest.approx(shapes[5], abs=1e-12)
    assert run.advance(5).mean(axis=0) == pytest.approx(shapes[10].mean(axis=0), abs=1e-3)


def test_a_negative_key_is_named(tmp_path):
    run = run_of(tmp_path, speed=([0.0], [-1.0]))
    with pytest.raises(SolveFailed, match='Speed of "Scene"') as caught:
        run.advance()
    assert caught.value.kind == "animated-value"


def test_what_a_collider_throws_leaves_as_fast_as_one_sees_the_collider(tmp_path):
    """A plane that rises faster up to 1 m/s on the timeline, and stops: the body on it flies on with as much."""
    times = np.arange(31) / FPS
    matrices = np.tile(np.eye(4), (31, 1, 1))
    matrices[:, 2, 3] = 0.5 * np.minimum(times, 10 / FPS) ** 2 / (10 / FPS)
    seen = []
    for speed in (1.0, 0.25):
        settings = replace(FALL, speed=speed, gravity=(0.0, 0.0, 0.0))
        stiff = block((2, 2, 2), material=Material(youngs_modulus=1.0e7))
        scene = Scene((stiff,), (Collider(),), settings)
        run = Run(tmp_path / str(speed), scene, collider__collider__matrix=(times, matrices, "rigid"))
        run.advance(20)
        start = fallen(run)
        run.advance(5)
        seen.append((start - fallen(run)) / (5 / FPS))
    assert seen == pytest.approx([1.0, 1.0], abs=0.1)
