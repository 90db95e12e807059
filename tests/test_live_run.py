# SPDX-License-Identifier: GPL-3.0-or-later
"""A scene that is handled while it runs: what is grabbed follows, what is set acts, and a repetition is the same."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fixtures.live_runs import Given, drive
from fixtures.scenes import JELLY, block
from sinew.solver.constraints.force import ForceStep
from sinew.solver.constraints.grabs import Grabs, grabbed_places, make_grab, stiffness_to_follow
from sinew.solver.live.commands import parse_command
from sinew.solver.live.live_run import LiveRun, live_scene
from sinew.solver.mesh.embedding import Binding
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.contact import Collider
from sinew.solver.scene.scene import Scene, Settings
from sinew.solver.scene.tracks import NoTracks
from sinew.solver.simulation.step_interval import MAX_HALVINGS, MAX_HALVINGS_IN_HAND, StepPart


def jelly(fps: float = 30.0, **settings: Any) -> Scene:
    return Scene((block((3, 3, 3), (0.1, 0.1, 0.1), (0.0, 0.0, 0.0)),), settings=Settings(fps=fps, **settings))


def take(place: list[float], radius: float = 0.0) -> dict[str, Any]:
    return {"command": "grab", "grab": 1, "body": "block", "place": place, "radius": radius}


def move(place: list[float]) -> dict[str, Any]:
    return {"command": "move", "grab": 1, "place": place}


@pytest.mark.parametrize(("fps", "steps"), [(24.0, 3), (25.0, 3), (30.0, 2), (60.0, 1), (120.0, 1)])
def test_every_step_is_a_sample_and_there_are_sixty_a_second(fps: float, steps: int) -> None:
    settings = live_scene(jelly(fps)).settings
    assert settings.substeps == settings.samples_per_frame == steps and fps * steps >= 60.0
    samples = drive(LiveRun(jelly(fps), NoTracks()), 4)
    assert [sample.step for sample in samples] == [0, 1, 2, 3, 4]
    assert [sample.time for sample in samples] == pytest.approx([k / (fps * steps) for k in range(5)])


def test_a_stronger_grab_is_a_stiffer_spring() -> None:
    """At rest under gravity, at a strength s a body hangs m g / (s k) below the hand."""
    scene = jelly(gravity=(0.0, 0.0, -9.81))
    run, top = LiveRun(scene, NoTracks()), [0.05, 0.05, 0.1]
    told = {0: [take(top, 0.2) | {"strength": 0.25}], 300: [move(top) | {"strength": 4.0}], 450: [move(top)]}
    below: dict[int, float] = {}

    def hand(step: int) -> list[Given]:
        if step in (300, 600):
            grab, state, model = run.grabs.held[1], run.simulation.state, run.simulation.built.model
            forces = grab.forces(state.x, model.tets).force
            assert float(forces.sum(axis=0)[2]) == pytest.approx(9.81 * float(model.mass.sum()), rel=0.02), "it rests"
            below[step] = float(forces[:, 2].sum()) / (grab.strength * grab.stiffness)
        return told.get(step, [])

    drive(run, 601, hand)
    grab = run.grabs.held[1]
    assert grab.strength == 4.0, "a move that says none leaves it"
    here = np.einsum(
        "ka,kai->ki", grab.points.weights, run.simulation.state.x[run.simulation.built.model.tets[grab.points.tet]]
    )
    lag = float((grab.shares[:, None] * (grab.hand + grab.offsets - here))[:, 2].sum())
    weight = 9.81 * float(run.simulation.built.model.mass.sum())
    assert lag == pytest.approx(weight / (4.0 * grab.stiffness), rel=0.02) and below[300] > 10.0 * lag


def test_a_grab_of_what_is_pinned_is_told() -> None:
    body = block((3, 3, 3), (0.1, 0.1, 0.1), (0.0, 0.0, 0.0))
    upper = np.flatnonzero(body.vertices[:, 2] > 0.06).astype(np.int32)
    body = replace(body, pinned=upper, pin_weights=np.ones(len(upper)))
    run = LiveRun(Scene((body,), settings=Settings(fps=60.0, gravity=(0.0, 0.0, 0.0))), NoTracks())
    assert run.held_grabs() == []
    drive(run, 2, lambda step: [take([0.05, 0.05, 0.1])])
    assert run.held_grabs() == [1]
    drive(run, 4, lambda step: [take([0.05, 0.05, 0.0])])
    assert run.held_grabs() == [], "the other end is free"


@pytest.mark.parametrize("command", ["grab", "move"])
def test_a_strength_that_is_none_is_refused(command: str) -> None:
    given = {"command": command, "grab": 1, "body": "block", "place": [0.0, 0.0, 0.0], "strength": 0.0}
    with pytest.raises(BadInput):
        parse_command(given)


def test_a_grabbed_corner_follows_a_hand_and_falls_when_it_is_let_go() -> None:
    """Half of the size a second, under gravity: within 5 % of the size."""
    run, size, speed = LiveRun(jelly(gravity=(0.0, 0.0, -9.81)), NoTracks()), 0.1, 0.05

    def place(step: int) -> list[float]:
        return [0.1 + speed * step / 60.0, 0.1, 0.1]

    def hand(step: int) -> list[Given]:
        return [take(place(0))] if step == 0 else [move(place(step))] if step < 60 else [] if step > 60 else [release]

    release = {"command": "release", "grab": 1}
    samples = drive(run, 90, hand)
    corner = int(np.argmin(np.linalg.norm(samples[0].positions["block"] - place(0), axis=1)))
    away = [np.linalg.norm(s.positions["block"][corner] - place(s.step - 1)) for s in samples[1:61]]
    assert max(away) < 0.05 * size
    heights = [sample.positions["block"][corner, 2] for sample in samples]
    assert heights[60] > 0.09 and heights[90] < -0.5 and not run.grabs.held


def test_a_radius_takes_what_is_around_and_keeps_its_shape() -> None:
    run = LiveRun(jelly(gravity=(0.0, 0.0, 0.0)), NoTracks())
    samples = drive(run, 1, lambda step: [take([0.05, 0.05, 0.1], 0.06)])
    grab = run.grabs.held[1]
    assert len(grab.shares) > 4 and grab.shares.sum() == pytest.approx(1.0) and (grab.shares > 0.0).all()
    assert np.abs(samples[1].positions["block"] - samples[0].positions["block"]).max() < 1.0e-9  # it was at rest


def test_it_takes_the_vertices_that_whoever_grabs_has_seen() -> None:
    """Meanwhile others may have come nearer to the hand."""
    run = LiveRun(jelly(gravity=(0.0, 0.0, 0.0)), NoTracks())
    given = {**take([0.05, 0.05, 0.1]), "vertices": [0, 3], "shares": [3.0, 1.0]}
    drive(run, 1, lambda step: [given])
    grab, binding = run.grabs.held[1], run.simulation.built.bodies[0].binding
    assert grab.shares.tolist() == [0.75, 0.25] and grab.points.tet.tolist() == binding.tet[[0, 3]].tolist()
    for wrong in ({"vertices": [0.5], "shares": [1.0]}, {"vertices": [0], "shares": [0.0]}, {"vertices": [0]}):
        with pytest.raises(BadInput, match="vertices"):
            parse_command({**given, **wrong})
    with pytest.raises(BadInput, match="fewer vertices"):
        run.apply(parse_command({**given, "vertices": [10**6], "shares": [1.0]}))


def test_springs_of_a_grab_are_as_they_say() -> None:
    """Their force is −∂E/∂p of ½ k Σ s_i |h + o_i − p_i|², by differences."""
    run = LiveRun(jelly(), NoTracks())
    model, body = run.simulation.built.model, run.simulation.built.bodies[0]
    binding = Binding(body.binding.tet, body.binding.weights)
    vertices = run.simulation.positions()["block"]
    hand = np.array([0.05, 0.05, 0.1])
    grab = make_grab(model, 0, binding, vertices, hand, grabbed_places(vertices, hand, 0.06), 9.81)
    x = model.X + 0.01 * np.random.default_rng(1).standard_normal(model.X.shape)
    tets = model.tets

    def energy(x: np.ndarray) -> float:
        points = np.einsum("ka,kai->ki", grab.points.weights, x[tets[grab.points.tet]])
        apart = grab.hand + grab.offsets - points
        return float(0.5 * grab.stiffness * np.sum(grab.shares * np.einsum("ki,ki->k", apart, apart)))

    found = grab.forces(x, tets)
    direction = np.random.default_rng(2).standard_normal(x.shape)
    work = float(np.sum(found.force * found.positions(direction, tets)))
    step = 1.0e-6
    slope = (energy(x + step * direction) - energy(x - step * direction)) / (2.0 * step)
    assert work == pytest.approx(-slope, rel=1.0e-6)
    assert grab.stiffness == stiffness_to_follow(model, 0, 9.81) > 0.0


def test_a_collider_that_is_moved_pushes_at_once() -> None:
    floor = Collider("floor", "Floor")
    scene = replace(jelly(gravity=(0.0, 0.0, 0.0)), colliders=(floor,))
    name = "collider.floor.matrix"
    run = LiveRun(scene, NoTracks(), {name: np.eye(4).tolist()})

    def hand(step: int) -> list[Given]:
        matrix = np.eye(4)
        matrix[2, 3] = 0.002 * (step + 1)
        return [{"command": "set", "track": name, "value": matrix.tolist()}]

    samples = drive(run, 30, hand)
    lowest = [sample.positions["block"][:, 2].min() for sample in samples]
    assert lowest[0] == pytest.approx(0.0) and lowest[30] > 0.055


def test_what_was_done_and_done_again_has_the_same_bytes() -> None:
    def hand(step: int) -> list[Given]:
        return {2: [take([0.1, 0.1, 0.1], 0.03)], 5: [move([0.2, 0.1, 0.2])], 20: [move([0.0, 0.1, 0.0])]}.get(step, [])

    runs = [LiveRun(jelly(24.0), NoTracks()) for _ in range(2)]
    one, two = (drive(run, 40, hand) for run in runs)
    assert all(np.array_equal(a.positions["block"], b.positions["block"]) for a, b in zip(one, two, strict=True))
    other = drive(LiveRun(jelly(24.0), NoTracks()), 40)
    assert not np.array_equal(one[-1].positions["block"], other[-1].positions["block"])


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ({"command": "dance"}, "live-command-invalid"),
        ({"command": "grab", "grab": 1, "body": "block"}, "live-command-invalid"),
        ({"command": "grab", "grab": True, "body": "block", "place": [0, 0, 0]}, "live-command-invalid"),
        ({"command": "grab", "grab": 1, "body": "block", "place": [0, 0, float("nan")]}, "live-command-invalid"),
        ({"command": "grab", "grab": 1, "body": "block", "place": [0, 0, 0], "radius": -1}, "live-command-invalid"),
        ({"command": "grab", "grab": 1, "body": "ball", "place": [0, 0, 0]}, "live-no-such-body"),
        ({"command": "move", "grab": 7, "place": [0, 0, 0]}, "live-no-such-grab"),
        ({"command": "release", "grab": 7}, "live-no-such-grab"),
        ({"command": "set", "track": "gravity", "value": [0, 0]}, "live-command-invalid"),
        ({"command": "set", "track": "speed", "value": 1.0}, "live-no-such-control"),
    ],
)
def test_what_cannot_be_done_is_named(given: Given, kind: str) -> None:
    run = LiveRun(jelly(), NoTracks(), {"gravity": [0.0, 0.0, -9.81]})
    with pytest.raises(BadInput) as caught:
        run.apply(parse_command(given))
    assert caught.value.kind == kind and isinstance(run.grabs, Grabs)


def test_a_number_can_be_set_while_it_runs() -> None:
    """Speed 0 lets time stand still from the step on that gets there."""
    run = LiveRun(jelly(gravity=(0.0, 0.0, -9.81)), NoTracks(), {"speed": 1.0})
    stop = {"command": "set", "track": "speed", "value": 0.0}
    samples = drive(run, 20, lambda step: [stop] if step == 10 else [])
    low = [sample.positions["block"][:, 2].min() for sample in samples]
    assert low[10] < low[5] < 0.0 and low[20] == low[12]


def test_a_step_in_hand_is_halved_fewer_times() -> None:
    """What a hand forces is not waited for: parts of such a step know of the hand."""
    part, count = StepPart(0.0, 1.0, is_in_hand=True), 0
    while part.may_halve:
        part, count = part.halves(turns_solves=False)[1], count + 1
    assert count == MAX_HALVINGS_IN_HAND < MAX_HALVINGS and StepPart(0.0, 1.0, halvings=count).may_halve


def test_grabs_of_some_bodies_are_those_alone() -> None:
    bodies = tuple(replace(block(at=(2.0 * n, 0.0, 0.0)), key=f"block{n}") for n in range(2))
    run = LiveRun(Scene(bodies, settings=Settings(fps=60.0)), NoTracks())
    of_second = run.grabs.restricted_to([1])
    for number in range(2):
        place = {"command": "grab", "grab": number, "body": f"block{number}", "place": [2.0 * number, 0.0, 0.0]}
        run.apply(parse_command(place))
    model, state = run.simulation.built.model, run.simulation.state
    step = ForceStep(model, state, NoTracks(), 0.0, 1.0 / 60.0)
    tets = of_second.point_forces(step).tet
    assert len(tets) == 1 and tets[0] >= model.bodies[1].tets.start
    assert len(run.grabs.point_forces(step)) == 2 and len(of_second.static_inputs(step)) == 4


def test_controls_that_nothing_reads_are_named() -> None:
    with pytest.raises(BadInput, match="gravitation"):
        LiveRun(jelly(), NoTracks(), {"gravitation": [0.0, 0.0, 0.0]})


def test_gravity_can_be_turned_while_it_runs() -> None:
    run = LiveRun(replace(jelly(), bodies=(block(material=JELLY),)), NoTracks(), {"gravity": [0.0, 0.0, -9.81]})
    turned = {"command": "set", "track": "gravity", "value": [9.81, 0.0, 0.0]}
    samples = drive(run, 60, lambda step: [turned] if step == 30 else [])
    middle = [sample.positions["block"].mean(axis=0) for sample in samples]
    assert middle[30][0] == pytest.approx(middle[0][0], abs=1e-9) and middle[60][0] > middle[30][0] + 0.9


def test_a_number_can_be_turned_while_it_runs() -> None:
    """What hangs gets stiffer, and hangs less."""
    hung = replace(block(material=JELLY), pinned=np.flatnonzero(block().vertices[:, 2] > 0.999).astype(np.int32))
    hung = replace(hung, pin_weights=np.ones(len(hung.pinned)))
    track = f"body.{hung.key}.youngs_modulus"
    turned = {"command": "set", "track": track, "value": 100.0 * JELLY.youngs_modulus}
    lowest = []
    for hand in (lambda step: [], lambda step: [turned] if step == 1 else []):
        run = LiveRun(Scene((hung,), settings=Settings()), NoTracks(), {track: JELLY.youngs_modulus})
        lowest.append(drive(run, 30, hand)[-1].positions[hung.key][:, 2].min())
    assert 0.0 > lowest[1] > 0.2 * lowest[0]
