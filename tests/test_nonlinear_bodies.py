# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies of Green's strain and of the hybrid law: their kernels, their steps by Newton's method or by one solve."""

import dataclasses

import numpy as np
import pytest

from fixtures.flesh_dynamics import damping_of, matrix
from fixtures.scenes import JELLY, Run, block
from fixtures.tet_meshes import bar
from harness.formulations import formulation
from reference import green_and_hybrid as twin
from sinew.solver.bake.cache.convergence_summary import DIVERGED_RESIDUAL, ConvergenceSummary
from sinew.solver.constraints.external_forces import ExternalForces
from sinew.solver.integrators import nonlinear_step
from sinew.solver.integrators.dynamic_flesh_forces import SINGLE_SOLVE
from sinew.solver.integrators.integrator_choice import step
from sinew.solver.integrators.newton.newton_body_selection import nonlinear_bodies
from sinew.solver.integrators.solver_context import SolverContext
from sinew.solver.mechanics.model import Part, make_model
from sinew.solver.mechanics.state import State
from sinew.solver.runtime.errors import SolveFailed
from sinew.solver.scene.flesh import Flesh
from sinew.solver.scene.formulation import FormulationSettings
from sinew.solver.scene.scene import Collider, Material, Scene, Settings
from sinew.solver.simulation.flesh.flesh_stress import cauchy_stress

GREEN, HYBRID = FormulationSettings("green"), FormulationSettings("hybrid")
BOTH = pytest.mark.parametrize("method", [GREEN, HYBRID], ids=["green", "hybrid"])
EXACT = Settings(tolerance=1.0e-9, max_iterations=5000)
SOFT = Material(1.0e5, 0.33, 1000.0, 0.0, 0.0)
GRAVITY = np.array([0.0, 0.0, -9.81])
FLOOR = Collider("floor", "Floor", "plane")


def bar_of(method, cells=(3, 2, 2), lengths=(1.5, 1.0, 1.0), material=SOFT):
    nodes, tets = bar(cells, lengths)
    return make_model([Part("bar", nodes, tets, np.ones(len(tets)), material, method=method)])


def bent(model, seed=3, size=0.08):
    """Returns positions far from rest, turned as a whole."""
    turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))[0]
    turn[:, 0] *= np.linalg.det(turn)
    return (model.X + size * np.random.default_rng(seed + 1).normal(size=model.X.shape)) @ turn.T


@BOTH
def test_energy_forces_and_stiffness_are_the_twins(method):
    model = bar_of(method, (2, 1, 1))
    asked, x = formulation(model, method), bent(model)
    assert asked.energy(x) == pytest.approx(twin.energy(method.name, model, x), rel=1e-12)
    f = twin.forces(method.name, model, x)
    assert np.abs(asked.forces(x) - f).max() < 1e-11 * np.abs(f).max()
    K = twin.stiffness(method.name, model, x)
    assert np.abs(matrix(model, asked.stiffness(x)).toarray() - K).max() < 1e-7 * np.abs(K).max()


@BOTH
def test_forces_are_differences_of_the_energy(method):
    model = bar_of(method)
    asked, x = formulation(model, method), bent(model)
    d = np.random.default_rng(0).normal(size=x.shape)
    slope = (asked.energy(x + 1e-6 * d) - asked.energy(x - 1e-6 * d)) / 2e-6
    assert -np.sum(asked.forces(x) * d) == pytest.approx(slope, rel=1e-7)


@BOTH
def test_rigid_motion_makes_no_force_and_forces_make_no_torque(method):
    model = bar_of(method)
    asked, x = formulation(model, method), bent(model)
    size = np.abs(asked.forces(x)).max()
    assert np.abs(asked.forces(bent(model, size=0.0) + [3.0, 1.0, -2.0])).max() < 1e-12 * size
    f = asked.forces(x)
    assert np.abs(f.sum(axis=0)).max() < 1e-12 * size and np.abs(np.cross(x, f).sum(axis=0)).max() < 1e-11 * size


@BOTH
def test_the_end_of_a_step_solves_the_equation_of_the_step(method):
    model, dt = bar_of(method, material=Material(1.0e5, 0.4, 1000.0, 0.5, 0.01)), 0.02
    v0 = np.cross([2.0, -1.0, 3.0], model.X)
    state = State(bent(model, size=0.02), v0)
    x0 = state.x.copy()
    report = step(model, state, ExternalForces(GRAVITY), dt, EXACT)
    assert report.converged and report.newton_iterations > 1
    m, v = model.mass[:, None], state.v
    acting = formulation(model, method).forces(state.x) + m * GRAVITY - 0.5 * m * v
    acting -= (damping_of(model, x0) @ v.ravel()).reshape(-1, 3)
    assert np.abs(m * (v0 - v) + dt * acting).max() < 1e-8 * np.abs(m * v0).max()


@pytest.mark.slow
def test_green_is_flesh_of_the_law_without_being_flesh(tmp_path):
    ends = []
    for how in ({"method": GREEN}, {"flesh": Flesh("dynamic", "stvk")}):
        scene = Scene((block(at=(0.0, 0.0, 0.1), initial_velocity=(1.0, 0.0, -2.0), **how),), (FLOOR,), Settings())
        run = Run(tmp_path / str(len(ends)), scene)
        run.advance(8)
        assert run.built.flesh.dynamic is not None and run.built.flesh.dynamics.newmark is None
        ends.append(run.state.x)
    assert np.array_equal(*ends)


def test_tets_bear_all_themselves_where_volume_hardly_changes(tmp_path):
    squashy = dataclasses.replace(JELLY, poisson_ratio=0.49)
    bodies = (
        block(key="green", method=GREEN, material=squashy),
        block(key="flesh", flesh=Flesh("dynamic", "stvk"), material=squashy, at=(3.0, 0.0, 0.0)),
        block(key="polar", material=squashy, at=(6.0, 0.0, 0.0)),
    )
    law = Run(tmp_path, Scene(bodies)).built.flesh.dynamic.law
    half = len(law.mu) // 2
    assert not law.left.is_averaged[:half].any() and law.left.is_averaged[half:].all()
    assert (law.lam[:half] > law.lam[half:]).all()


@pytest.mark.slow
@BOTH
def test_pinned_stacked_and_dropped_with_another_body_they_come_to_rest(tmp_path, method):
    firm = dataclasses.replace(JELLY, youngs_modulus=1.0e6, stiffness_damping=0.03)
    held = block((3, 2, 2), (1.5, 1.0, 1.0), key="held", method=method, at=(4.0, 0.0, 1.0), material=firm)
    own = np.flatnonzero(held.vertices[:, 0] < 4.0 + 1e-9).astype(np.int32)
    held = dataclasses.replace(held, pinned=own, pin_weights=np.ones(len(own)))
    bodies = (
        block((2, 2, 2), key="below", method=method, at=(0.0, 0.0, 0.02), material=firm),
        block((2, 2, 2), (0.8, 0.8, 0.5), key="above", at=(0.1, 0.1, 1.06), material=firm),
        held,
    )
    run = Run(tmp_path, Scene(bodies, (FLOOR,), Settings(substeps=8)))
    run.advance(36)
    assert all(report.converged for report in run.reports) and all(r.unsettled == 0 for r in run.reports[-10:])
    below, above, hanging = (run.state.x[body.range.nodes] for body in run.built.bodies)
    speeds = [np.abs(run.state.v[body.range.nodes]).max() for body in run.built.bodies]
    assert max(speeds) < 0.05
    assert -0.01 < below[:, 2].min() < 0.01 and 0.95 < below[:, 2].max() < 1.0
    assert -0.03 < above[:, 2].min() - below[:, 2].max() < 0.01
    nodes = run.built.model.X[run.built.bodies[2].range.nodes]
    assert np.abs(hanging - nodes)[nodes[:, 0] < 4.0 + 1e-9].max() < 1e-6
    assert -0.1 < (hanging - nodes)[:, 2].min() < -0.005


def test_one_solve_is_the_linearised_equation_of_the_start():
    """(M + Δt² K(x0)) v = M v0 + Δt (f(x0) + M g), K all of −∂f/∂x, put together here."""
    model, dt = bar_of(dataclasses.replace(GREEN, one_step=True)), 0.005
    state = State(bent(model, size=0.01), np.cross([2.0, -1.0, 3.0], model.X))
    asked, x0, v0 = formulation(model, GREEN), state.x.copy(), state.v.copy()
    K, m = matrix(model, asked.stiffness(x0)).toarray(), np.repeat(model.mass, 3)
    report = step(model, state, ExternalForces(GRAVITY), dt, EXACT)
    pull = asked.forces(x0).ravel() + m * np.tile(GRAVITY, model.node_count)
    v = np.linalg.solve(np.diag(m) + dt * dt * K, m * v0.ravel() + dt * pull)
    assert report.solves == 1 and report.converged
    assert np.abs(state.v.ravel() - v).max() < 1e-7 * np.abs(v).max()
    assert np.abs(state.x - x0 - dt * state.v).max() < 1e-15


def long_bar(one_step, steps):
    """Lets MDMJC02's bar of 765 tets hang from one end at 10 ms, soft and short enough; returns speeds and reports."""
    cells = (17, 3, 3)
    model = bar_of(FormulationSettings("green", one_step=one_step), cells, tuple(0.05 * cell for cell in cells))
    held, state = model.X[:, 0] < 1e-9, State(model.X.copy(), np.zeros_like(model.X))
    reports, fastest = [], 0.0
    for _ in range(steps):
        reports.append(step(model, state, ExternalForces(GRAVITY, held, model.X), 0.01, Settings()))
        fastest = max(fastest, float(np.abs(state.v).max()))
    return fastest, reports


@pytest.mark.slow
def test_one_solve_per_step_diverges_and_says_so_where_newtons_method_does_not():
    fastest, reports = long_bar(True, 80)
    assert fastest > 100.0 and not all(report.converged for report in reports)
    assert max(report.residual for report in reports) > 1.0
    assert sum(report.solves == 1 for report in reports) > 75  # more only where the matrix is not positive
    fastest, reports = long_bar(False, 80)
    assert fastest < 5.0 and all(report.converged for report in reports)


def test_one_solve_beside_other_bodies():
    """Bodies that are stepped once, by Newton's method and corotated share a step, each as if it were alone."""
    once, full, polar = dataclasses.replace(HYBRID, one_step=True), HYBRID, FormulationSettings()
    nodes, tets = bar((2, 2, 2), (1.0, 1.0, 1.0))

    def part(k, method):
        return Part(f"b{k}", nodes + [3.0 * k, 0.0, 0.0], tets, np.ones(len(tets)), SOFT, method=method)

    ends, methods = [], (once, full, polar)
    for chosen in ([0, 1, 2], [0], [1], [2]):
        model = make_model([part(k, methods[k]) for k in chosen])
        start = np.random.default_rng(1).normal(size=nodes.shape)
        v = np.concatenate([np.cross([1.0, 2.0, -1.0], nodes) + 0.1 * start for _ in chosen])
        state = State(model.X.copy(), v)
        for _ in range(5):
            assert step(model, state, ExternalForces(GRAVITY), 0.01, EXACT).converged
        ends.append(state.x)
    model = make_model([part(0, once)])
    assert nonlinear_bodies(model, SolverContext().workspace(model)).once is not None and SINGLE_SOLVE == "once"
    assert np.abs(ends[0] - np.concatenate(ends[1:])).max() < 1e-7


def held_forces(model, x, frames):
    """Returns the forces of the hybrid law with given rotations [N], (n, 3), tet after tet."""
    f = np.zeros_like(x)
    for t, corners in enumerate(model.tets):
        F, R = twin.gradient(model, x, t), frames[t]
        turned = R.T @ F
        shear = 0.5 * (turned + turned.T) - np.eye(3)
        P = 2.0 * model.mu[t] * R @ shear + 0.5 * model.lam[t] * (np.sum(F * F) - 3.0) * F
        g = np.vstack([-model.Dm_inverse[t].sum(axis=0), model.Dm_inverse[t]])
        for corner, gradient in zip(corners, g, strict=True):
            f[corner] -= model.volume[t] * P @ gradient
    return f


@pytest.mark.parametrize("one_step", [False, True])
def test_hybrid_bodies_hold_their_rotations_as_asked(one_step):
    """The end of every step solves its equation with rotations that are those of the start of the first of three."""
    method = dataclasses.replace(HYBRID, rotations_every=3, one_step=one_step)
    model, dt = bar_of(method, (2, 1, 1)), 0.01
    state = State(bent(model, size=0.02), np.cross([2.0, -1.0, 6.0], model.X))
    m, frames = model.mass[:, None], None
    for k in range(5):
        x0, v0 = state.x.copy(), state.v.copy()
        if k % 3 == 0:
            frames = [twin.rotation(twin.gradient(model, x0, t)) for t in range(model.tet_count)]
        report = step(model, state, ExternalForces(GRAVITY), dt, EXACT)
        assert report.converged and np.abs(state.fields["tet.rotation"] - frames).max() < 1e-12
        acting = held_forces(model, state.x, frames)
        if one_step:
            moved = 1e-6 * (state.x - x0)
            ahead, behind = (held_forces(model, x0 + way, frames) for way in (moved, -moved))
            acting = held_forces(model, x0, frames) + (ahead - behind) / 2e-6
        left = m * (v0 - state.v) + dt * (acting + m * GRAVITY)
        assert np.abs(left).max() < 1e-7 * np.abs(m * v0).max()


@pytest.mark.slow
def test_old_rotations_are_as_good_as_new_ones_where_nothing_turns_and_break_what_does():
    def end(every, speed):
        model = bar_of(dataclasses.replace(HYBRID, rotations_every=every))
        state = State(model.X.copy(), np.cross([0.0, 0.0, speed], model.X - model.X.mean(axis=0)))
        state.v[:, 0] += 0.3 * model.X[:, 0]
        for _ in range(16):
            assert step(model, state, ExternalForces(), 0.01, EXACT).converged
        return state.x

    assert np.abs(end(16, 0.0) - end(1, 0.0)).max() < 2e-4
    off = [np.abs(end(every, 5.0) - end(1, 5.0)).max() for every in (2, 4, 8, 16)]
    assert off[0] < off[1] < off[2] < off[3] and off[0] < 0.02 and off[3] > 0.05


def test_stress_of_bodies_that_hold_their_rotations_is_all_of_it(tmp_path):
    found = []
    for every in (1, 4):
        scene = Scene((block(method=dataclasses.replace(HYBRID, rotations_every=every)),), (), Settings())
        built = Run(tmp_path / str(every), scene).built
        x = built.model.X * [1.1, 1.0, 0.95]
        found.append(cauchy_stress(built.flesh.dynamic, built.flesh.dynamic.model, x)[0])
        assert (built.flesh.dynamics.euler.law.mu == 0.0).all() == (every > 1)
    assert np.array_equal(*found) and np.abs(found[0]).max() > 1e3


def test_a_step_that_goes_astray_is_told_as_such(tmp_path):
    """Where the bake is strict it ends; otherwise its summary knows."""
    body = block((17, 3, 3), (0.85, 0.15, 0.15), method=FormulationSettings("green", one_step=True), material=SOFT)
    own = np.flatnonzero(body.vertices[:, 0] < 1e-9).astype(np.int32)
    body = dataclasses.replace(body, pinned=own, pin_weights=np.ones(len(own)))
    settings = Settings(fps=25.0, substeps=4)
    run = Run(tmp_path / "told", Scene((body,), (), settings))
    run.advance(20)
    told = [{"frame": k + 2, **dataclasses.asdict(report)} for k, report in enumerate(run.reports)]
    summary = ConvergenceSummary.from_report(told)
    assert DIVERGED_RESIDUAL == nonlinear_step.MAX_LINEARISATION_RESIDUAL
    assert summary.not_converged > 0 and summary.residual > DIVERGED_RESIDUAL
    strict = Run(tmp_path / "strict", Scene((body,), (), dataclasses.replace(settings, strict=True)))
    with pytest.raises(SolveFailed) as caught:
        strict.advance(20)
    assert caught.value.kind == "step-astray" and "One Newton Step" in caught.value.next_step
