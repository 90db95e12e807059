# SPDX-License-Identifier: GPL-3.0-or-later
"""What acts on a step from outside: held nodes, springs, and what responds to where a solve ends."""

import numpy as np
import pytest

from sinew.solver.constraints.external_forces import ExternalForces
from sinew.solver.constraints.point_forces import PointForces
from sinew.solver.integrators.integrator_choice import step
from sinew.solver.integrators.step_input import ContactCallbacks, StepOptions
from sinew.solver.scene.scene import Material, Settings
from test_step_motion import EXACT, GRAVITY, at_rest, model_of, spinning


def test_held_nodes_follow_their_targets_exactly():
    model = model_of()
    held = model.X[:, 2] == 0.0
    state = at_rest(model)
    for k in range(1, 11):
        target = model.X + [0.02 * k, 0.0, 0.01 * k]
        step(model, state, ExternalForces(GRAVITY, held, target), 0.01, Settings())
        assert (state.x[held] == target[held]).all()
    assert np.abs(state.v[held] - [2.0, 0.0, 1.0]).max() < 1e-10
    assert np.abs(state.x[~held] - model.X[~held]).max() > 0.01


def test_everything_held_is_only_carried():
    model = model_of()
    state = at_rest(model)
    report = step(
        model, state, ExternalForces(GRAVITY, np.ones(model.node_count, bool), model.X + 0.1), 0.01, Settings()
    )
    assert report.converged and (state.x == model.X + 0.1).all()


def test_springs_hold_the_weight_where_statics_wants_it():
    model = model_of(material=Material(1.0e5, 0.3, 1000.0, 0.0, 0.05))
    state, k = at_rest(model), model.tet_count
    points = PointForces(np.arange(k, dtype=np.int32), np.full((k, 4), 0.25))
    points.stiffness, points.damping = np.tile(500.0 * np.eye(3), (k, 1, 1)), np.tile(20.0 * np.eye(3), (k, 1, 1))
    anchors = points.positions(model.X, model.tets)
    for _ in range(200):
        points.force = 500.0 * (anchors - points.positions(state.x, model.tets))
        assert step(model, state, ExternalForces(GRAVITY, points=points), 0.02, Settings(tolerance=1e-6)).converged
    sag = (anchors - points.positions(state.x, model.tets))[:, 2].mean()
    assert sag == pytest.approx(9.81 * model.mass.sum() / (500.0 * k), rel=1e-4)


def test_a_stiff_spring_never_overshoots():
    model = model_of()
    state = at_rest(model)
    goal = model.X[model.tets[7]].mean(axis=0) + [0.1, 0.0, 0.0]
    points = PointForces(np.array([7], np.int32), np.full((1, 4), 0.25), np.zeros((1, 3)))
    points.stiffness, points.damping = 1e9 * np.eye(3)[None], np.zeros((1, 3, 3))
    points.force = 1e9 * (goal - points.positions(state.x, model.tets))
    step(model, state, ExternalForces(points=points), 0.01, EXACT)
    assert np.abs(points.positions(state.x, model.tets) - goal).max() < 1e-4


def test_responds_until_content_and_says_how_often():
    model = model_of()
    asked = []

    def respond(x, v, is_wrong, chords):
        asked.append((x.copy(), v.copy()))
        return ExternalForces(GRAVITY) if len(asked) < 3 else None

    report = step(model, at_rest(model), ExternalForces(), 0.01, EXACT, contacts=ContactCallbacks(update=respond))
    assert report.solves == 3 and report.settled
    assert np.abs(asked[0][1]).max() < 1e-12  # the first solve had no gravity
    assert np.abs(asked[2][1] - 0.01 * GRAVITY).max() < 1e-9
    report = step(
        model,
        at_rest(model),
        ExternalForces(),
        0.01,
        EXACT,
        contacts=ContactCallbacks(update=lambda *ends: ExternalForces()),
        options=StepOptions(max_solves=2),
    )
    assert report.solves == 2 and not report.settled


def test_a_solve_with_points_leaves_nothing_behind_in_the_next():
    model = model_of()
    points = PointForces(np.array([3, 3], np.int32), np.full((2, 4), 0.25), np.ones((2, 3)))
    points.stiffness, points.damping = np.tile(1e4 * np.eye(3), (2, 1, 1)), np.zeros((2, 3, 3))
    tight = Settings(tolerance=1e-12)
    plain, after = spinning(model), spinning(model)
    step(model, plain, ExternalForces(GRAVITY), 0.01, tight)
    rounds = iter([ExternalForces(GRAVITY), None])
    step(
        model,
        after,
        ExternalForces(GRAVITY, points=points),
        0.01,
        tight,
        contacts=ContactCallbacks(update=lambda *ends: next(rounds)),
    )
    # the second solve starts where the first ended, so it stops elsewhere within the tolerance
    assert np.abs(plain.v - after.v).max() < 1e-9 * np.abs(plain.v).max()
