# SPDX-License-Identifier: GPL-3.0-or-later
"""Brushes of live runs: what is heated, cooled, softened, hardened and pushed, and that it repeats to the bit."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import numpy as np
import pytest

from fixtures.live_runs import Given, drive
from fixtures.scenes import JELLY, block
from sinew.solver.bake.cache import layout
from sinew.solver.constraints.force import ForceStep
from sinew.solver.constraints.pushes import Ball, PushedSurface
from sinew.solver.live.commands import parse_command
from sinew.solver.live.live_loop import LiveOptions, replay, run_live
from sinew.solver.live.live_run import LiveRun, LiveSample
from sinew.solver.live.pacing import NoPace
from sinew.solver.mechanics.state_fields import TEMPERATURE
from sinew.solver.mesh.embedding import Binding
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.contact import Collider
from sinew.solver.scene.flesh import Flesh
from sinew.solver.scene.material import Heat
from sinew.solver.scene.scene import Scene, Settings
from sinew.solver.scene.settings.heat_settings import SOURCE_EXCHANGE
from sinew.solver.scene.tracks import NoTracks, TrackWriter
from sinew.solver.simulation.features.stiffness_brushes import BRUSHED_STIFFNESS, MAX_FACTOR, MIN_FACTOR

SIDE = 0.1
TOP = [0.05, 0.05, 0.1]


def scene_of(heat: Heat | None = None, gravity: float = 0.0, **more: Any) -> Scene:
    body = block((4, 4, 4), (SIDE, SIDE, SIDE), material=JELLY, heat=heat, **more)
    return Scene(
        (body,), (Collider("ground", "Ground"),) if gravity else (), Settings(fps=60.0, gravity=(0.0, 0.0, gravity))
    )


def brush(command: str, radius: float = 0.06, **more: Any) -> dict[str, Any]:
    return {"command": command, "brush": 1, "place": TOP, "radius": radius, **more}


def at_first(*commands: Given) -> Callable[[int], list[Given]]:
    return lambda step: list(commands) if step == 0 else []


def test_what_is_in_the_middle_of_a_brush_is_told() -> None:
    run = LiveRun(scene_of(), NoTracks())
    assert run.touched() == {}
    drive(run, 5, at_first(brush("soften", strength=2.0)))
    (factor,) = run.touched().values()
    assert 2.0 ** (-2.0 * 5 / 60) < factor < 1.0, "the nearest tet is beside the middle, where it softens less"
    run, temperatures = heated(brush("heat", temperature=300.0), steps=5)
    assert run.touched() == {"temperature": pytest.approx(temperatures.max())}
    run.apply(parse_command({**brush("heat", temperature=300.0), "place": [9.0, 0.0, 0.0]}))
    assert run.touched() == {}, "nothing is there"


def heated(*commands: Given, steps: int = 30) -> tuple[LiveRun, np.ndarray]:
    """Returns a run whose body exchanges no heat with the air, and its temperatures at the end [°C]."""
    heat = Heat(temperature=20.0, exchange=0.0, heat_capacity=2000.0)
    run = LiveRun(scene_of(heat), NoTracks())
    drive(run, steps, at_first(*commands))
    return run, run.simulation.state.fields[TEMPERATURE]


def test_a_gun_of_so_many_watts_brings_that_much_heat_into_its_ball() -> None:
    run, warm = heated(brush("heat", watts=50.0))
    model = run.simulation.built.model
    joules = 2000.0 * float(model.mass @ (warm - 20.0))
    assert joules == pytest.approx(50.0 * 30 / 60.0, rel=1e-9)
    distance = np.linalg.norm(model.X - TOP, axis=1)
    assert warm[distance < 0.03].min() > 20.01 > warm[distance > 0.09].max()


def test_a_gun_that_cools_by_watts_takes_them_away() -> None:
    run, cold = heated(brush("cool", watts=50.0))
    assert 2000.0 * float(run.simulation.built.model.mass @ (cold - 20.0)) == pytest.approx(-25.0, rel=1e-9)


def test_a_gun_of_a_temperature_brings_material_towards_that() -> None:
    """In its middle by the rate exchange / (radius ρ c), but for what is conducted away."""
    rate = SOURCE_EXCHANGE.default / (0.06 * 1000.0 * 2000.0)
    left = float(np.exp(-rate * 2.0))
    run, warm = heated(brush("heat", temperature=200.0), steps=120)
    near = np.linalg.norm(run.simulation.built.model.X - TOP, axis=1).argmin()
    assert warm[near] == pytest.approx(200.0 - 180.0 * left, rel=0.01) and warm.min() >= 20.0 - 1e-9
    _, twice = heated(brush("heat", temperature=200.0, exchange=2.0 * SOURCE_EXCHANGE.default), steps=60)
    assert twice[near] == pytest.approx(warm[near], rel=0.01), "half as long with twice the exchange"
    _, cold = heated(brush("cool", temperature=-50.0), steps=120)
    assert cold[near] == pytest.approx(-50.0 + 70.0 * left, abs=0.5) and cold.max() <= 20.0 + 1e-9


def test_a_gun_that_is_lifted_or_elsewhere_heats_no_longer() -> None:
    heat = Heat(temperature=20.0, exchange=0.0, conductivity=0.0)
    run = LiveRun(scene_of(heat), NoTracks())
    lift, away = {"command": "lift", "brush": 1}, {**brush("heat", watts=50.0), "place": [5.0, 0.0, 0.0]}
    means = []

    def hand(step: int) -> list[Given]:
        means.append(float(run.simulation.state.fields[TEMPERATURE].mean()))
        return {0: [brush("heat", watts=50.0)], 10: [lift], 20: [away]}.get(step, [])

    drive(run, 30, hand)
    assert means[0] == 20.0 and means[10] > means[5] > 20.0 and means[29] == means[10]


def test_a_brush_halves_or_doubles_stiffness_so_often_a_second_in_its_middle() -> None:
    for command, factor in (("soften", 0.25), ("harden", 4.0)):
        run = LiveRun(scene_of(), NoTracks())
        drive(run, 60, at_first(brush(command, radius=1.0e6, strength=2.0)))
        found = run.simulation.state.fields[BRUSHED_STIFFNESS]
        np.testing.assert_allclose(found, factor, rtol=1e-9)
        run.apply(parse_command(brush(command, radius=1.0e6, strength=200.0)))
        drive(run, 66)
        limit = MIN_FACTOR if factor < 1.0 else MAX_FACTOR
        np.testing.assert_array_equal(run.simulation.state.fields[BRUSHED_STIFFNESS], limit)


def test_what_was_softened_sags_as_a_body_of_that_stiffness() -> None:
    """All of it to a quarter, then under gravity: as high as one that has a quarter of the modulus from the start."""
    soft = LiveRun(scene_of(gravity=-9.81), NoTracks())
    lift = {"command": "lift", "brush": 1}

    def hand(step: int) -> list[Given]:
        return {0: [brush("soften", radius=1.0e6, strength=2.0)], 60: [lift]}.get(step, [])

    def height(samples: list[LiveSample]) -> float:
        return float(samples[-1].positions["block"][:, 2].max())

    found = height(drive(soft, 240, hand))
    material = replace(JELLY, youngs_modulus=0.25 * JELLY.youngs_modulus)
    twin_scene = scene_of(gravity=-9.81)
    twin = replace(twin_scene, bodies=(replace(twin_scene.bodies[0], material=material),))
    wanted, before = (height(drive(LiveRun(one, NoTracks()), 240)) for one in (twin, twin_scene))
    assert found == pytest.approx(wanted, abs=2.0e-5) and before - found > 0.001


def test_a_brush_changes_what_is_in_its_ball() -> None:
    run = LiveRun(scene_of(), NoTracks())
    drive(run, 30, at_first(brush("soften")))
    model, factor = run.simulation.built.model, run.simulation.state.fields[BRUSHED_STIFFNESS]
    distance = np.linalg.norm(model.X[model.tets].mean(axis=1) - TOP, axis=1)
    assert (factor[distance >= 0.06] == 1.0).all() and factor[distance < 0.03].max() < 0.95


def test_a_ball_presses_a_dent_and_the_dent_goes_when_it_is_lifted() -> None:
    run = LiveRun(scene_of(gravity=-9.81), NoTracks())
    place = [0.05, 0.05, 0.115]  # of a ball that reaches 2.5 cm deep
    lift = {"command": "lift", "brush": 1}

    def hand(step: int) -> list[Given]:
        return {0: [{**brush("push", radius=0.04), "place": place}], 60: [lift]}.get(step, [])

    samples = drive(run, 240, hand)
    heights = [sample.positions["block"] for sample in (samples[0], samples[60], samples[240])]
    top = int(np.linalg.norm(heights[0] - TOP, axis=1).argmin())
    assert heights[0][top, 2] - heights[1][top, 2] == pytest.approx(0.025, rel=0.2)
    assert heights[2][top, 2] == pytest.approx(heights[0][top, 2], abs=0.002)


def test_springs_of_a_ball_are_as_they_say() -> None:
    """Their force is −∂E/∂p of ½ k / n Σ (r − |p − c|)², by differences, and K is its slope along the way out."""
    run = LiveRun(scene_of(), NoTracks())
    model, body = run.simulation.built.model, run.simulation.built.bodies[0]
    surface = PushedSurface(0, Binding(body.binding.tet, body.binding.weights), 1.0e3)
    ball = Ball(np.array([0.05, 0.05, 0.11]), 0.05)
    x = model.X + 0.001 * np.random.default_rng(1).standard_normal(model.X.shape)

    def energy(x: np.ndarray) -> float:
        points = np.einsum("ka,kai->ki", surface.points.weights, x[model.tets[surface.points.tet]])
        depth = np.maximum(ball.radius - np.linalg.norm(points - ball.place, axis=1), 0.0)
        return float(0.5 * surface.stiffness / (depth > 0.0).sum() * np.sum(depth**2))

    found = surface.forces(ball, x, model.tets)
    assert len(found) > 4
    direction = np.random.default_rng(2).standard_normal(x.shape)
    work = float(np.sum(found.force * found.positions(direction, model.tets)))
    step = 1.0e-8
    slope = (energy(x + step * direction) - energy(x - step * direction)) / (2.0 * step)
    assert work == pytest.approx(-slope, rel=1.0e-5)
    normal = found.force / np.linalg.norm(found.force, axis=1, keepdims=True)
    along = np.einsum("ki,kij,kj->k", normal, found.stiffness, normal)
    np.testing.assert_allclose(along, surface.stiffness / len(found))


def test_flesh_that_follows_a_pose_is_pushed_too() -> None:
    body = block((4, 4, 4), (SIDE, SIDE, SIDE), key="flesh", flesh=Flesh())
    held = np.flatnonzero(body.vertices[:, 2] < 0.001).astype(np.int32)
    body = replace(body, pinned=held, pin_weights=np.ones(len(held)))
    run = LiveRun(Scene((body,), settings=Settings(fps=60.0)), NoTracks())
    place = {**brush("push", radius=0.04), "place": [0.05, 0.05, 0.125]}
    samples = drive(run, 30, at_first(place))
    highest = [float(sample.positions["flesh"][:, 2].max()) for sample in samples]
    top = int(np.linalg.norm(samples[0].positions["flesh"] - TOP, axis=1).argmin())
    sunk = [float(sample.positions["flesh"][top, 2]) for sample in samples]
    assert sunk[0] - sunk[-1] > 0.01 and abs(sunk[-1] - sunk[-2]) < 1.0e-4 and max(highest) < 0.12


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (brush("heat"), "live-command-invalid"),
        (brush("heat", temperature=100.0, watts=5.0), "live-command-invalid"),
        (brush("heat", temperature=-300.0), "live-command-invalid"),
        (brush("cool", watts=-5.0), "live-command-invalid"),
        (brush("push", radius=0.0), "live-command-invalid"),
        ({**brush("soften"), "brush": "one"}, "live-command-invalid"),
        (brush("harden", strength=0.0), "live-command-invalid"),
        ({"command": "lift", "brush": 5}, "live-no-such-brush"),
        (brush("heat", watts=5.0), "live-no-heat"),
    ],
)
def test_what_no_brush_can_do_is_named(given: Given, kind: str) -> None:
    run = LiveRun(scene_of(), NoTracks())
    with pytest.raises(BadInput) as caught:
        run.apply(parse_command(given))
    assert caught.value.kind == kind


def test_flesh_alone_is_not_softened() -> None:
    body = replace(block(flesh=Flesh()), pinned=np.arange(4, dtype=np.int32), pin_weights=np.ones(4))
    run = LiveRun(Scene((body,)), NoTracks())
    with pytest.raises(BadInput, match="Flesh"):
        run.apply(parse_command(brush("soften")))


def test_a_brush_is_of_the_kind_that_it_was_last_held_as() -> None:
    run = LiveRun(scene_of(), NoTracks())
    for given in (brush("soften"), brush("push")):
        run.apply(parse_command(given))
    assert not run.brushes.stiffness.held and list(run.brushes.pushes.held) == [1]
    step = ForceStep(run.simulation.built.model, run.simulation.state, NoTracks(), 0.0, 1.0 / 60.0)
    assert len(run.brushes.pushes.point_forces(step)) > 0


@pytest.mark.parametrize("given", [brush("heat", watts=200.0), brush("soften", strength=4.0), brush("push")])
def test_a_run_with_a_brush_repeats_to_the_bit(tmp_path: Path, given: Given) -> None:
    cache = tmp_path / "Take 1.sinew"
    soft = Heat(temperature=20.0, softening=np.array([[20.0, 1.0, 1.0, 1.0], [40.0, 0.1, 1.0, 1.0]]))
    scene = scene_of(soft, gravity=-9.81)
    scene.save(cache / layout.SCENE_FOLDER)
    TrackWriter(cache / layout.SCENE_FOLDER).close()
    told: list[Given] = []
    queue = SimpleQueue[Given]()
    queue.put(given)
    run_live(cache, scene, queue, lambda: False, told.append, LiveOptions(70, NoPace))
    assert told[-1]["event"] == "done" and not [event for event in told if event["event"] == "warning"]
    replay(cache, scene, lambda: False, told.append)
    assert told[-1]["compared"] == 2
    path = cache / layout.LIVE_FOLDER / layout.LIVE_INPUTS_FILE
    lines = path.read_text(encoding="utf-8").splitlines()
    assert json.loads(lines[1]) == {"step": 0, **given}
    path.write_text("\n".join([lines[0], *lines[2:], ""]), encoding="utf-8")  # without the brush it is another run
    with pytest.raises(Exception, match="step 60"):
        replay(cache, scene, lambda: False, told.append)
