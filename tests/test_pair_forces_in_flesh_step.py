# SPDX-License-Identifier: GPL-3.0-or-later
"""Forces between points of two tets in steps with dynamic flesh: the equation of the whole, and momentum."""

from dataclasses import replace

import numpy as np
import pytest

from fixtures.flesh_dynamics import EXACT, FLESH, GRAVITY, flesh_of, law_of, model_of
from sinew.solver.constraints.external_forces import ExternalForces
from sinew.solver.integrators.integrator_choice import step
from sinew.solver.integrators.step_input import StepOptions
from sinew.solver.mechanics.hyperelastic.hyperelastic_bodies import forces, tet_arrays
from sinew.solver.mechanics.state import State
from sinew.solver.runtime.threads.thread_count import set_thread_count, thread_count
from sinew.solver.scene.scene import Settings
from test_pair_forces_in_step import coefficients, joined, random_pairs

DT = 0.005
PLAIN = replace(FLESH, mass_damping=0.0)


def moving(model, seed=0):
    random = np.random.default_rng(seed)
    bend = 0.05 * np.sin(6.0 * model.X[:, [1, 2, 0]])
    return State(model.X + bend, np.array([0.5, 0.1, -0.3]) + random.normal(size=model.X.shape) * 0.1)


def pushed(model, pairs, v):
    """What pairs make of velocities at the end of a step [N], (n, 3)."""
    W = coefficients(model, pairs)
    moved = (DT * W @ v.ravel()).reshape(-1, 3)
    return (W.T @ (pairs.force - np.einsum("kij,kj->ki", pairs.stiffness, moved)).ravel()).reshape(-1, 3)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("itself", [False, True])
def test_a_step_solves_its_equation_with_pairs(average, itself):
    material = replace(PLAIN, poisson_ratio=0.49) if average else PLAIN
    model = model_of(material=material, bodies=3)
    state, flesh = moving(model), flesh_of(model, average=average)
    pairs = joined(random_pairs(model, 6, (0, 1), stiff=1.0e4), random_pairs(model, 4, (2, 1), 1, stiff=1.0e4))
    if itself:
        pairs = random_pairs(model, 4, (1, 1), 1, stiff=1.0e4)
    v0 = state.v.copy()
    report = step(model, state, ExternalForces(pairs=pairs), DT, EXACT, options=StepOptions(flesh=flesh))
    force = np.empty_like(state.x)
    forces(model, law_of(model, average=average), state.x, force, tet_arrays(model.pattern))
    r = model.mass[:, None] * (v0 - state.v) + DT * (force + pushed(model, pairs, state.v))
    scale = np.linalg.norm(model.mass[:, None] * v0) + DT * np.linalg.norm(force)
    assert report.converged and np.linalg.norm(r) < 1e-8 * scale
    assert report.solves <= 12
    momentum = model.mass @ state.v - model.mass @ v0
    assert np.abs(momentum).max() < 1e-7 * (model.mass[:, None] * np.abs(v0)).sum()


def of_corotated(average):
    material = replace(PLAIN, poisson_ratio=0.49) if average else PLAIN
    return model_of(material=material, bodies=2)


@pytest.mark.parametrize("average", [False, True])
def test_flesh_and_a_corotated_body_feel_each_other(average):
    model = of_corotated(average)
    state, flesh = moving(model), flesh_of(model, bodies=[0], average=average)
    pairs, v0 = random_pairs(model, 6, (0, 1), stiff=1.0e5), state.v.copy()
    report = step(model, state, ExternalForces(pairs=pairs), DT, EXACT, options=StepOptions(flesh=flesh))
    assert report.converged
    others = []
    for body in model.bodies:
        change = model.mass[body.nodes] @ (state.v - v0)[body.nodes]
        push = pushed(model, pairs, state.v)[body.nodes].sum(axis=0)
        assert np.allclose(change, DT * push, atol=1e-7 * np.abs(model.mass[:, None] * v0).sum())
        others.append(push)
    assert np.abs(others[0]).max() > 1.0 and np.allclose(others[0], -others[1])


def test_held_flesh_is_pressed_without_an_end():
    model = model_of(bodies=2)
    held = model.X[:, 2] < 1e-9
    state = moving(model)
    outside = ExternalForces(GRAVITY, held, model.X, pairs=random_pairs(model, 6, (0, 1), stiff=1.0e4))
    for _ in range(3):
        report = step(model, state, outside, DT, Settings(), options=StepOptions(flesh=flesh_of(model)))
        assert report.converged
    assert np.abs(state.x[held] - model.X[held]).max() == 0.0


def test_threads_change_no_bit():
    threads, results = thread_count(), []
    try:
        for count in (1, 2):
            set_thread_count(count)
            model = model_of((4, 4, 8), bodies=2)
            state = moving(model)
            step(
                model,
                state,
                ExternalForces(pairs=random_pairs(model, 9, (0, 1))),
                DT,
                Settings(),
                options=StepOptions(flesh=flesh_of(model)),
            )
            results.append(state.x.tobytes() + state.v.tobytes())
    finally:
        set_thread_count(threads)
    assert results[0] == results[1]
