# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies of a scene that are bound to each other: bakes without a window, and what is asked for in vain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import sinew.solver.api as sinew
from fixtures.scenes import JELLY, Run, block
from fixtures.shells import hollow_ball
from sinew.solver.contact.overlap_damping import damped_velocities
from sinew.solver.mechanics.model import Model
from sinew.solver.mechanics.state import State
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.body_binding import BodyBinding
from sinew.solver.scene.contact import Collider
from sinew.solver.scene.flesh import Flesh
from sinew.solver.scene.formulation import FormulationSettings
from sinew.solver.scene.goal import Goal
from sinew.solver.scene.pressure import Pressure
from sinew.solver.scene.rigid_core import Core
from sinew.solver.scene.scene import Body, Fracture, Scene, Settings
from sinew.solver.scene.tracks import NoTracks
from sinew.solver.simulation.build import build

ON_LOWER = BodyBinding("lower", 0.01)


def lower(**more: object) -> Body:
    return block((2, 2, 2), (1.0, 1.0, 1.0), (0.0, 0.0, 0.5), key="lower", material=JELLY, **more)


def upper(*bindings: BodyBinding, **more: object) -> Body:
    return replace(
        block((2, 2, 2), (0.6, 0.6, 0.6), (0.23, 0.17, 1.5), key="upper", material=JELLY, **more), bindings=bindings
    )


def scene_of(*bodies: Body, **settings: object) -> Scene:
    return Scene(bodies, (Collider("ground", "Ground"),), Settings(**settings))


def gap(model: Model, state: State) -> float:
    """Returns how far bound nodes are from where their parents put them [m]."""
    x = state.x.copy()
    model.bound.interpolate(x)
    return float(np.abs(x - state.x).max())


def kinetic_energy(model: Model, state: State) -> float:
    return float(0.5 * model.mass @ np.square(state.v).sum(axis=1))


def test_what_is_bound_falls_lands_and_stays_bound(tmp_path: Path) -> None:
    run = Run(tmp_path, scene_of(lower(), upper(ON_LOWER), frame_start=1, frame_end=40))
    model = run.simulation.built.model
    assert len(model.bound.nodes) == 9  # its lower face
    assert model.mass.sum() == pytest.approx(JELLY.density * (1.0 + 0.6**3), rel=1e-12)
    for _ in range(39):
        run.advance()
        assert gap(model, run.state) < 1e-14
    assert all(not report.not_converged for report in run.reports)
    second = run.state.x[model.bodies[1].nodes]
    assert second[:, 2].min() > 0.5 and second[:, 2].max() < 2.0
    assert run.state.x[:, 2].min() > -0.01
    # beside it nothing holds it there
    free = Run(tmp_path / "free", scene_of(lower(), upper(), frame_start=1, frame_end=40))
    assert free.simulation.built.model.bound is None


def test_what_hangs_below_is_carried(tmp_path: Path) -> None:
    held = lower()
    top = np.flatnonzero(held.vertices[:, 2] > 1.49).astype(np.int32)
    hanging = replace(
        block((2, 2, 2), (0.6, 0.6, 0.6), (0.2, 0.2, -0.1), key="upper", material=JELLY), bindings=(ON_LOWER,)
    )
    scene = Scene((replace(held, pinned=top), hanging), (), Settings(frame_start=1, frame_end=30))
    run = Run(tmp_path, scene)
    run.advance(29)
    model = run.simulation.built.model
    assert gap(model, run.state) < 1e-14
    assert run.state.x[model.bodies[1].nodes, 2].min() > -0.6  # free it would be four metres lower


def test_what_is_bound_and_hit_by_another_body_settles_with_less_energy(tmp_path: Path) -> None:
    ball = block((2, 2, 2), (0.5, 0.5, 0.5), (0.3, 0.25, 2.2), key="third", material=JELLY)
    ball = replace(ball, initial_velocity=(0.0, 0.0, -3.0))
    settings = Settings(frame_start=1, frame_end=24, gravity=(0.0, 0.0, 0.0))
    run = Run(tmp_path, Scene((lower(), upper(ON_LOWER), ball), (), settings))
    model = run.simulation.built.model
    before, momentum = kinetic_energy(model, run.state), model.mass @ run.state.v
    most = 0
    for _ in range(23):
        run.advance()
        most = max(most, run.reports[-1].contacts)
        assert gap(model, run.state) < 1e-14
        assert kinetic_energy(model, run.state) < before * (1.0 + 1e-6)
    assert most > 0
    assert not any(report.not_converged for report in run.reports)
    # where the two part, contacts change after the last solve, as in one step without bindings
    assert sum(report.unsettled for report in run.reports) <= 3
    assert np.abs(model.mass @ run.state.v - momentum).max() < 1e-9 * np.abs(momentum).max()
    assert run.state.v[model.bodies[0].nodes, 2].mean() < -0.1  # what is bound to what was hit moves along


@pytest.mark.parametrize("flesh", [Flesh(motion="dynamic"), Flesh(motion="dynamic", scheme="newmark")])
def test_flesh_is_bound_as_well(tmp_path: Path, flesh: Flesh) -> None:
    scene = Scene((lower(flesh=flesh), upper(ON_LOWER, flesh=flesh)), (), Settings(frame_start=1, frame_end=6))
    run = Run(tmp_path, scene)
    run.advance(5)
    assert gap(run.simulation.built.model, run.state) < 1e-14
    assert all(not report.not_converged for report in run.reports)


def test_a_bake_resumed_and_one_that_ran_through_have_the_same_frames(tmp_path: Path) -> None:
    scene = scene_of(lower(), upper(ON_LOWER), frame_start=1, frame_end=12)
    whole = sinew.bake(scene, tmp_path / "whole.sinew")
    first = replace(scene, settings=replace(scene.settings, frame_end=10))
    sinew.bake(first, tmp_path / "parts.sinew")
    parts = sinew.bake(scene, tmp_path / "parts.sinew", resume=True)
    for frame in range(1, 13):
        assert np.array_equal(whole.read_frame(frame).x, parts.read_frame(frame).x)
    assert np.abs(whole.read_frame(12).x - whole.read_frame(1).x).max() > 0.05
    for key in ("lower", "upper"):
        assert whole.play_path(key).read_bytes() == parts.play_path(key).read_bytes()


def test_a_saved_scene_has_its_bindings_and_one_without_has_its_digest(tmp_path: Path) -> None:
    scene = scene_of(lower(), upper(ON_LOWER))
    scene.save(tmp_path)
    (stored,) = Scene.load(tmp_path).bodies[1].bindings
    assert (stored.target, stored.reach, len(stored.paint)) == (ON_LOWER.target, ON_LOWER.reach, 0)
    assert scene.digest() != scene_of(lower(), upper()).digest()


def bodies_in_a_circle() -> tuple[Body, ...]:
    third = replace(upper(BodyBinding("lower")), key="third", name="Third")
    return replace(lower(), bindings=(BodyBinding("upper"),)), upper(BodyBinding("third")), third


def body_with_core() -> Body:
    cube = block((6, 6, 6), (1.0, 1.0, 1.0), (0.23, 0.17, 1.5), key="upper", material=JELLY, core=Core(0.3))
    return replace(cube, bindings=(BodyBinding("lower", 10.0),))


REFUSED: dict[str, tuple[Callable[[], tuple[Body, ...]], str]] = {
    "itself": (lambda: (lower(), upper(BodyBinding("upper"))), 'binding of "Upper" has "Upper" itself'),
    "nobody": (lambda: (lower(), upper(BodyBinding("him"))), 'has the target "him", which is no body'),
    "twice": (lambda: (lower(), upper(ON_LOWER, BodyBinding("lower", 0.1))), '"Upper" is bound to "Lower" twice'),
    "circle": (bodies_in_a_circle, 'in a circle: "Lower" → "Upper" → "Third" → "Lower"'),
    "far": (
        lambda: (lower(), replace(upper(ON_LOWER), tet_nodes=upper().tet_nodes + [3.0, 0.0, 0.0],
                                  vertices=upper().vertices + [3.0, 0.0, 0.0])),
        'No node of "Upper" is within the reach of 0.01 m of "Lower": the nearest is 2.23 m',
    ),
    "stepping": (
        lambda: (lower(), upper(ON_LOWER, method=FormulationSettings(scheme="bdf2"))),
        '"Upper" moves by BDF2 and "Lower", to which it is bound, by implicit Euler',
    ),
    "schemes of flesh": (
        lambda: (lower(flesh=Flesh(motion="dynamic", scheme="newmark")), upper(ON_LOWER)),
        '"Upper" moves by implicit Euler and "Lower", to which it is bound, by Newmark',
    ),
    "pose": (lambda: (lower(flesh=Flesh()), upper(ON_LOWER)), '"Lower" is bound .* not support Follow Pose'),
    "fracture": (lambda: (lower(), upper(ON_LOWER, fracture=Fracture())), '"Upper" is bound .* not support Fracture'),
    "vertices": (
        lambda: (lower(), upper(ON_LOWER, method=FormulationSettings("vertex-warp"))), "not support the Method"
    ),
    "gravity": (
        lambda: (lower(gravity_in_shape=True), upper(ON_LOWER)), "not support Gravity Already in Shape"
    ),
    "spin": (
        lambda: (lower(initial_spin=(0.0, 0.0, 1.0)), upper(ON_LOWER)), '"Lower" is bound .* not support Initial Spin'
    ),
    "goal": (lambda: (lower(), upper(ON_LOWER, goal=Goal(0.5))), '"Upper" is bound .* not support Goal'),
    "pins": (
        lambda: (lower(), upper(ON_LOWER, pinned=np.zeros(1, np.int32), pin_weights=np.array([0.5]))),
        "not support pins of less than full strength"
    ),
    "core": (
        lambda: (lower(), body_with_core()),
        'binding of "Upper" reaches its rigid core'
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_bound_is_named(case: str) -> None:
    bodies, sentence = REFUSED[case]
    with pytest.raises(BadInput, match=sentence):
        build(scene_of(*bodies()), NoTracks(), lambda stage, body: None)


def test_a_body_under_pressure_swells_beside_bound_ones(tmp_path: Path) -> None:
    """How much a chamber yields is a sum over 1 / m of the nodes around it; bound nodes anywhere have no mass."""
    swollen = {}
    for name, bindings in (("alone", ()), ("bound", (ON_LOWER,))):
        gas = Pressure(0.3 * JELLY.youngs_modulus, is_sealed=True)
        ball = hollow_ball(0.3, 0.5, 1, 1, material=JELLY, pressure=gas)
        far = np.array([3.0, 0.0, 0.0])
        ball = replace(ball, vertices=ball.vertices + far, tet_nodes=ball.tet_nodes + far)
        scene = Scene((lower(), upper(*bindings), ball), settings=Settings(gravity=(0.0, 0.0, 0.0)))
        run = Run(tmp_path / name, scene)
        run.advance(5)
        swollen[name] = np.ptp(run.state.x[run.built.model.bodies[2].nodes], axis=0)
    assert (swollen["bound"] > 1.01).all()
    assert swollen["bound"] == pytest.approx(swollen["alone"], rel=1e-6)


def test_bound_nodes_that_are_pinned_are_named() -> None:
    below = np.flatnonzero(upper().vertices[:, 2] < 1.51).astype(np.int32)
    with pytest.raises(BadInput, match='9 bound nodes of "Upper" are held by pins'):
        build(scene_of(lower(), upper(ON_LOWER, pinned=below)), NoTracks(), lambda stage, body: None)


def test_damping_of_bodies_that_part_leaves_bound_nodes_with_their_parents() -> None:
    third = replace(block((2, 2, 2), (0.5, 0.5, 0.5), (3.0, 0.0, 0.5), key="third", material=JELLY), name="Third")
    model = build(scene_of(lower(), upper(ON_LOWER), third), NoTracks(), lambda stage, body: None).model
    v = np.random.default_rng(4).normal(size=(model.node_count, 3))
    model.bound.interpolate(v)
    damped = damped_velocities(model, np.array([[1.0, 2.0, 1.0]]), v, 0.01)
    after = damped.copy()
    model.bound.interpolate(after)
    assert np.abs(damped - v).max() > 1.0e-3
    assert damped == pytest.approx(after, abs=1e-12)
    assert model.mass @ damped == pytest.approx(model.mass @ v, rel=1e-10)
