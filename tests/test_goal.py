# SPDX-License-Identifier: GPL-3.0-or-later
"""Goals: exact at full strength, free at none, springs between, painted and keyed; of all kinds of bodies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.scenes import Run, block, rotation
from sinew.solver.constraints.force import ForceStep
from sinew.solver.constraints.goal import BodyGoal, make_goal
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.flesh import DYNAMIC, FLESH_TIME_SCHEMES, Flesh
from sinew.solver.scene.formulation import FORMULATIONS, FormulationSettings
from sinew.solver.scene.goal import Goal
from sinew.solver.scene.scene import Fracture, Material, Scene, Settings
from sinew.solver.scene.validation import check_scene

WEIGHTLESS = Settings(fps=25.0, substeps=2, frame_end=40, gravity=(0.0, 0.0, 0.0), tolerance=1e-8)
SOFT = Material(youngs_modulus=2.0e4, poisson_ratio=0.3, density=1000.0)


def goal_block(goal: Goal, **settings):
    return block((3, 3, 3), material=SOFT, goal=goal, **settings)


def bent(body, frames=10, amount=0.6):
    """Returns a track in which a body turns and bends, a step beyond what affine motion is."""
    times = np.arange(frames + 1) / 25.0
    shapes = []
    for share in np.linspace(0.0, 1.0, frames + 1):
        x = body.vertices - 0.5
        x = np.column_stack([x[:, 0], x[:, 1] + amount * share * x[:, 0] ** 2, x[:, 2]])
        shapes.append(x @ rotation([0.0, 0.2, 1.0], 0.8 * share).T + 0.5 + [0.3 * share, 0.0, 0.0])
    return times, np.array(shapes)


def run_of(folder, body, settings=WEIGHTLESS, **tracks) -> Run:
    return Run(folder, Scene((body,), settings=settings), **tracks)


@pytest.mark.parametrize("name", FORMULATIONS)
def test_full_strength_is_the_animation_on_every_frame(tmp_path, name):
    body = goal_block(Goal(strength=1.0), method=FormulationSettings(name))
    times, shapes = bent(body)
    run = run_of(tmp_path, body, body__block__goal__targets=(times, shapes))
    for frame in range(1, 6):
        assert run.advance() == pytest.approx(shapes[frame], abs=1e-12)
    assert all(report.converged for report in run.reports)


@pytest.mark.parametrize("scheme", FLESH_TIME_SCHEMES)
def test_full_strength_of_flesh_that_jiggles(tmp_path, scheme):
    body = goal_block(Goal(strength=1.0), flesh=Flesh(DYNAMIC, scheme=scheme))
    times, shapes = bent(body)
    run = run_of(tmp_path, body, body__block__goal__targets=(times, shapes))
    for frame in range(1, 4):
        assert run.advance() == pytest.approx(shapes[frame], abs=1e-12)


def test_no_strength_is_a_free_body(tmp_path):
    """To the bit: a body that falls, with and without a goal."""
    settings = replace(WEIGHTLESS, gravity=(0.0, 0.0, -9.81))
    body = goal_block(Goal(strength=0.0))
    times, shapes = bent(body)
    with_goal = run_of(tmp_path / "goal", body, settings, body__block__goal__targets=(times, shapes))
    free = run_of(tmp_path / "free", replace(body, goal=None), settings)
    assert (with_goal.advance(5) == free.advance(5)).all()


def test_a_body_sags_by_gravity_over_stiffness(tmp_path):
    """g (1 − s) / (k s): at the strength ½ 9.81 mm with a stiffness of 1000, at 0.9 a ninth."""
    settings = replace(WEIGHTLESS, gravity=(0.0, 0.0, -9.81), frame_end=60)
    for strength, sag in ((0.5, 9.81e-3), (0.9, 9.81e-3 / 9.0)):
        run = run_of(tmp_path / str(strength), goal_block(Goal(strength, damping=1.0)), settings)
        run.advance(40)
        moved = run.state.x - run.built.model.X
        assert moved.mean(axis=0) == pytest.approx([0.0, 0.0, -sag], rel=2e-3, abs=1e-6)


def test_a_wobble_is_that_of_its_spring_and_damper(tmp_path):
    """Implicit Euler of x″ = −k x − 2 ζ √k x′, step by step, for a goal that jumps by 0.1 m."""
    k, zeta, dt = 400.0, 0.2, 0.02
    body = goal_block(Goal(0.5, stiffness=k, damping=zeta))
    moved = body.vertices + [0.1, 0.0, 0.0]
    run = run_of(tmp_path, body, body__block__goal__targets=([0.0], moved[None]))
    x = v = 0.0
    for _ in range(10):
        run.advance()
        for _ in range(2):
            v = (v + dt * k * (0.1 - x)) / (1.0 + dt * 2.0 * zeta * np.sqrt(k) + dt * dt * k)
            x += dt * v
        assert (run.state.x - run.built.model.X).mean(axis=0) == pytest.approx([x, 0.0, 0.0], abs=1e-6)


def test_a_goal_that_moves_steadily_is_followed_without_lag(tmp_path):
    """Damping is of the velocity relative to the animation, so it does not hold the body back."""
    body = goal_block(Goal(0.5, damping=1.0), initial_velocity=(1.0, 0.0, 0.0))
    times = np.array([0.0, 2.0])
    shapes = body.vertices + np.outer(times, [1.0, 0.0, 0.0])[:, None]
    run = run_of(tmp_path, body, body__block__goal__targets=(times, shapes))
    assert run.advance(10) == pytest.approx(body.vertices + [0.4, 0.0, 0.0], abs=1e-6)


def test_a_strength_is_keyed(tmp_path):
    """Exact until a frame, free from the next on: the body flies on with its velocity."""
    body = goal_block(Goal())
    times = np.arange(11) / 25.0
    shapes = body.vertices + np.outer(times, [2.0, 0.0, 0.0])[:, None]
    keys = ([0.0, 5 / 25.0, 5.2 / 25.0], [1.0, 1.0, 0.0])
    run = run_of(tmp_path, body, body__block__goal__targets=(times, shapes), body__block__goal_strength=(*keys, "step"))
    assert run.advance(5) == pytest.approx(shapes[5], abs=1e-12)
    run.advance(5)
    assert run.built.model.mass @ run.state.v / run.built.model.mass.sum() == pytest.approx([2.0, 0.0, 0.0], abs=1e-3)


def test_a_strength_is_painted(tmp_path):
    """One half follows the animation exactly, the other is free of springs."""
    body = goal_block(Goal())
    low = body.vertices[:, 0] < 0.4
    body = replace(body, goal=Goal(1.0, low.astype(float)))
    times, shapes = bent(body, amount=0.0)
    run = run_of(tmp_path, body, body__block__goal__targets=(times, shapes))
    moved = run.advance(6)
    assert moved[low] == pytest.approx(shapes[6][low], abs=1e-12)
    assert np.abs(moved[body.vertices[:, 0] > 0.9] - shapes[6][body.vertices[:, 0] > 0.9]).max() > 1e-3


def test_pins_decide_where_both_hold(tmp_path):
    held = np.flatnonzero(block().vertices[:, 0] < 0.1).astype(np.int32)
    body = goal_block(Goal(1.0), pinned=held)
    times, shapes = bent(body)
    run = run_of(tmp_path, body, body__block__goal__targets=(times, shapes))
    moved = run.advance(5)
    assert moved[held] == pytest.approx(body.vertices[held], abs=1e-12)


def test_springs_have_the_slope_of_their_energy_and_interior_goals_are_smooth(tmp_path):
    body = block((4, 4, 4), material=SOFT, goal=Goal(0.3))
    times, shapes = bent(body)
    run = run_of(tmp_path, body, body__block__goal__targets=(times, shapes))
    (force,) = run.built.forces
    assert isinstance(force, BodyGoal)
    points = force.point_forces(ForceStep(run.built.model, run.state, run.tracks, 0.38, 0.4))
    assert len(points) == run.built.model.node_count
    k = 1000.0 * 0.3 / 0.7
    away = force.node_goals(run.tracks, 0.4) - run.state.x
    speed = (force.node_goals(run.tracks, 0.4) - force.node_goals(run.tracks, 0.38)) / 0.02
    expected = run.built.model.mass[:, None] * (k * away + 0.2 * np.sqrt(k) * speed)
    assert points.force == pytest.approx(expected)
    turned = body.vertices @ rotation([1.0, 1.0, 0.0], 1.2).T
    assert force.motion.targets(turned) == pytest.approx(run.built.model.X @ rotation([1.0, 1.0, 0.0], 1.2).T, abs=1e-9)


def test_broken_bodies_keep_their_goal(tmp_path):
    body = goal_block(Goal(0.9), fracture=Fracture(1.0), initial_velocity=(0.0, 0.0, 0.0))
    run = run_of(tmp_path, body)
    run.state.x *= 1.3
    run.advance(3)
    (force,) = run.built.forces
    assert len(force.nodes) == run.built.model.node_count > len(force.paint)
    assert (run.built.unbroken.model.X[force.origin] == run.built.model.X).all()


def test_a_goal_is_saved_and_checked(tmp_path):
    body = goal_block(Goal(0.4, np.linspace(0, 1, len(block((3, 3, 3)).vertices))))
    scene = Scene((body,))
    scene.save(tmp_path)
    loaded = Scene.load(tmp_path)
    assert loaded.digest() == scene.digest() and (loaded.bodies[0].goal.paint == body.goal.paint).all()
    assert Scene((replace(body, goal=None),)).digest() == Scene((block((3, 3, 3), material=SOFT),)).digest()
    assert Scene((replace(body, goal=None),)).digest() != scene.digest()
    for wrong in (replace(body.goal, strength=1.5), replace(body.goal, paint=np.ones(3))):
        with pytest.raises(BadInput, match="Strength|Goal Group"):
            check_scene(Scene((replace(body, goal=wrong),)))


def test_a_mesh_on_a_line_is_named(tmp_path):
    run = run_of(tmp_path, goal_block(Goal()))
    (body,), built = run.scene.bodies, run.built
    line = replace(body, vertices=body.vertices * [1.0, 0.0, 0.0])
    with pytest.raises(BadInput) as caught:
        make_goal(line, Goal(), built.bodies[0].binding, built.model, 0, 0.3)
    assert caught.value.kind == "goal-on-a-line"
