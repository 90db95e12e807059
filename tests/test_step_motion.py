# SPDX-License-Identifier: GPL-3.0-or-later
"""What implicit Euler keeps, what it loses, and by how much."""

from dataclasses import replace

import numba
import numpy as np
import pytest

from fixtures.tet_meshes import bar
from sinew.solver.constraints.external_forces import ExternalForces
from sinew.solver.constraints.point_forces import PointForces
from sinew.solver.integrators.integrator_choice import MIN_TETS_PER_THREAD, step
from sinew.solver.mechanics.model import Part, make_model
from sinew.solver.mechanics.state import State
from sinew.solver.runtime.errors import SolveFailed
from sinew.solver.runtime.threads.thread_count import set_thread_count, thread_count
from sinew.solver.scene.formulation import LINEAR, POLAR, FormulationSettings
from sinew.solver.scene.scene import Material, Settings
from test_step_forces import assembled

GRAVITY = np.array([0.0, 0.0, -9.81])
EXACT = Settings(tolerance=1e-12, max_iterations=20000)
RUBBER = Material(youngs_modulus=1.0e5, poisson_ratio=0.33, density=1000.0, stiffness_damping=0.0)


def model_of(cells=(2, 2, 4), lengths=(0.4, 0.4, 0.8), material=RUBBER, mesh=bar, **more):
    nodes, tets = mesh(cells, lengths)
    return make_model([Part("bar", nodes, tets, np.ones(len(tets)), material, **more)])


def at_rest(model):
    return State(model.X.copy(), np.zeros_like(model.X))


def spinning(model, stretch=1.05, omega=(4.0, -2.0, 6.0)):
    """Turning, moving on and, where stretched, vibrating."""
    centre = np.average(model.X, axis=0, weights=model.mass)
    x = centre + stretch * (model.X - centre)
    return State(x, np.cross(omega, x - centre) + [1.0, 0.5, 2.0])


def momentum(model, state):
    return (model.mass[:, None] * state.v).sum(axis=0)


def spin(model, state):
    return (model.mass[:, None] * np.cross(state.x, state.v)).sum(axis=0)


def run(model, state, outside, dt, seconds, settings=EXACT, **more):
    reports = [step(model, state, outside, dt, settings, **more) for _ in range(round(seconds / dt))]
    assert all(report.converged for report in reports)
    return state


@pytest.mark.parametrize("damping", [0.0, 0.02])
def test_free_body_keeps_its_linear_momentum_to_the_tolerance(damping):
    model = model_of(material=Material(1.0e5, 0.33, 1000.0, 0.0, damping))
    for tolerance in (1e-4, 1e-12):
        state = spinning(model)
        before = momentum(model, state)
        steps = 20
        run(model, state, ExternalForces(), 0.01, 0.01 * steps, Settings(tolerance=tolerance, max_iterations=20000))
        size = np.linalg.norm(model.mass[:, None] * state.v) * np.sqrt(model.node_count)
        assert np.abs(momentum(model, state) - before).max() < max(steps * tolerance, 1e-13) * size


def drifts_of_spin(damping, stretch, seconds, steps):
    model = model_of(material=Material(1.0e5, 0.33, 1000.0, 0.0, damping))
    drifts = []
    for dt in steps:
        state = spinning(model, stretch)
        before = spin(model, state)
        run(model, state, ExternalForces(), dt, seconds, Settings(tolerance=1e-10, max_iterations=20000))
        drifts.append(np.linalg.norm(spin(model, state) - before) / np.linalg.norm(before))
    ratios = np.array(drifts[:-1]) / drifts[1:]
    print(f"drift of angular momentum, beta {damping}, stretch {stretch}:", drifts, "ratios", ratios)
    return np.array(drifts), ratios


def test_angular_momentum_drifts_in_first_order_of_the_step():
    # (M + Δt² K') v⁺ = M v + Δt f: f makes no torque, −Δt² Σ x × K' v⁺ is what is left per step
    drifts, ratios = drifts_of_spin(0.0, 1.0, 0.08, (0.004, 0.002, 0.001, 0.0005))
    assert drifts[0] < 1e-3
    assert (np.abs(ratios - 2.0) < 0.15).all() and abs(ratios[-1] - 2.0) < 0.03


def test_angular_momentum_of_a_vibrating_body_drifts_in_first_order_too():
    # a stretch of 5 % rings through all tets: the step has to resolve that before the order shows
    _, ratios = drifts_of_spin(0.0, 1.05, 0.02, (0.00025, 0.000125, 0.0000625))
    assert (ratios > 1.75).all() and (ratios < 2.1).all()


@pytest.mark.parametrize("youngs_modulus", [1.0e6, 1.0e9, 7.0e10])
def test_a_stiff_body_does_not_spin_up(youngs_modulus):
    """At the tolerance of an artist: elastic forces far above the momentum must not hide a wrong turn in the residual.

    Two shells in one body, so that each has to be balanced by itself.
    """
    nodes, tets = bar((3, 3, 3), (0.5, 0.5, 0.5))
    both = Part(
        "spun", np.concatenate([nodes, nodes + [2.0, 0.0, 0.0]]), np.concatenate([tets, tets + len(nodes)]),
        np.ones(2 * len(tets)), Material(youngs_modulus, 0.35, 400.0, 0.0, 1e-4),
    )  # fmt: skip
    model = make_model([both])
    assert model.pattern.island_count == 2
    shells = [slice(0, len(nodes)), slice(len(nodes), None)]
    state = State(model.X.copy(), np.zeros_like(model.X))
    for shell, omega in zip(shells, ([0.0, 3.0, 17.0], [9.0, -9.0, 0.0]), strict=True):
        state.v[shell] = np.cross(omega, model.X[shell] - model.X[shell].mean(axis=0))

    def spins():
        return [(model.mass[s, None] * np.cross(state.x[s], state.v[s])).sum(axis=0) for s in shells]

    before = spins()
    for _ in range(60):
        step(model, state, ExternalForces(np.zeros(3)), 1.0 / 96.0, Settings())
    for first, last in zip(before, spins(), strict=True):
        assert abs(np.linalg.norm(last) - np.linalg.norm(first)) < 0.02 * np.linalg.norm(first)
        if youngs_modulus < 1e10:  # the axis of glass wanders a little
            assert np.linalg.norm(last - first) < 0.02 * np.linalg.norm(first)


def test_stiffness_damping_adds_no_drift_of_angular_momentum():
    # unlike βK', whose torque on a turning body does not vanish with the step
    drifts, ratios = drifts_of_spin(0.02, 1.05, 0.08, (0.002, 0.001, 0.0005, 0.00025))
    assert drifts[0] < 1e-3
    assert (ratios > 1.5).all() and 1.8 < ratios[-1] < 2.1


def test_damping_takes_the_vibration_out():
    swings = []
    for damping in (0.0, 0.05):
        model = model_of(material=Material(1.0e5, 0.33, 1000.0, 0.0, damping))
        state = at_rest(model)
        state.x[:, 2] *= 1.1
        run(model, state, ExternalForces(), 0.001, 0.1)
        swings.append(np.sum(model.mass * np.sum(state.v**2, axis=1)))
    assert swings[1] < 0.1 * swings[0]


@pytest.mark.parametrize("dt", [0.02, 0.01, 0.005])
def test_falls_as_implicit_euler_must(dt):
    model = model_of()
    state = at_rest(model)
    run(model, state, ExternalForces(GRAVITY), dt, 0.4)
    t = state.time
    assert t == pytest.approx(0.4)
    fallen = state.x - model.X - 0.5 * GRAVITY * t * (t + dt)
    assert np.abs(fallen).max() < 1e-10
    # towards ½ g t² with Δt
    assert np.abs(state.x - model.X - 0.5 * GRAVITY * t**2).max() == pytest.approx(0.5 * 9.81 * t * dt, rel=1e-6)


def test_a_free_fall_costs_no_iterations():
    model = model_of()
    report = step(model, at_rest(model), ExternalForces(GRAVITY), 0.01, Settings(tolerance=1e-6))
    assert report.converged and report.iterations == 0


def test_mass_damping_slows_everything_down_alike():
    model = model_of(material=Material(1.0e5, 0.33, 1000.0, 3.0, 0.0))
    state = at_rest(model)
    state.v[:] = [1.0, 2.0, 0.0]
    run(model, state, ExternalForces(), 0.01, 0.2)
    assert np.abs(state.v - np.array([1.0, 2.0, 0.0]) / 1.03**20).max() < 1e-10


def test_simulated_size_moves_as_the_scaled_body_would():
    scale = 0.1
    small = model_of(lengths=(0.04, 0.04, 0.08))
    shown = model_of(lengths=(0.4, 0.4, 0.8), simulated_scale=scale)
    outside = [ExternalForces(GRAVITY, model.X[:, 0] == 0.0, model.X) for model in (small, shown)]
    states = [run(m, at_rest(m), o, 0.005, 0.1) for m, o in zip((small, shown), outside, strict=True)]
    assert np.abs(states[0].x - small.X).max() > 1e-4
    assert np.abs(states[1].x * scale - states[0].x).max() < 1e-9 * 0.08


def sag_of_cantilever(cells, lengths, material, slope=1e-5, mesh=bar):
    """Mean sag of the free end at x = L over Timoshenko's, under a weight that sags it by `slope` · L."""
    length, width, height = lengths
    E, nu = material.youngs_modulus, material.poisson_ratio
    area, inertia, shear = width * height, width * height**3 / 12.0, E / (2.0 * (1.0 + nu))
    correction = 10.0 * (1.0 + nu) / (12.0 + 11.0 * nu)  # Cowper 1966, rectangle
    per_load = length**4 / (8.0 * E * inertia) + length**2 / (2.0 * correction * shear * area)
    gravity = slope * length / (per_load * material.density * area)
    model = model_of(cells, lengths, material, mesh)
    state = at_rest(model)
    # so long a step leaves nothing of inertia: the static solution
    outside = ExternalForces(np.array([0.0, 0.0, -gravity]), model.X[:, 0] == 0.0, model.X)
    assert step(model, state, outside, 1e5, Settings(tolerance=1e-8, max_iterations=20000)).converged
    end = model.X[:, 0] == model.X[:, 0].max()
    return (model.X - state.x)[end, 2].mean() / (slope * length)


def test_cantilever_converges_with_slope_two():
    material = Material(1.0e6, 0.0, 1000.0, 0.0, 0.0)
    ratios = np.array([sag_of_cantilever((10 * n, n, n), (1.0, 0.1, 0.1), material) for n in (2, 4, 8)])
    errors = 1.0 - ratios
    slopes = np.log2(errors[:-1] / errors[1:])
    print("sag over Timoshenko", ratios, "slopes", slopes)
    assert errors[-1] < 0.05
    assert 1.7 < slopes[-1] < 2.3


def volumes(model, x):
    corners = x[model.tets]
    return np.linalg.det(corners[:, 1:] - corners[:, :1]).sum() / 6.0


def test_volume_of_the_bar_grows_in_the_linear_one_only():
    material = Material(1.0e6, 0.33, 1000.0, 0.0, 0.0)
    model = model_of((3, 3, 10), (0.6, 0.6, 2.0), material)
    assert model.tet_count == 450 and model.node_count == 4 * 4 * 11
    outside = ExternalForces(np.array([9.81, 0.0, 0.0]), model.X[:, 2] == 0.0, model.X)
    largest = {}
    for method in (LINEAR, POLAR):
        alike = replace(model, methods=(FormulationSettings(method),))
        state, ratios = at_rest(model), []
        for _ in range(100):
            assert step(alike, state, outside, 0.01, Settings()).converged
            ratios.append(volumes(model, state.x) / volumes(model, model.X))
        largest[method] = max(ratios)
    print("largest volume ratio", largest)
    assert largest[LINEAR] > 1.05
    assert largest[POLAR] < 1.01


def pair(heavy=1.0e6):
    """A heavy stiff body and a light soft one, each as its part."""
    nodes, tets = bar((2, 2, 4), (0.4, 0.4, 0.8))
    fill = np.ones(len(tets))
    yield Part("heavy", nodes, tets, fill, Material(1.0e4 * heavy, 0.4, 1000.0 * heavy))
    yield Part("light", nodes + [2.0, 0.0, 0.0], tets, fill, RUBBER)


def test_a_light_body_moves_beside_a_heavy_one_as_alone():
    together, alone = make_model(list(pair())), make_model(list(pair())[1:])
    assert together.bodies[1].nodes == slice(45, 90)
    states = []
    for model in (together, alone):
        state = at_rest(model)
        state.v[-45:] = spinning(alone).v
        state.v[:-45] = 1.0
        outside = ExternalForces(GRAVITY, model.X[:, 2] == 0.0, model.X)
        for _ in range(5):
            step(model, state, outside, 0.01, Settings(tolerance=1e-3))
        states.append(state)
    assert states[0].x[45:].tobytes() == states[1].x.tobytes()
    assert states[0].v[45:].tobytes() == states[1].v.tobytes()


def test_a_body_at_rest_costs_no_iterations():
    model = model_of(material=Material(1.0e5, 0.33, 1000.0, 0.0, 0.2))
    state, outside = at_rest(model), ExternalForces(GRAVITY, model.X[:, 2] == 0.0, model.X)
    reports = [step(model, state, outside, 0.02, Settings()) for _ in range(300)]
    assert reports[0].iterations > 5 and reports[-1].iterations == 0
    still = state.copy()
    exact = Settings(tolerance=1e-10)
    for _ in range(100):
        step(model, still, outside, 0.02, exact)
    sag = np.abs(still.x - model.X).max()
    assert sag > 0.01 and np.abs(still.x - state.x).max() < 1e-5 * sag


def tossed(threads):
    before = thread_count()
    set_thread_count(min(threads, numba.config.NUMBA_NUM_THREADS))
    model = model_of((8, 8, 16), material=Material(2.0e4, 0.4, 1000.0, 0.1, 0.01))
    assert model.tet_count > 2 * MIN_TETS_PER_THREAD, "fewer are computed by one thread, whatever was asked for"
    state = spinning(model)
    outside = ExternalForces(GRAVITY, model.X[:, 2] == 0.0, state.x.copy())
    for _ in range(5):
        step(model, state, outside, 0.01, Settings())
    set_thread_count(before)
    return state.x.tobytes() + state.v.tobytes()


def test_the_number_of_threads_changes_no_bit():
    assert tossed(1) == tossed(2)


def test_goes_on_from_saved_arrays_with_the_same_bits(tmp_path):
    model = model_of()
    whole, parted = spinning(model), spinning(model)
    for _ in range(6):
        step(model, whole, ExternalForces(GRAVITY), 0.01, Settings())
    for _ in range(3):
        step(model, parted, ExternalForces(GRAVITY), 0.01, Settings())
    parted.fields["memory"] = np.arange(3)
    np.savez(tmp_path / "state.npz", **parted.to_arrays())
    with np.load(tmp_path / "state.npz") as stored:
        parted = State.from_arrays(stored)
    assert parted.fields["memory"].tolist() == [0, 1, 2]
    for _ in range(3):
        step(model_of(), parted, ExternalForces(GRAVITY), 0.01, Settings())
    assert whole.x.tobytes() == parted.x.tobytes() and whole.v.tobytes() == parted.v.tobytes()


def test_one_step_is_the_equation_solved_densely():
    model = model_of((1, 1, 2), material=Material(1.0e5, 0.3, 1000.0, 0.5, 0.02), simulated_scale=0.5)
    random = np.random.default_rng(8)
    n, dt = model.node_count, 0.02
    state = spinning(model)
    state.x += 0.05 * random.normal(size=(n, 3))
    held = np.arange(n) < 3
    targets = state.x + 0.1 * random.normal(size=(n, 3))
    points = PointForces(
        np.array([1, 5], np.int32), random.dirichlet(np.ones(4), 2), 100.0 * random.normal(size=(2, 3))
    )
    half = random.normal(size=(2, 2, 3, 3))
    points.stiffness, points.damping = 1e4 * half[0] @ half[0].swapaxes(1, 2), 1e2 * half[1] @ half[1].swapaxes(1, 2)
    push = random.normal(size=(n, 3))

    K, elastic = assembled(model, state.x, 1.0, 0.0, np.zeros(n))
    C, _ = assembled(model, state.x, 0.0, 1.0, np.zeros(n))
    M = np.diag(np.repeat(model.mass, 3))
    A = (1.0 + 0.5 * dt) * M + dt * C + dt**2 * K
    f = elastic + push + 2.0 * model.mass[:, None] * GRAVITY
    for tet, w, force, stiff, damp in zip(
        points.tet, points.weights, points.force, points.stiffness, points.damping, strict=True
    ):
        W = np.zeros((3, n, 3))
        W[:, model.tets[tet]] += w[:, None] * np.eye(3)[:, None]
        W = W.reshape(3, 3 * n)
        A += W.T @ (dt**2 * stiff + dt * damp) @ W
        f += (W.T @ force).reshape(-1, 3)
    free = np.repeat(~held, 3)
    v = (targets - state.x).ravel() / dt
    b = M @ state.v.ravel() + dt * f.ravel()
    v[free] = np.linalg.solve(A[free][:, free], b[free] - A[free][:, ~free] @ v[~free])
    expected = state.x + dt * v.reshape(-1, 3)

    before = state.x.copy()
    assert step(model, state, ExternalForces(GRAVITY, held, targets, push, points), dt, EXACT).converged
    assert np.abs(state.v - v.reshape(-1, 3)).max() < 1e-9 * np.abs(v).max()
    assert np.abs(state.x - expected).max() < 1e-9 * np.abs(expected - before).max()


def test_what_is_no_number_is_told_and_changes_nothing():
    model = model_of()
    state = at_rest(model)
    with pytest.raises(SolveFailed) as failure:
        step(model, state, ExternalForces(np.array([0.0, np.nan, 0.0])), 0.01, Settings())
    assert failure.value.kind == "solve-not-finite"
    assert (state.x == model.X).all() and state.time == 0.0


@pytest.mark.parametrize("factor", [(1.0, 1.0, 0.0), (0.0, 0.0, 0.0), (1.0, 1.0, -1.0)], ids=str)
def test_crushed_flat_to_a_point_or_mirrored_it_comes_back(factor):
    model = model_of(material=Material(1.0e4, 0.33, 1000.0, 0.0, 0.01))
    state = State(model.X * factor, np.zeros_like(model.X))
    reports = [step(model, state, ExternalForces(), 0.02, Settings(tolerance=1e-8)) for _ in range(400)]
    assert reports[-1].inverted_tets == 0
    edges = [x[model.tets[:, 1:]] - x[model.tets[:, :1]] for x in (state.x, model.X)]
    lengths = [np.linalg.norm(edge, axis=-1) for edge in edges]
    assert np.abs(lengths[0] / lengths[1] - 1.0).max() < 0.01


@pytest.mark.parametrize("seed", range(3))
def test_scattered_at_random_it_comes_back(seed):
    model = model_of(material=Material(1.0e4, 0.33, 1000.0, 0.0, 0.01))
    state = State(np.random.default_rng(seed).uniform(-1.0, 1.0, model.X.shape), np.zeros_like(model.X))
    reports = [step(model, state, ExternalForces(), 0.02, Settings()) for _ in range(300)]
    assert all(report.converged for report in reports)
    assert reports[0].inverted_tets > 0.3 * model.tet_count and reports[-1].inverted_tets == 0
    assert np.ptp(state.x, axis=0).max() < 1.0
