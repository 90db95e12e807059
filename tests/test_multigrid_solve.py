# SPDX-License-Identifier: GPL-3.0-or-later
"""Solving by conjugate gradients with lattices: what it finds, and where it stands back."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from fixtures.multigrid_problems import bar_problem, dense, jittered, made, stiffness
from fixtures.tet_meshes import bar, lattice_bar
from sinew.solver.constraints.external_forces import ExternalForces
from sinew.solver.integrators.integrator_choice import step
from sinew.solver.integrators.solver_context import SolverContext
from sinew.solver.integrators.system import multigrid_policy
from sinew.solver.linalg.block_pattern import block_pattern
from sinew.solver.linalg.block_system import BlockSystem, StoppingCriteria
from sinew.solver.linalg.convergence_rate import RateCheck
from sinew.solver.linalg.multigrid import lattice_multigrid, mg_pcg, numeric_setup
from sinew.solver.linalg.multigrid import solve as take_over
from sinew.solver.linalg.multigrid.hierarchy import build_hierarchy, hierarchy_of
from sinew.solver.linalg.multigrid.lattice_coarsening import MAX_DENSE_NODES, lattice_prolongations
from sinew.solver.linalg.multigrid.lattice_multigrid import (
    JACOBI_ITERATIONS,
    JACOBI_ITERATIONS_IF_HARD,
    JACOBI_ITERATIONS_IF_SMALL,
    MIN_ISLAND_NODES,
    LatticeMultigrid,
)
from sinew.solver.linalg.pcg import MIN_BLOCKS_PER_THREAD, PreconditionedSolve, solve
from sinew.solver.linalg.rigid_modes import rigid_modes
from sinew.solver.linalg.symmetric_spmv import upper_half
from sinew.solver.mechanics.model import Part, make_model
from sinew.solver.mechanics.state import State
from sinew.solver.runtime.threads.thread_count import set_thread_count
from sinew.solver.scene.scene import AUTO_SOLVER, JACOBI, LINEAR_SOLVERS, MULTIGRID, Material, Settings


def exact(model, values, b, is_free, x):
    A = dense(model.pattern.row_start, model.pattern.column, values)
    out, keep = x.copy().ravel(), np.repeat(is_free, 3)
    out[keep] = np.linalg.solve(A[keep][:, keep], b.ravel()[keep] - A[keep][:, ~keep] @ out[~keep])
    return out.reshape(-1, 3)


@pytest.mark.parametrize("nu", [0.3, 0.49])
@pytest.mark.parametrize("mesh", [bar, lattice_bar])
def test_it_solves_with_held_nodes_in_few_iterations(mesh, nu):
    model, values, is_free = bar_problem((4, 4, 12), nu, mesh)
    b, x = np.random.default_rng(7).normal(size=(2, model.node_count, 3))
    x[is_free] = 0.0
    wanted = exact(model, values, b, is_free, x)
    solved = solve(
        BlockSystem(model.pattern, values, b, is_free),
        x,
        StoppingCriteria(1e-9, 200),
        preconditioner=LatticeMultigrid(model.X),
    )
    assert solved.converged and solved.iterations < 80
    np.testing.assert_allclose(x, wanted, atol=1e-6 * np.abs(wanted).max())


def test_islands_of_very_different_weight_and_size_are_all_solved(monkeypatch):
    monkeypatch.setattr(lattice_multigrid, "MIN_ISLAND_NODES", 0)  # however small
    X, t = jittered(bar, (3, 3, 6))
    model = made([(X, t), (1e-3 * X + 5.0, t), (40.0 * X - 500.0, t)])
    values = stiffness(model, mass=1.0)
    rows = np.repeat(np.arange(model.node_count), np.diff(model.pattern.row_start.astype(int)))
    values[rows < len(X)] *= 1e-12
    b = np.random.default_rng(8).normal(size=(model.node_count, 3))
    x, is_free = np.zeros_like(b), np.ones(model.node_count, bool)
    is_free[len(X) : len(X) + 9] = False
    modes = rigid_modes(model.pattern, values, model.X, is_free)
    solved = solve(
        BlockSystem(model.pattern, values, b, is_free),
        x,
        StoppingCriteria(1e-8, 200),
        modes=modes,
        preconditioner=LatticeMultigrid(model.X),
    )
    assert solved.converged and solved.iterations < 60
    wanted = exact(model, values, b, is_free, x)
    for body in model.bodies:
        np.testing.assert_allclose(x[body.nodes], wanted[body.nodes], atol=1e-5 * np.abs(wanted[body.nodes]).max())


def test_any_positive_blocks_on_the_tets_will_do():
    """Such as a projected Hessian: a random semi-definite 12 × 12 matrix per tet."""
    model, _, is_free = bar_problem((4, 4, 12))
    lots, p = np.random.default_rng(9), model.pattern
    values = np.zeros((p.block_count, 9))
    for tet in range(model.tet_count):
        half = lots.normal(size=(12, 7)) * 10.0 ** lots.uniform(-1, 1)
        K = (half @ half.T).reshape(4, 3, 4, 3)
        for a in range(4):
            for c in range(4):
                values[p.corner_block[4 * tet + a, c]] += K[a, :, c].ravel()
    b = lots.normal(size=model.X.shape)
    x = np.zeros_like(b)
    wanted = exact(model, values, b, is_free, x)
    solved = solve(
        BlockSystem(p, values, b, is_free), x, StoppingCriteria(1e-9, 500), preconditioner=LatticeMultigrid(model.X)
    )
    assert solved.converged
    np.testing.assert_allclose(x, wanted, atol=1e-6 * np.abs(wanted).max())


def test_threads_change_no_bit():
    model, values, is_free = bar_problem((6, 6, 20))
    b, results = np.random.default_rng(10).normal(size=model.X.shape), []
    for threads in (1, 1, None):
        set_thread_count(threads)
        x = np.zeros_like(b)
        solve(
            BlockSystem(model.pattern, values, b, is_free),
            x,
            StoppingCriteria(1e-6, 100),
            preconditioner=LatticeMultigrid(model.X),
        )
        results.append(x.tobytes())
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("least", [None, 1.0])
def test_products_by_the_upper_half_find_what_those_by_whole_rows_do(least, monkeypatch):
    """With segments that reach into each other, given values, an island that is solved at once and one that is not."""
    X, t = jittered(bar, (4, 4, 60))
    model = made([(X, t), (X + 50.0, t)])
    pattern, values = model.pattern, stiffness(model)
    half = upper_half(pattern)
    assert half is not None and np.bincount(half.island).min() >= 2 and pattern.block_count > MIN_BLOCKS_PER_THREAD
    b = np.random.default_rng(12).normal(size=model.X.shape)
    b[len(X) :] *= 1e-10 if least else 1.0  # nothing beside it
    is_free = np.ones(model.node_count, bool)
    is_free[[*range(25), *range(len(X), len(X) + 25)]] = False

    def solved(threads):
        set_thread_count(threads)
        x = np.zeros_like(b)
        x[~is_free] = [0.1, 0.2, -0.1] if least is None else 0.0
        lattices, bounds = LatticeMultigrid(model.X), None if least is None else np.full(2, least)
        report = solve(
            BlockSystem(pattern, values, b, is_free), x, StoppingCriteria(1e-7, 200, bounds), preconditioner=lattices
        )
        assert report.converged and report.used_multigrid
        return x

    first = solved(1)
    assert first.tobytes() == solved(None).tobytes() and first.any()
    assert least is None or not first[len(X) :].any()
    monkeypatch.setattr(mg_pcg, "upper_half", lambda pattern: None)
    np.testing.assert_allclose(solved(None), first, atol=1e-5 * np.abs(first).max())


def test_a_loose_tolerance_is_left_to_block_jacobi():
    model, values, is_free = bar_problem((4, 4, 12))
    values = stiffness(model, mass=1e4)
    b = np.random.default_rng(11).normal(size=model.X.shape)
    plain, other = np.zeros_like(b), np.zeros_like(b)
    first = solve(BlockSystem(model.pattern, values, b, is_free), plain, StoppingCriteria(0.01, 500))
    second = solve(
        BlockSystem(model.pattern, values, b, is_free),
        other,
        StoppingCriteria(0.01, 500),
        preconditioner=LatticeMultigrid(model.X),
    )
    assert first == second and first.iterations < JACOBI_ITERATIONS and plain.tobytes() == other.tobytes()


@pytest.mark.parametrize("tolerance", [1e-4, 1e-10])
def test_a_stiff_step_is_the_same_in_fewer_iterations(tolerance):
    model = made([jittered(bar, (4, 4, 24))], 0.45, 1e6)
    fixed, v, iterations = model.X[:, 2] < 1e-9, {}, {}
    for solver in LINEAR_SOLVERS:
        settings = Settings(tolerance=tolerance, max_iterations=9000, linear_solver=solver)
        state = State(model.X.copy(), np.zeros_like(model.X))
        report = step(model, state, ExternalForces(np.array([0.3, 0.0, -9.8]), is_fixed=fixed), 0.1, settings)
        assert report.converged
        v[solver], iterations[solver] = state.v, report.iterations
    error = max(1e-6, 100 * tolerance)  # bending is what a residual says least of
    for solver in (AUTO_SOLVER, MULTIGRID):
        np.testing.assert_allclose(v[solver], v[JACOBI], atol=error * np.abs(v[JACOBI]).max())
    # at Δt = 0.1 s it is stiff: at once, or soon
    assert iterations[AUTO_SOLVER] < 1.2 * JACOBI_ITERATIONS < iterations[JACOBI] / 3
    assert iterations[MULTIGRID] <= iterations[AUTO_SOLVER] < iterations[JACOBI] / 3


def test_multigrid_is_left_out_or_begins_as_the_settings_say():
    model = made([jittered(bar, (4, 4, 24))])
    outside, found = ExternalForces(np.array([0.3, 0.0, -9.8]), is_fixed=model.X[:, 2] < 1e-9), {}
    for solver in LINEAR_SOLVERS:
        state = State(model.X.copy(), np.zeros_like(model.X))
        settings = Settings(tolerance=1e-4, linear_solver=solver)
        found[solver] = step(model, state, outside, 0.1, settings).iterations
    assert found[AUTO_SOLVER] == found[JACOBI] > found[MULTIGRID] > 0  # in so short a step block Jacobi is soon done


@pytest.mark.parametrize(("dt", "is_stiff"), [(0.1, True), (1.0e-4, False)])
def test_multigrid_comes_first_only_where_a_step_is_stiff(dt, is_stiff):
    model = made([jittered(bar, (4, 4, 24))], 0.45, 1e6)
    fixed, state = model.X[:, 2] < 1e-9, State(model.X.copy(), np.zeros_like(model.X))
    outside = ExternalForces(np.array([0.0, -9.8, 0.0]), is_fixed=fixed)
    context = SolverContext()
    step(model, state, outside, dt, Settings(tolerance=1e-6, max_iterations=9000), context=context)
    values = context.workspace(model).values

    def is_stiff_of(is_free, limit):
        system = SimpleNamespace(pattern=model.pattern, values=values, is_free=is_free)
        return multigrid_policy._is_stiff(model, system, limit)

    for limit in (multigrid_policy.MIN_STIFFNESS_RATIO, multigrid_policy.MIN_STIFFNESS_RATIO_IF_LOOSE):
        assert is_stiff_of(~fixed, limit) == is_stiff
    ratio = np.trace(values[model.pattern.diagonal].reshape(-1, 3, 3), axis1=1, axis2=2) / (3.0 * model.mass)
    for some in (~fixed, fixed, np.arange(len(fixed)) % 3 == 0):
        for limit in np.quantile(ratio[some], [0.1, 0.4, 0.6, 0.9]) * 1.0001:
            most = 2 * np.count_nonzero(ratio[some] > limit) > np.count_nonzero(some)
            assert is_stiff_of(some, limit) == most


def test_a_stiff_body_that_falls_as_a_whole_needs_no_levels(monkeypatch):
    """Block Jacobi is done before levels would be set up, although most systems as stiff are hard."""
    monkeypatch.setattr(take_over, "solve_with_multigrid", None)
    model = made([jittered(bar, (4, 4, 24))], 0.45, 1e6)
    state = State(model.X.copy(), np.zeros_like(model.X))
    report = step(model, state, ExternalForces(np.array([0.0, -9.8, 0.0])), 0.1, Settings())
    assert report.converged and report.iterations < JACOBI_ITERATIONS_IF_HARD


def test_a_small_stiff_body_beside_a_large_soft_one_is_left_to_block_jacobi(monkeypatch):
    """What is left of the system is a tenth of it: ten of its iterations are as dear as one of all."""
    monkeypatch.setattr(take_over, "solve_with_multigrid", None)
    large, small = (jittered(bar, cells) for cells in ((8, 8, 24), (3, 3, 12)))
    model = make_model(
        [
            Part(name, nodes, tets, np.ones(len(tets)), Material(youngs_modulus=youngs_modulus))
            for name, (nodes, tets), youngs_modulus in (("large", large, 1e4), ("small", small, 1e10))
        ]
    )
    state = State(model.X.copy(), np.zeros_like(model.X))
    outside = ExternalForces(np.array([0.0, -9.8, 0.0]), is_fixed=model.X[:, 2] < 1e-9)
    report = step(model, state, outside, 0.02, Settings())
    assert report.converged and report.iterations > multigrid_policy.JACOBI_ITERATIONS_IF_LOOSE


def test_it_takes_over_where_block_jacobi_takes_long():
    model, values, is_free = bar_problem((4, 4, 24), 0.45)
    b = np.random.default_rng(12).normal(size=model.X.shape) + [5.0, 0.0, 0.0]
    x = np.zeros_like(b)
    alone = solve(BlockSystem(model.pattern, values, b, is_free), x.copy(), StoppingCriteria(0.01, 5000))
    solved = solve(
        BlockSystem(model.pattern, values, b, is_free),
        x,
        StoppingCriteria(0.01, 5000),
        preconditioner=LatticeMultigrid(model.X),
    )
    assert solved.converged and JACOBI_ITERATIONS < solved.iterations < alone.iterations / 2
    assert solved.used_multigrid and not alone.used_multigrid
    again = LatticeMultigrid(model.X, is_hard=True)
    sooner = solve(
        BlockSystem(model.pattern, values, b, is_free),
        np.zeros_like(b),
        StoppingCriteria(0.01, 5000),
        preconditioner=again,
    )
    assert sooner.converged and JACOBI_ITERATIONS_IF_HARD < sooner.iterations < JACOBI_ITERATIONS


def test_multigrid_begins_at_once_for_tolerances_that_ask_for_it():
    model, _, is_free = bar_problem((4, 4, 24), 0.45)
    lattices = LatticeMultigrid(model.X, immediate_tolerance=0.01)
    assert lattices.iteration_limit(model.pattern, is_free, 0.01) == (0, 0)
    assert lattices.iteration_limit(model.pattern, is_free, 0.011)[0] == JACOBI_ITERATIONS
    assert LatticeMultigrid(model.X).iteration_limit(model.pattern, is_free, 0.01)[0] == JACOBI_ITERATIONS


def test_many_small_islands_are_left_to_block_jacobi_for_long():
    """Together they have more nodes than a system that is left to it; each is no harder for that."""
    nodes, tets = jittered(bar, (3, 3, 12))
    model = make_model([Part(f"{k}", nodes, tets, np.ones(len(tets)), Material()) for k in range(5)])
    one = make_model([Part("long", *jittered(bar, (3, 3, 60)), np.ones(60 * 45), Material())])
    rate_check = [
        LatticeMultigrid(m.X, is_hard=True).iteration_limit(m.pattern, np.ones(m.node_count, bool), 0.01)
        for m in (model, one)
    ]
    assert model.node_count > one.node_count > MIN_ISLAND_NODES > model.pattern.largest_island
    assert rate_check == [
        (JACOBI_ITERATIONS_IF_SMALL, JACOBI_ITERATIONS_IF_SMALL),
        (JACOBI_ITERATIONS_IF_HARD, JACOBI_ITERATIONS_IF_SMALL),
    ]


@pytest.mark.parametrize("is_held", [True, False])
def test_a_smoother_that_goes_too_far_is_softened(monkeypatch, is_held):
    """As where a tet has a much larger eigenvalue than the power method finds."""
    model, values, is_free = bar_problem((4, 4, 24), 0.45)
    if not is_held:
        values, is_free = stiffness(model, mass=1.0), np.ones(model.node_count, bool)
    modes = None if is_held else rigid_modes(model.pattern, values, model.X, is_free)
    b, iterations = np.random.default_rng(17).normal(size=model.X.shape), []
    for safety in (numeric_setup.QUICK_POWER_SAFETY_FACTOR, 0.6):
        monkeypatch.setattr(numeric_setup, "QUICK_POWER_SAFETY_FACTOR", safety)
        lattices = LatticeMultigrid(model.X)
        solved = solve(
            BlockSystem(model.pattern, values, b, is_free),
            np.zeros_like(b),
            StoppingCriteria(1e-8, 500),
            modes=modes,
            preconditioner=lattices,
        )
        assert solved.converged
        iterations.append(solved.iterations)
    assert iterations[1] < 3 * iterations[0]


class Lost:
    """A preconditioner that takes over and is lost."""

    def iteration_limit(self, pattern, is_free, tolerance):
        return 3, 3

    def rate_check(self, stopping):
        return RateCheck.of_block_jacobi()

    def solve(self, system, x, *rest):
        x[system.is_free] = 1e200
        return PreconditionedSolve(2, np.inf, 2.0)


def test_what_a_lost_search_has_made_of_x_is_taken_back():
    model, values, is_free = bar_problem()
    b, x = np.random.default_rng(13).normal(size=model.X.shape), np.zeros_like(model.X)
    found = solve(
        BlockSystem(model.pattern, values, b, is_free), x, StoppingCriteria(1e-6, 5000), preconditioner=Lost()
    )
    assert found.converged and found.used_multigrid
    twin = np.zeros_like(x)
    solve(BlockSystem(model.pattern, values, b, is_free), twin, StoppingCriteria(1e-6, 5000))
    np.testing.assert_allclose(x, twin, atol=1e-4 * np.abs(twin).max())


def test_an_end_of_iterations_is_told():
    model, values, is_free = bar_problem((4, 4, 12), 0.49)
    b = np.random.default_rng(13).normal(size=model.X.shape)
    x = np.zeros_like(b)
    solved = solve(
        BlockSystem(model.pattern, values, b, is_free),
        x,
        StoppingCriteria(1e-9, 3),
        preconditioner=LatticeMultigrid(model.X),
    )
    assert not solved.converged and solved.iterations == 3 and solved.residual > 1e-9
    A = dense(model.pattern.row_start, model.pattern.column, values)
    r, keep = (b.ravel() - A @ x.ravel()), np.repeat(is_free, 3)
    np.testing.assert_allclose(solved.residual, np.linalg.norm(r[keep]) / np.linalg.norm(b.ravel()[keep]), rtol=1e-9)


def test_a_matrix_that_is_not_positive_ends_in_numbers():
    model, values, is_free = bar_problem((4, 4, 12))
    values = values.copy()
    values[model.pattern.diagonal[40:60]] -= 500.0 * np.eye(3).ravel()
    b = np.random.default_rng(14).normal(size=model.X.shape)
    x = np.zeros_like(b)
    solved = solve(
        BlockSystem(model.pattern, values, b, is_free),
        x,
        StoppingCriteria(1e-9, 300),
        preconditioner=LatticeMultigrid(model.X),
    )
    assert np.isfinite(x).all() and not solved.converged


def test_nodes_without_tets_and_single_tets_are_no_trouble():
    X, t = jittered(bar, (4, 4, 12))
    X = np.concatenate([X, [[0.0, 0.0, 50.0]], np.eye(4, 3) + 70.0])
    t = np.concatenate([t, np.arange(len(X) - 4, len(X))[None]]).astype(np.int32)
    if np.linalg.det(X[t[-1, 1:]] - X[t[-1, 0]]) < 0:
        t[-1] = t[-1][[0, 2, 1, 3]]
    pattern = block_pattern(t, len(X))
    hierarchy = hierarchy_of(pattern, X)
    assert hierarchy is hierarchy_of(pattern, X)
    assert np.diff(hierarchy.part_start).max() <= MAX_DENSE_NODES and len(hierarchy.part_start) == 4
    model = make_model([Part("b", X, t, np.ones(len(t)), Material(youngs_modulus=1000.0, density=1.0))])
    values = stiffness(model, mass=1.0)
    b, is_free = np.random.default_rng(15).normal(size=X.shape), np.ones(len(X), bool)
    is_free[-5] = False
    x = np.zeros_like(b)
    wanted = exact(model, values, b, is_free, x)
    solved = solve(
        BlockSystem(model.pattern, values, b, is_free),
        x,
        StoppingCriteria(1e-9, 200),
        preconditioner=LatticeMultigrid(X),
    )
    assert solved.converged
    np.testing.assert_allclose(x, wanted, atol=1e-6 * np.abs(wanted).max())


def test_a_lost_solve_leaves_nothing_behind():
    model, values, is_free = bar_problem((4, 4, 12))
    b = np.random.default_rng(16).normal(size=model.X.shape)
    lattices, results = LatticeMultigrid(model.X), []
    for matrix in (values, np.full_like(values, np.nan), values):
        x = np.zeros_like(b)
        solved = solve(
            BlockSystem(model.pattern, matrix, b, is_free), x, StoppingCriteria(1e-8, 100), preconditioner=lattices
        )
        results.append((solved, x.tobytes()))
    assert results[0][0].converged and not results[1][0].converged and results[0] == results[2]


def test_a_mesh_much_finer_in_one_place_gets_a_lattice_of_fewer_nodes():
    fine, tets = jittered(bar, (6, 6, 6))
    coarse, rest = bar((8, 8, 8), (800.0, 800.0, 800.0))
    X = np.concatenate([fine, coarse + 5.0])
    # joined by one long tet
    bridge = [[int(fine.sum(axis=1).argmax()), len(fine), len(fine) + 1, len(fine) + 9]]
    pattern = block_pattern(np.concatenate([tets, rest + len(fine), bridge]).astype(np.int32), len(X))
    hierarchy = build_hierarchy(pattern, X)
    counts = np.diff(hierarchy.level_start)
    assert (counts[1:] <= np.maximum(0.6 * counts[:-1], MAX_DENSE_NODES)).all() and counts[-1] <= MAX_DENSE_NODES


def test_small_pieces_leave_the_lattices_of_a_large_body_as_they_are():
    bar_alone, tets = jittered(bar, (5, 5, 20))
    piece, its = bar((1, 1, 1), (1.0, 1.0, 1.0))
    places = np.random.default_rng(17).uniform(6.0, 30.0, (150, 1, 3))
    numbers = len(bar_alone) + len(piece) * np.arange(len(places))[:, None, None]
    X = np.concatenate([bar_alone, (piece + places).reshape(-1, 3)])
    model = made([(X, np.concatenate([tets, (its + numbers).reshape(-1, 4)]).astype(np.int32))], nu=0.45)
    wanted = [len(level.part) for level in lattice_prolongations(bar_alone, block_pattern(tets, len(bar_alone)))]
    assert len(wanted) >= 2
    assert [np.count_nonzero(level.part == 0) for level in lattice_prolongations(X, model.pattern)] == wanted

    values, is_free = stiffness(model, mass=1.0e-3), np.ones(len(X), bool)
    is_free[:36] = False  # the bar's end
    b, x = np.random.default_rng(18).normal(size=X.shape), np.zeros_like(X)
    solved = solve(
        BlockSystem(model.pattern, values, b, is_free),
        x,
        StoppingCriteria(1e-6, 200),
        preconditioner=LatticeMultigrid(X),
    )
    assert solved.converged and solved.iterations <= 40
