# SPDX-License-Identifier: GPL-3.0-or-later
"""Hooks: places that move and pull points of a body, as a hand does in a live run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fixtures.bone_scenes import limb
from fixtures.live_runs import Given, drive
from fixtures.scenes import JELLY, block
from sinew.solver.constraints.force import ForceStep
from sinew.solver.constraints.hooks import BodyHook
from sinew.solver.live.live_run import LiveRun
from sinew.solver.mechanics.state_fields import HOOK_FIELD
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.hook import Hook
from sinew.solver.scene.scene import Body, Scene, Settings
from sinew.solver.scene.tracks import MemoryTracks, NoTracks, Track
from sinew.solver.scene.validation import check_scene
from sinew.solver.simulation.simulation import Simulation

FPS = 60.0
SIDE = 0.1


def body_with(*hooks: Hook, **more: Any) -> Body:
    return replace(block((3, 3, 3), (SIDE, SIDE, SIDE), material=JELLY, **more), hooks=hooks)


def corner_paint(body: Body) -> np.ndarray:
    """Returns 1 at the vertex at the farthest corner, 0 at all others."""
    paint = np.zeros(len(body.vertices))
    paint[int(np.argmax(body.vertices.sum(axis=1)))] = 1.0
    return paint


def scene_of(body: Body, gravity: float = -9.81) -> Scene:
    return Scene((body,), settings=Settings(fps=FPS, gravity=(0.0, 0.0, gravity), substeps=1, frame_end=200))


def moved(place: np.ndarray, turn: float = 0.0) -> np.ndarray:
    M = np.eye(4)
    M[:2, :2] = [[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]
    M[:3, 3] = place
    return M


def tracks_of(scene: Scene, strength: list[tuple[float, float]], matrices: list[tuple[float, np.ndarray]]) -> Any:
    tracks = {
        "body.block.hook.0.strength": Track(*map(list, zip(*strength, strict=True)), kind="step"),
        "body.block.hook.0.matrix": Track(*map(list, zip(*matrices, strict=True)), kind="rigid"),
    }
    return MemoryTracks(tracks)


def run(scene: Scene, tracks: Any, frames: int) -> tuple[Simulation, list[np.ndarray]]:
    simulation = Simulation(scene, tracks)
    found = [simulation.start().positions["block"]]
    for _ in range(frames):
        found.append(simulation.advance().positions["block"])
    return simulation, found


def test_a_hook_pulls_as_the_hand_that_it_was_does() -> None:
    """The motion is that of a live run in which a hand takes the same corner at the same time."""
    plain = body_with()
    corner = int(np.argmax(corner_paint(plain)))
    start, taken, let_go, speed = plain.vertices[corner], 5, 30, np.array([0.1, 0.0, 0.2])

    def place(step: int) -> np.ndarray:
        return start - [0.0, 0.0, 0.03] + speed * max(step - taken, 0) / FPS

    def hand(step: int) -> list[Given]:
        move = {"command": "move", "grab": 1, "place": place(step + 1).tolist()}
        if step == taken:
            return [
                {"command": "grab", "grab": 1, "body": "block", "place": place(taken).tolist(), "radius": 0.0},
                move,
            ]
        if step == let_go:
            return [{"command": "release", "grab": 1}]
        return [move] if taken < step < let_go else []

    live = [s.positions["block"] for s in drive(LiveRun(scene_of(plain), NoTracks()), 45, hand)]
    scene = scene_of(body_with(Hook(corner_paint(plain))))
    strength = [(0.0, 0.0), ((taken + 1) / FPS, 1.0), ((let_go + 1) / FPS, 0.0)]
    tracks = tracks_of(scene, strength, [(step / FPS, moved(place(step))) for step in range(46)])
    _, kept = run(scene, tracks, 45)
    assert np.array(kept) == pytest.approx(np.array(live), abs=1e-9)
    assert np.linalg.norm(kept[let_go] - kept[taken], axis=1).max() > 0.04, "it was pulled"


def test_points_keep_their_places_beside_a_hook_that_turns() -> None:
    """Without gravity, and slowly: the corner goes round the hook at its distance from it."""
    plain = body_with()
    corner = int(np.argmax(corner_paint(plain)))
    middle = plain.vertices.mean(axis=0)
    scene = scene_of(body_with(Hook(corner_paint(plain))), gravity=0.0)
    turns = [(step / FPS, moved(middle, 0.5 * step / 120.0)) for step in range(0, 121, 4)]
    _, found = run(scene, tracks_of(scene, [(0.0, 1.0)], turns), 120)
    arm = plain.vertices[corner] - middle
    wanted = middle + moved(np.zeros(3), 0.5)[:3, :3] @ arm
    assert np.linalg.norm(found[-1][corner] - wanted) < 0.05 * SIDE
    assert np.linalg.norm(found[0][corner] - wanted) > 0.3 * SIDE


def test_the_springs_are_the_derivative_of_their_energy() -> None:
    body = body_with(Hook(np.linspace(0.0, 1.0, 56), strength=2.0))
    scene = scene_of(body)
    tracks = tracks_of(scene, [(0.0, 2.0)], [(0.0, np.eye(4)), (1.0, moved(np.array([0.0, 0.0, 1.0])))])
    simulation = Simulation(scene, tracks)
    hook = next(each for each in simulation.built.forces if isinstance(each, BodyHook))
    state, model = simulation.state, simulation.built.model
    state.x = state.x + np.random.default_rng(3).normal(scale=0.01, size=state.x.shape)
    step = ForceStep(model, state, tracks, 0.0, 0.1)
    hook.begin_step(step)
    found = hook.point_forces(step)
    here = found.positions(state.x, model.tets)
    away = np.array([0.0, 0.0, 0.1])  # by which the hook moves in the step
    assert found.force == pytest.approx(2.0 * hook.stiffness * hook.shares[:, None] * away, rel=1e-9)
    energy = 0.5 * 2.0 * hook.stiffness * hook.shares @ np.sum((here + away - here) ** 2, axis=1)
    small = 1.0e-6
    for axis in range(3):
        d = np.zeros((len(here), 3))
        d[:, axis] = small
        moved_energy = 0.5 * 2.0 * hook.stiffness * hook.shares @ np.sum((away - d) ** 2, axis=1)
        assert moved_energy - energy == pytest.approx(float(found.energy(d).sum()), rel=1e-6)


def test_it_lets_go_and_takes_again_where_the_body_is_then() -> None:
    plain = body_with()
    scene = scene_of(body_with(Hook(corner_paint(plain))))
    strength = [(0.0, 1.0), (10 / FPS, 0.0), (20 / FPS, 1.0)]
    simulation, found = run(scene, tracks_of(scene, strength, [(0.0, np.eye(4))]), 60)
    corner = int(np.argmax(corner_paint(plain)))
    assert HOOK_FIELD.format(key="block", number=0) in simulation.state.fields
    assert abs(found[9][corner, 2] - found[0][corner, 2]) < 0.1 * SIDE
    assert found[19][corner, 2] < found[9][corner, 2] - 0.5 * SIDE, "it falls"
    assert abs(found[60][corner, 2] - found[19][corner, 2]) < 0.2 * SIDE, "it hangs where it was taken again"


def test_a_hook_goes_through_its_file_and_only_scenes_with_one_have_another_digest(tmp_path: Any) -> None:
    plain = body_with()
    scene, without = scene_of(body_with(Hook(corner_paint(plain), 0.5))), scene_of(plain)
    scene.save(tmp_path)
    loaded = Scene.load(tmp_path)
    assert np.array_equal(loaded.bodies[0].hooks[0].paint, corner_paint(plain))
    assert loaded.bodies[0].hooks[0].strength == 0.5
    assert loaded.digest() == scene.digest() != without.digest()


@pytest.mark.parametrize(
    "hook", [Hook(), Hook(np.zeros(56)), Hook(np.ones(3)), Hook(np.full(56, -1.0)), Hook(np.ones(56), -1.0)]
)
def test_what_cannot_hang_on_a_hook_is_named(hook: Hook) -> None:
    with pytest.raises(BadInput, match="Block"):
        check_scene(scene_of(body_with(hook)))


@pytest.mark.slow
def test_flesh_that_follows_a_pose_hangs_on_a_hook_and_comes_back() -> None:
    plain = limb(cells=(8, 2, 2))
    tip = int(np.argmax(plain.vertices.sum(axis=1)))
    paint = np.zeros(len(plain.vertices))
    paint[tip] = 1.0
    pinned = np.flatnonzero(plain.vertices[:, 0] < 1.0e-6).astype(np.int32)
    body = replace(plain, hooks=(Hook(paint),), pinned=pinned)
    scene = Scene((body,), settings=Settings(fps=FPS, gravity=(0.0, 0.0, 0.0), substeps=1, frame_end=20))
    up = moved(np.array([0.0, 0.0, 0.3]))
    tracks = MemoryTracks(
        {
            "body.limb.hook.0.strength": Track([0.0, 1 / FPS, 4 / FPS], [0.0, 1.0, 0.0], kind="step"),
            "body.limb.hook.0.matrix": Track([0.0, 1 / FPS, 2 / FPS], [np.eye(4), np.eye(4), up], kind="rigid"),
        }
    )
    simulation = Simulation(scene, tracks)
    simulation.start()
    found = [simulation.advance().positions["limb"] for _ in range(5)]
    assert found[0] == pytest.approx(plain.vertices, abs=1e-4), "it is taken where it is"
    assert found[2][tip, 2] - plain.vertices[tip, 2] == pytest.approx(0.3, abs=0.03)
    assert found[4] == pytest.approx(plain.vertices, abs=1e-3), "it is let go"
