# SPDX-License-Identifier: GPL-3.0-or-later
"""Forces between points of two tets, where one or both of them move by Newmark's scheme."""

from dataclasses import replace

import numpy as np
import pytest

from fixtures.flesh_dynamics import FLESH, energy_of, flesh_of, model_of, momentum
from sinew.solver.constraints.external_forces import ExternalForces
from sinew.solver.constraints.pair_forces import PairForces
from sinew.solver.constraints.point_forces import PointForces
from sinew.solver.integrators.integrator_choice import step
from sinew.solver.integrators.newmark.substep_contacts import select_forces
from sinew.solver.integrators.step_input import ContactCallbacks, StepOptions
from sinew.solver.mechanics.state import State
from sinew.solver.runtime.threads.thread_count import set_thread_count, thread_count
from sinew.solver.scene.scene import Settings
from test_pair_forces_in_step import random_pairs

DT = 0.004
PLAIN = replace(FLESH, mass_damping=0.0)
TIGHT = Settings(tolerance=1e-9, max_iterations=5000)


def side_by_side(bodies=2, speed=1.0):
    """Bars in a row, the first of which moves towards the others."""
    model = model_of(material=PLAIN, bodies=bodies)
    state = State(model.X.copy(), np.zeros_like(model.X))
    state.v[model.bodies[0].nodes, 0] = speed
    return model, state


def facing(model, stiff=2.0e3, force=0.0):
    """Pairs from nodes of the first body's face to the other's, and the direction in which they push the first."""
    first, second = model.bodies[0], model.bodies[1]
    pairs = PairForces(*([] for _ in range(6)))
    nodes = [np.arange(b.nodes.start, b.nodes.stop) for b in (first, second)]
    right = nodes[0][model.X[nodes[0], 0] > 0.4 - 1e-9]
    left = nodes[1][model.X[nodes[1], 0] < 0.8 + 1e-9]
    for one, two in zip(right, left, strict=True):
        (t, a), (u, c) = (np.argwhere(model.tets == node)[0] for node in (one, two))
        pairs.tet.append(t)
        pairs.other.append(u)
        pairs.weights.append(np.eye(4)[a])
        pairs.other_weights.append(np.eye(4)[c])
    count = len(right)
    toward = np.array([1.0, 0.0, 0.0])
    found = PairForces(
        np.array(pairs.tet, np.int32), np.array(pairs.weights), np.array(pairs.other, np.int32),
        np.array(pairs.other_weights), np.tile(-force * toward, (count, 1)),
        np.tile(stiff * np.outer(toward, toward), (count, 1, 1)),
    )  # fmt: skip
    return found, np.tile(-toward, (count, 1))


@pytest.mark.parametrize("is_contact", [True, False])
def test_pairs_of_one_group_neither_make_nor_take_momentum_nor_make_energy(is_contact):
    model, state = side_by_side()
    flesh, (pairs, normals) = flesh_of(model, "newmark"), facing(model)
    before, first, pushed = momentum(model, state), energy_of(model, state), 0.0
    x0 = state.x.copy()
    for _ in range(12):
        # the same contacts from step to step: what they push with where a step begins
        now = replace(
            pairs, force=-np.einsum("kij,kj->ki", pairs.stiffness, pairs.relative_positions(state.x - x0, model.tets))
        )
        outside = ExternalForces(pairs=now, pair_normals=normals if is_contact else None)
        step(model, state, outside, DT, TIGHT, options=StepOptions(flesh=flesh))
        pushed = max(pushed, np.abs(state.v[model.bodies[1].nodes]).max())
        assert energy_of(model, state) < (1.0 + 1e-6) * first
    assert pushed > 0.05
    assert np.abs(momentum(model, state) - before).max() < 1e-8 * np.linalg.norm(model.mass[:, None] * state.v)


def test_a_contact_does_not_pull_and_lets_time_pass_as_it_does():
    model, state = side_by_side(speed=-1.0)
    expected = state.x + DT * state.v
    pairs, normals = facing(model)
    step(
        model,
        state,
        ExternalForces(pairs=pairs, pair_normals=normals),
        DT,
        TIGHT,
        options=StepOptions(flesh=flesh_of(model, "newmark")),
    )
    assert np.abs(state.v[model.bodies[1].nodes]).max() < 1e-12
    assert np.abs(state.x - expected).max() < 1e-12


@pytest.mark.parametrize("flesh_too", [True, False])
@pytest.mark.parametrize("turned", [True, False])
def test_bodies_of_different_schemes_give_each_other_the_same(flesh_too, turned):
    model, state = side_by_side()
    schemes = ["newmark", "euler"] if flesh_too else ["newmark"]
    flesh = flesh_of(model, schemes, bodies=[0, 1] if flesh_too else [0])
    pairs, _ = facing(model)
    if turned:
        pairs = PairForces(pairs.other, pairs.other_weights, pairs.tet, pairs.weights, pairs.force, pairs.stiffness)
    before, first, x0 = momentum(model, state), energy_of(model, state), state.x.copy()
    for _ in range(60):
        relative = pairs.relative_positions(state.x - x0, model.tets)
        now = replace(pairs, force=-np.einsum("kij,kj->ki", pairs.stiffness, relative))
        deep = (relative[:, 0] < 0.0) if turned else (relative[:, 0] > 0.0)
        step(
            model,
            state,
            ExternalForces(pairs=select_forces(now, deep)),
            0.25 * DT,
            TIGHT,
            options=StepOptions(flesh=flesh),
        )
        assert np.abs(momentum(model, state) - before).max() < 1e-7 * np.linalg.norm(model.mass[:, None] * state.v)
        assert energy_of(model, state) < 1.001 * first
    given = model.mass[model.bodies[1].nodes] @ state.v[model.bodies[1].nodes]
    assert given[0] > 0.2 * before[0]


def test_a_held_body_stops_what_runs_into_it():
    model, state = side_by_side()
    is_fixed = np.zeros(model.node_count, bool)
    is_fixed[model.bodies[1].nodes] = True
    (pairs, _), flesh, x0 = facing(model, 2.0e4), flesh_of(model, "newmark", bodies=[0]), state.x.copy()
    own, speeds = model.bodies[0].nodes, []
    for _ in range(40):
        relative = pairs.relative_positions(state.x - x0, model.tets)
        now = replace(pairs, force=-np.einsum("kij,kj->ki", pairs.stiffness, relative))
        outside = ExternalForces(np.zeros(3), is_fixed, model.X, pairs=select_forces(now, relative[:, 0] > 0.0))
        step(model, state, outside, 0.5 * DT, TIGHT, options=StepOptions(flesh=flesh))
        speeds.append(np.average(state.v[own, 0], weights=model.mass[own]))
    assert speeds[-1] < -0.3 and min(speeds) > -1.0


def test_contacts_that_push_in_substeps_are_asked_for():
    """`lively` tells what acts in substeps, and where these have ended is told at the end."""
    model, state = side_by_side()
    flesh, asked, told = flesh_of(model, "newmark", bodies=[0]), [], []
    (pairs, normals), first = facing(model, force=5.0), model.bodies[0].tets.start
    spring = PointForces(
        np.array([first], np.int32), np.full((1, 4), 0.25), np.array([[0.0, 0.0, 50.0]]), np.zeros((1, 3, 3)),
        np.zeros((1, 3, 3)),
    )  # fmt: skip

    def lively():
        asked.append(len(told))
        return ExternalForces(points=spring, pairs=pairs, pair_normals=normals)

    def respond(x, v):
        told.append(x)

    before = momentum(model, state)
    step(
        model,
        state,
        ExternalForces(pairs=pairs),
        DT,
        TIGHT,
        contacts=ContactCallbacks(update=respond, substep_forces=lively),
        options=StepOptions(flesh=flesh),
    )
    assert len(asked) == 1 and asked[0] == len(told) - 1 and np.array_equal(told[-1], state.x)
    expected = before + [0.0, 0.0, 50.0 * DT]
    assert np.abs(momentum(model, state) - expected).max() < 1e-8 * np.linalg.norm(before)


def test_threads_change_no_bit():
    threads, results = thread_count(), []
    try:
        for count in (1, 2):
            set_thread_count(count)
            model, state = side_by_side(3)
            flesh = flesh_of(model, "newmark", bodies=[0, 1])
            for both in ((0, 1), (1, 2)):
                step(
                    model,
                    state,
                    ExternalForces(pairs=random_pairs(model, 9, both, stiff=1e3)),
                    DT,
                    Settings(),
                    options=StepOptions(flesh=flesh),
                )
            results.append(state.x.tobytes() + state.v.tobytes())
    finally:
        set_thread_count(threads)
    assert results[0] == results[1]
