# SPDX-License-Identifier: GPL-3.0-or-later
"""Flesh by the modified Newmark scheme: its order, its step limit, what it keeps, and contacts that only push."""

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg

from fixtures.flesh_dynamics import (
    FLESH,
    GRAVITY,
    advance,
    at_rest,
    damping_of,
    energy_of,
    errors_of_mode,
    flesh_of,
    force_at,
    lowest_mode,
    model_of,
    momentum,
    slopes,
    spin,
    spinning,
    stiffness_of,
)
from fixtures.scenes import Run, block
from fixtures.tet_meshes import lattice_bar
from sinew.solver.constraints.external_forces import ExternalForces
from sinew.solver.constraints.point_forces import PointForces
from sinew.solver.integrators.integrator_choice import step
from sinew.solver.integrators.newmark import newmark
from sinew.solver.integrators.step_input import StepOptions
from sinew.solver.mechanics.state import State
from sinew.solver.runtime.errors import SolveFailed
from sinew.solver.scene.flesh import Flesh
from sinew.solver.scene.scene import Collider, Material, Scene, Settings

pytestmark = pytest.mark.slow

DAMPED = Material(1.0e5, 0.4, 1000.0, 0.5, 0.01)
LIVELY = Flesh("dynamic", scheme="newmark")
TIGHT = Settings(tolerance=1e-12, max_iterations=5000)


def highest_frequency(model, x, is_free):
    """By SciPy."""
    free = np.repeat(is_free, 3)
    mass = scipy.sparse.diags(1.0 / np.sqrt(np.repeat(model.mass, 3)[free]))
    K = mass @ stiffness_of(model, x)[free][:, free] @ mass
    return float(np.sqrt(scipy.sparse.linalg.eigsh(K, k=1, v0=np.ones(K.shape[0]), return_eigenvectors=False)[0]))


def reported_substeps(model, state, dt, **outside):
    return step(
        model,
        state.copy(),
        ExternalForces(**outside),
        dt,
        Settings(),
        options=StepOptions(flesh=flesh_of(model, "newmark")),
    ).substeps


@pytest.mark.parametrize("damping", [0.0, 0.01])
def test_states_are_right_in_second_order_of_the_step(damping):
    """Against the mesh's own lowest mode, where steps are short enough to be their own substeps, and where not."""
    model = model_of((1, 1, 4), (0.25, 0.25, 1.0), Material(1.0e5, 0.4, 1000.0, 0.0, damping))
    errors, lengths = errors_of_mode(model, "newmark", 0.9, (45, 90, 360, 720), 1e-7, 1e-9)
    order = slopes(errors[[0, -1]], lengths[[0, -1]])[0]
    assert lengths[0] < 0.9 / 45 and errors[-1] < 1e-5
    assert abs(order - 2.0) < 0.1 and (np.diff(errors) < 0.0).all()


def test_a_step_is_the_scheme_of_the_text():
    """One substep with damping, springs and a held end, against its five formulas with dense matrices."""
    model, dt = model_of((1, 1, 2), (0.4, 0.4, 0.8), DAMPED), 1.0e-3
    state, n = spinning(model, 1.05), model.node_count
    held = model.X[:, 2] < 1e-9
    target = state.x + [0.002, 0.0, 0.0]
    points = PointForces(
        np.zeros(1, np.int32), np.full((1, 4), 0.25), np.array([[2.0, -1.0, 3.0]]), 400.0 * np.eye(3)[None],
        3.0 * np.eye(3)[None],
    )  # fmt: skip
    W = np.zeros((3, 3 * n))
    for node in model.tets[0]:
        W[:, 3 * node : 3 * node + 3] += 0.25 * np.eye(3)
    M, free = np.repeat(model.mass, 3), np.repeat(~held, 3)
    x, v = state.x.ravel().copy(), state.v.ravel().copy()
    v[~free] = ((target - state.x) / dt).ravel()[~free]

    def solve(at, damping_at, in_place):
        """v with (M + h/2 C) v = M v_n + h/2 f, springs at x_n + h/2 v in step 1 and as they are in step 4."""
        h = 0.5 * dt
        C = damping_of(model, damping_at.reshape(-1, 3)).toarray() + 0.5 * np.diag(M) + 3.0 * W.T @ W
        A = np.diag(M) + h * C + (h * h * 400.0 * W.T @ W if in_place else 0.0)
        f = force_at(model, at.reshape(-1, 3)).ravel() + M * np.tile(GRAVITY, n)
        f += W.T @ (points.force[0] - 400.0 * W @ (at - x))
        out = v.copy()
        b = M * v + h * f - A @ (v * ~free)
        out[free] = np.linalg.solve(A[free][:, free], b[free])
        return out

    half = solve(x, x, True)
    middle = solve(x + 0.5 * dt * half, x + 0.5 * dt * half, False)
    report = step(
        model,
        state,
        ExternalForces(GRAVITY, held, target, points=points),
        dt,
        TIGHT,
        options=StepOptions(flesh=flesh_of(model, "newmark")),
    )
    assert report.substeps == 1 and report.converged
    assert np.abs(state.x.ravel()[free] - (x + dt * half)[free]).max() < 1e-13
    assert np.abs(state.v.ravel()[free] - (2.0 * middle - v)[free]).max() < 1e-10
    assert np.abs(state.x[held] - target[held]).max() == 0.0


@pytest.mark.parametrize("stretch", [1.0, 0.7])
@pytest.mark.parametrize("is_held", [False, True])
def test_the_limit_is_that_of_the_highest_mode(stretch, is_held):
    """No more than a fifth below, and never above."""
    model = model_of((3, 3, 6), (0.3, 0.3, 0.6), mesh=lattice_bar)
    state = State(model.X * [1.0, 1.0, stretch], np.zeros_like(model.X))
    held = model.X[:, 2] < (1e-9 if is_held else -1.0)
    longest = 2.0 / highest_frequency(model, state.x, ~held)
    dt = 20.5 * longest
    count = reported_substeps(model, state, dt, is_fixed=held, fixed_target=state.x)
    assert longest / 1.2 < dt / count < longest


def test_steps_beyond_the_limit_grow_and_steps_within_it_do_not(monkeypatch):
    model = model_of((2, 2, 4), (0.4, 0.4, 0.8))
    longest = 2.0 / highest_frequency(model, model.X, np.ones(model.node_count, bool))
    monkeypatch.setattr(newmark.NewmarkStep, "_substeps", lambda *_: 1)
    random, grown = np.random.default_rng(3), []
    for share in (0.97, 1.03):
        state = State(model.X + 1e-8 * random.normal(size=model.X.shape), np.zeros_like(model.X))
        first = energy_of(model, state)
        for _ in range(25):
            step(
                model,
                state,
                ExternalForces(),
                share * longest,
                Settings(),
                options=StepOptions(flesh=flesh_of(model, "newmark")),
            )
        grown.append(energy_of(model, state) / first)
    assert grown[0] < 30.0 and grown[1] > 1e6


def test_momentum_stays_and_angular_momentum_and_energy_drift_in_second_order():
    model = model_of()
    flesh, drifts = flesh_of(model, "newmark"), []
    for dt in (0.004, 0.002, 0.001):
        state, energies = spinning(model, 1.05), []
        before, turn, first = momentum(model, state), spin(model, state), energy_of(model, state)
        for _ in range(round(0.4 / dt)):
            advance(model, state, flesh, dt, 1)
            energies.append(energy_of(model, state))
        size = np.linalg.norm(model.mass[:, None] * state.v)
        assert np.abs(momentum(model, state) - before).max() < 1e-12 * size
        off = np.linalg.norm(spin(model, state) - turn) / np.linalg.norm(turn)
        drifts.append([off, np.abs(np.array(energies) / first - 1.0).max()])
    assert (np.array(drifts[0]) < [0.006, 0.05]).all()
    assert (np.array(drifts[:-1]) / drifts[1:] > 3.0).all()


def test_energy_falls_with_damping():
    model = model_of(material=Material(1.0e5, 0.4, 1000.0, 0.0, 0.005))
    state, flesh = spinning(model, 1.1), flesh_of(model, "newmark")
    energies = [energy_of(model, state)]
    for _ in range(60):
        advance(model, state, flesh, 0.005, 1)
        energies.append(energy_of(model, state))
    assert (np.diff(energies) < 1e-4 * energies[0]).all()
    assert energies[-1] < 0.99 * energies[0]


def test_falls_exactly():
    """½ g t²: the scheme is of second order, and g is constant."""
    model = model_of(material=Material(1.0e5, 0.4, 1000.0, 0.0, 0.01))
    state = at_rest(model)
    advance(model, state, flesh_of(model, "newmark"), 0.01, 20, ExternalForces(GRAVITY), Settings())
    assert np.abs(state.x - model.X - 0.5 * GRAVITY * 0.2**2).max() < 1e-12
    assert np.abs(state.v - GRAVITY * 0.2).max() < 1e-11


def test_a_body_that_needs_too_many_substeps_is_named():
    model = model_of(material=Material(1.0e9, 0.4, 1000.0))
    state = at_rest(model)
    with pytest.raises(SolveFailed) as found:
        step(model, state, ExternalForces(), 0.02, Settings(), options=StepOptions(flesh=flesh_of(model, "newmark")))
    assert found.value.kind == "newmark-substeps" and found.value.details["name"] == "bar0"
    assert int(found.value.details["needed"]) > found.value.details["most"] == newmark.MAX_SUBSTEPS
    assert np.array_equal(state.x, model.X) and state.time == 0.0


def drop(folder, material, frames, flesh=LIVELY):
    body = block((3, 3, 3), (0.5, 0.5, 0.5), (0.0, 0.0, 0.2), material=material, flesh=flesh)
    scene = Scene((body,), (Collider("ground", "Ground"),), Settings(frame_end=200, substeps=4))
    run = Run(folder, scene)
    lowest = [run.advance()[:, 2].min() for _ in range(frames)]
    return run, np.array(lowest)


def test_what_falls_bounces_on_the_ground_and_comes_to_rest_on_it(tmp_path):
    run, lowest = drop(tmp_path, Material(5.0e4, 0.4, 1000.0, 0.0, 0.01), 85)
    assert lowest.min() > -0.01
    assert lowest[4:20].max() > 0.02  # off the ground again
    assert -1e-3 < lowest[-10:].min() and lowest[-10:].max() < 1e-3
    assert np.abs(run.state.v).max() < 1e-3
    assert sum(report.not_converged for report in run.reports) == 0


def test_contacts_do_not_pull(tmp_path):
    """A body that jumps off takes nothing of the ground with it: it flies like a stone."""
    run, _ = drop(tmp_path, FLESH, 8)
    model, state = run.built.model, run.state
    state.v += [0.0, 0.0, 3.0 - np.average(state.v[:, 2], weights=model.mass)]
    start = float(np.average(state.x[:, 2], weights=model.mass))
    run.advance(3)
    time = 3.0 / 24.0
    flown = float(np.average(run.state.x[:, 2], weights=model.mass)) - start
    assert flown >= 3.0 * time - 0.5 * 9.81 * time**2 - 1e-6


def test_lowest_mode_of_a_damped_bar_fades_as_it_must():
    model = model_of((1, 1, 4), (0.25, 0.25, 1.0), Material(1.0e5, 0.4, 1000.0, 1.5, 0.02))
    mode = lowest_mode(model, model.X[:, 2] < 1e-9)
    assert mode.damping == pytest.approx(1.5 + 0.02 * mode.omega**2)
    errors, _ = errors_of_mode(model, "newmark", 1.5, (300,), 1e-6, 1e-8)
    assert errors[0] < 1e-3 < 0.2 < 1.0 - np.hypot(*np.array(mode.at(1.5)) / [1.0, mode.omega])
