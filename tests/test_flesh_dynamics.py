# SPDX-License-Identifier: GPL-3.0-or-later
"""Flesh by implicit Euler: its equation solved, what it keeps, and how it comes out of a tangle."""

import numpy as np
import pytest

from fixtures.flesh_dynamics import (
    EXACT,
    FLESH,
    GRAVITY,
    advance,
    at_rest,
    damping_of,
    energy_of,
    errors_of_mode,
    flesh_of,
    force_at,
    model_of,
    momentum,
    slopes,
    spin,
    spinning,
)
from sinew.solver.constraints.external_forces import ExternalForces
from sinew.solver.constraints.point_forces import PointForces
from sinew.solver.integrators import nonlinear_step
from sinew.solver.integrators.integrator_choice import step
from sinew.solver.integrators.newton.line_search import step_lengths
from sinew.solver.integrators.step_input import StepOptions
from sinew.solver.mechanics.elements.inverted_tet_count import count_inverted
from sinew.solver.mechanics.hyperelastic.law_numbers import LAWS
from sinew.solver.mechanics.state import State
from sinew.solver.runtime.errors import SolveFailed
from sinew.solver.runtime.threads.thread_count import set_thread_count, thread_count
from sinew.solver.scene.scene import Material, Settings

DAMPED = Material(1.0e5, 0.4, 1000.0, 0.5, 0.01)


def springs(model, count=3):
    """Points that are pulled sideways, with damping of their own."""
    return PointForces(
        np.arange(count, dtype=np.int32), np.full((count, 4), 0.25), np.tile([20.0, -10.0, 5.0], (count, 1)),
        np.tile(np.diag([300.0, 200.0, 100.0]), (count, 1, 1)), np.tile(np.diag([1.0, 2.0, 3.0]), (count, 1, 1)),
    )  # fmt: skip


def on_nodes(model, points, force):
    out = np.zeros_like(model.X)
    for k, tet in enumerate(points.tet):
        np.add.at(out, model.tets[tet], points.weights[k][:, None] * force[k])
    return out


@pytest.mark.parametrize("law", LAWS)
def test_the_end_of_a_step_solves_the_equation_of_the_step(law):
    """By forces, damping and springs put together here; the residual of the report is that of this equation."""
    model, dt = model_of(material=DAMPED), 0.02
    flesh, state, points = flesh_of(model, law=law), spinning(model, 1.1), springs(model)
    held = model.X[:, 2] < 1e-9
    target = state.x + [0.05, 0.0, 0.0]
    x0, v0 = state.x.copy(), state.v.copy()
    outside = ExternalForces(GRAVITY, held, target, np.tile([0.0, 0.3, 0.0], (model.node_count, 1)), points)
    report = step(model, state, outside, dt, EXACT, options=StepOptions(flesh=flesh))
    assert report.converged and report.newton_iterations == report.solves > 1
    m = model.mass[:, None]
    acting = on_nodes(model, points, points.force) + m * GRAVITY + outside.node_force
    moved = points.positions(state.x - x0, model.tets)
    acting -= on_nodes(model, points, np.einsum("kij,kj->ki", points.stiffness, moved))
    acting -= on_nodes(model, points, np.einsum("kij,kj->ki", points.damping, points.positions(state.v, model.tets)))
    acting -= (damping_of(model, x0) @ state.v.ravel()).reshape(-1, 3) + 0.5 * m * state.v
    r = (m * (v0 - state.v) + dt * (acting + force_at(model, state.x, law)))[~held]
    assert np.linalg.norm(r) < 3e-9 * np.linalg.norm(m * v0)  # ‖b‖ is what held nodes give, too
    assert np.abs(state.x[held] - target[held]).max() == 0.0
    assert np.abs(state.x - x0 - dt * state.v).max() < 1e-15


def test_small_motions_are_those_of_corotated_bodies():
    model = model_of(material=DAMPED)
    ends = []
    for flesh in (None, flesh_of(model)):
        state = at_rest(model)
        state.x[:, 0] += 1e-5 * np.sin(3.0 * model.X[:, 2])
        state.v[:, 1] += 1e-3 * model.X[:, 2] ** 2
        advance(model, state, flesh, 0.01, 20)
        ends.append(state.x - model.X)
    assert np.abs(ends[0] - ends[1]).max() < 2e-4 * np.abs(ends[0]).max()


def test_falls_as_implicit_euler_must():
    model, dt, steps = model_of(material=DAMPED), 0.01, 20
    undamped = model_of()
    state = at_rest(undamped)
    reports = advance(undamped, state, flesh_of(undamped), dt, steps, ExternalForces(GRAVITY), Settings())
    time = dt * steps
    assert np.abs(state.x - undamped.X - 0.5 * GRAVITY * time * (time + dt)).max() < 1e-12
    assert sum(report.solves for report in reports) == steps
    state = at_rest(model)
    advance(model, state, flesh_of(model), dt, steps, ExternalForces(GRAVITY), Settings())
    v = 0.0
    for _ in range(steps):
        v = (v - 9.81 * dt) / (1.0 + 0.5 * dt)
    assert np.abs(state.v - [0.0, 0.0, v]).max() < 1e-12


def test_momentum_stays_and_angular_momentum_drifts_in_first_order():
    model = model_of(material=Material(1.0e5, 0.4, 1000.0, 0.0, 0.01))
    flesh, drifts = flesh_of(model), []
    for dt in (0.004, 0.002, 0.001):
        state = spinning(model, 1.0)
        before, turn = momentum(model, state), spin(model, state)
        advance(model, state, flesh, dt, round(0.08 / dt))
        size = np.linalg.norm(model.mass[:, None] * state.v)
        assert np.abs(momentum(model, state) - before).max() < 1e-12 * size
        drifts.append(np.linalg.norm(spin(model, state) - turn) / np.linalg.norm(turn))
    ratios = np.array(drifts[:-1]) / drifts[1:]
    # a step along a chord instead of the arc takes the share (ω Δt)²
    assert drifts[0] < 0.02 and (np.abs(ratios - 2.0) < 0.2).all()


@pytest.mark.parametrize("law", ["stable-neo-hookean", "neo-hookean", "corotated"])
def test_energy_does_not_grow_by_itself(law):
    model = model_of()
    state, flesh = spinning(model, 1.4), flesh_of(model, law=law)
    energies = [energy_of(model, state, law)]
    for _ in range(40):
        advance(model, state, flesh, 0.01, 1)
        energies.append(energy_of(model, state, law))
    assert (np.diff(energies) < 1e-8 * energies[0]).all()
    assert energies[-1] < energies[0]


@pytest.mark.slow
def test_states_are_right_in_first_order_of_the_step():
    """Against the mesh's own lowest mode at 0.7 of its period."""
    for damping in (0.0, 0.01):
        model = model_of((1, 1, 4), (0.25, 0.25, 1.0), Material(1.0e5, 0.4, 1000.0, 0.0, damping))
        errors, steps = errors_of_mode(model, "euler", 0.9, (40, 80, 160), 1e-4)
        orders = slopes(errors, steps)
        assert errors[-1] < 0.1 and (np.abs(orders - 1.0) < 0.15).all() and abs(orders[-1] - 1.0) < 0.08


def tangle(model, kind):
    random, centre = np.random.default_rng(7), model.X.mean(axis=0)
    if kind == "point":
        return centre + 1e-3 * random.normal(size=model.X.shape)
    if kind == "plane":
        return model.X * [1.0, 1.0, 0.0] + 1e-4 * random.normal(size=model.X.shape)
    return centre + np.ptp(model.X) * random.uniform(-1.0, 1.0, model.X.shape)


@pytest.mark.parametrize("law", ["stable-neo-hookean", "neo-hookean", "mooney-rivlin", "corotated"])
@pytest.mark.parametrize("kind", ["point", "plane", "scatter"])
def test_comes_out_of_a_tangle(kind, law):
    """A scatter and a point may end twisted, at rest in another equilibrium: no tet is inside out there either."""
    model = model_of(material=Material(1.0e5, 0.4, 1000.0, 10.0, 0.01))
    flesh, held = flesh_of(model, law=law), model.X[:, 2] < 1e-9
    state = State(tangle(model, kind), np.zeros_like(model.X))
    for _ in range(80):
        report = step(
            model,
            state,
            ExternalForces(is_fixed=held, fixed_target=model.X),
            0.02,
            Settings(),
            options=StepOptions(flesh=flesh),
        )
        assert np.isfinite(report.residual)
    assert report.converged and count_inverted(state.x, model.tets) == 0
    assert np.abs(state.v).max() < 0.01
    if kind == "plane":
        assert np.abs(state.x - model.X).max() < 1e-3 * np.ptp(model.X)


def test_held_nodes_may_jump():
    model = model_of(material=Material(1.0e5, 0.4, 1000.0, 10.0, 0.01))
    flesh, held, state = flesh_of(model), model.X[:, 2] < 1e-9, at_rest(model)
    target = model.X + [1.5, 0.0, 0.5]
    for _ in range(80):
        report = step(
            model,
            state,
            ExternalForces(is_fixed=held, fixed_target=target),
            0.02,
            Settings(),
            options=StepOptions(flesh=flesh),
        )
        assert report.converged
    assert report.inverted_tets == 0
    assert np.abs(state.x - target).max() < 1e-3


def test_a_step_that_does_not_converge_says_so(monkeypatch):
    model = model_of()
    monkeypatch.setattr(nonlinear_step, "MAX_SOLVES", 1)
    report = step(
        model, spinning(model, 1.5), ExternalForces(), 0.02, EXACT, options=StepOptions(flesh=flesh_of(model))
    )
    assert report.solves == 1 and not report.converged and 1e-4 < report.residual < np.inf


def test_lengths_are_found_for_every_body_alone():
    """Φ = a v + b v² / 2 + c v⁴ of three bodies, with steps that go too far for two of them."""
    a, b, c, d = np.array([-1.0, -1.0, -1.0]), np.array([1.0, 1.0, 1.0]), np.array([0.0, 10.0, 1e4]), np.ones(3)

    def quartic(s):
        return c * (s * d) ** 4

    s = step_lengths(-a * d, -a * d, -(a + b * d) * d, quartic(0.0), quartic(1.0), quartic)
    assert s[0] == 1.0 and 0.0 < s[2] < s[1] < 1.0
    fallen = a * s + 0.5 * b * s**2 + quartic(s)
    assert (fallen < 0.0).all()
    up = step_lengths(a, a, a, np.zeros(3), np.full(3, 2.0), lambda s: 2.0 * s)
    assert (up == 0.0).all()


def test_neither_threads_nor_a_break_between_steps_change_a_byte():
    model = model_of((6, 6, 20), (0.3, 0.3, 1.0), DAMPED)
    held, ends = model.X[:, 2] < 1e-9, []
    threads = thread_count()
    for count, is_resumed in ((1, False), (threads, False), (threads, True)):
        set_thread_count(count)
        try:
            state, flesh = spinning(model, 1.02), flesh_of(model)
            for number in range(6):
                if is_resumed and number == 3:
                    state, flesh = State.from_arrays(state.to_arrays()), flesh_of(model)
                    state.x, state.v = state.x.copy(), state.v.copy()
                step(
                    model,
                    state,
                    ExternalForces(GRAVITY, held, model.X),
                    0.01,
                    Settings(),
                    options=StepOptions(flesh=flesh),
                )
        finally:
            set_thread_count(threads)
        ends.append(state.x.tobytes() + state.v.tobytes())
    assert ends[0] == ends[1] == ends[2]


def test_bodies_of_all_kinds_move_beside_each_other_as_they_do_alone():
    whole, alone = model_of(material=DAMPED, bodies=3), model_of(material=DAMPED)
    flesh = flesh_of(whole, ["euler", "newmark"], bodies=[0, 2])
    assert flesh.euler and flesh.newmark and [whole.bodies[k].key for k in flesh.corotational_bodies(whole)] == ["bar1"]
    held = whole.X[:, 2] < 1e-9
    state = State(whole.X.copy(), np.zeros_like(whole.X))
    reports = advance(
        whole, state, flesh, 0.01, 20, ExternalForces(GRAVITY[[2, 1, 0]], held, whole.X), Settings(tolerance=1e-7)
    )
    assert reports[-1].substeps > 0 and reports[-1].newton_iterations > 0
    for number, own in enumerate((flesh_of(alone), None, flesh_of(alone, "newmark"))):
        single, free = at_rest(alone), alone.X[:, 2] < 1e-9
        advance(
            alone, single, own, 0.01, 20, ExternalForces(GRAVITY[[2, 1, 0]], free, alone.X), Settings(tolerance=1e-7)
        )
        moved = (state.x - whole.X)[whole.bodies[number].nodes]
        assert np.abs(moved - (single.x - alone.X)).max() < 1e-5 * np.abs(moved).max()


def test_bodies_that_stand_still_cost_nothing_and_stay():
    model = model_of(bodies=2)
    flesh = flesh_of(model, bodies=[1])
    flesh = type(flesh)(flesh.euler, None, (0,))
    assert flesh.corotational_bodies(model) == []
    held = np.zeros(model.node_count, bool)
    held[model.bodies[0].nodes] = True
    state = at_rest(model)
    advance(model, state, flesh, 0.01, 5, ExternalForces(GRAVITY, held, model.X))
    assert np.abs(state.x - model.X)[held].max() == 0.0 < 0.01 < np.abs(state.x - model.X)[~held, 2].min()


def test_velocities_that_are_no_numbers_leave_the_state_alone():
    model = model_of(material=FLESH)
    state = at_rest(model)
    state.v[0, 0] = np.inf
    with pytest.raises(SolveFailed):
        step(model, state, ExternalForces(), 0.01, Settings(), options=StepOptions(flesh=flesh_of(model)))
    assert np.array_equal(state.x, model.X) and state.time == 0.0
