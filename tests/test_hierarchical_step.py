# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of hierarchical bodies: transforms, matrices on all levels, the coarse problem, and what a step satisfies."""

from dataclasses import replace

import numpy as np
import pytest

from fixtures.tet_meshes import bar
from harness.formulations import formulation
from sinew.solver.constraints.external_forces import ExternalForces
from sinew.solver.constraints.point_forces import PointForces
from sinew.solver.integrators.integrator_choice import step
from sinew.solver.integrators.newton.newton_body_selection import nonlinear_bodies
from sinew.solver.integrators.newton.newton_system import NewtonSystem
from sinew.solver.integrators.solver_context import StepWorkspace
from sinew.solver.integrators.step_input import StepInput
from sinew.solver.mechanics.hierarchical.basis_transform import gather_forces, to_hierarchical, to_nodal
from sinew.solver.mechanics.hierarchical.level_matrices import assemble_coarse_tets, level_maps
from sinew.solver.mechanics.hierarchical.level_preconditioner import LevelBlocks, LevelPreconditioner
from sinew.solver.mechanics.model import Part, make_model
from sinew.solver.mechanics.state import State
from sinew.solver.mesh.red_refinement import interpolate_from_coarse, red_refinement
from sinew.solver.scene.formulation import LU, FormulationSettings
from sinew.solver.scene.scene import Material, Settings

pytestmark = pytest.mark.slow

GRAVITY = np.array([0.0, 0.0, -9.81])


def part(count=1, *, cells=(3, 1, 1), key="bar", at=0.0, **settings):
    settings.setdefault("damping", 0.0)
    material = Material(settings.pop("stiffness", 5.0e4), 0.3, stiffness_damping=settings.pop("damping"))
    coarse_nodes, coarse = bar(cells, tuple(float(c) for c in cells))
    tets, levels = red_refinement(coarse, len(coarse_nodes), count)
    nodes = interpolate_from_coarse(levels, coarse_nodes) + [0.0, at, 0.0]
    method = FormulationSettings("hierarchical", levels=count, **settings)
    return Part(key, nodes, tets, np.ones(len(tets)), material, method=method, levels=levels)


def clamped(model):
    return ExternalForces(gravity=GRAVITY, is_fixed=model.X[:, 0] < 1e-9)


def at_rest(model):
    return State(model.X.copy(), np.zeros_like(model.X), 0.0)


def interpolation(levels):
    """Returns S, (n, n): nodal values out of hierarchical ones."""
    S = np.eye(levels.starts[-1])
    for k, (p, q) in enumerate(levels.parents):
        S[levels.starts[1] + k] += 0.5 * (S[p] + S[q])
    return S


def from_level(levels, count):
    """Returns the interpolation from the level with so many nodes, (3 n, 3 count)."""
    P = np.eye(levels.starts[-1])[:, :count]
    for k, (p, q) in enumerate(levels.parents):
        if levels.starts[1] + k >= count:
            P[levels.starts[1] + k] = 0.5 * (P[p] + P[q])
    return np.kron(P, np.eye(3))


def blocks_of(K, pattern):
    n = pattern.node_count
    rows = np.repeat(np.arange(n), np.diff(pattern.row_start.astype(int)))
    return K.reshape(n, 3, n, 3).transpose(0, 2, 1, 3)[rows, pattern.column].reshape(-1, 9)


def dense(pattern, values):
    n = pattern.node_count
    K = np.zeros((n, n, 3, 3))
    rows = np.repeat(np.arange(n), np.diff(pattern.row_start.astype(int)))
    K[rows, pattern.column] = values.reshape(-1, 3, 3)
    return K.transpose(0, 2, 1, 3).reshape(3 * n, 3 * n)


@pytest.mark.parametrize("count", [1, 2])
def test_transforms_are_the_basis_and_back(count):
    levels = part(count).levels
    S, first = interpolation(levels), levels.starts[1]
    h = np.random.default_rng(0).normal(size=(levels.starts[-1], 3))
    for transform, matrix in (
        (to_nodal, S),
        (to_hierarchical, np.linalg.inv(S)),
        (gather_forces, S.T),
    ):
        found = h.copy()
        transform(first, levels.parents, found)
        np.testing.assert_allclose(found, matrix @ h, atol=1e-12 * np.abs(matrix @ h).max())


@pytest.mark.parametrize("count", [1, 2])
def test_matrices_of_all_levels_are_those_of_the_basis(count):
    model = make_model([part(count, cells=(2, 1, 1))])
    levels, pattern = model.levels[0], model.pattern
    rng = np.random.default_rng(1)
    half = blocks_of(rng.normal(size=(3 * model.node_count,) * 2), pattern)
    A = dense(pattern, half)
    A = A + A.T + 100.0 * np.eye(len(A))
    maps = level_maps(levels, pattern, model.bodies[0].nodes)
    own, none = LevelBlocks(levels, maps, blocks_of(A, pattern)), np.zeros((maps.coarse.block_count, 9))
    made = LevelPreconditioner(own, none, "pcg")
    S = np.kron(interpolation(levels), np.eye(3))
    whole, n0 = S.T @ A @ S, 3 * levels.starts[1]
    np.testing.assert_allclose(dense(maps.coarse, own.coarse), whole[:n0, :n0], atol=1e-10 * np.abs(whole).max())
    r = rng.normal(size=(model.node_count, 3))

    def expected_of(is_exact):
        total = np.zeros_like(A)
        for n in levels.starts[1:]:
            P = from_level(levels, n)
            A_l, D = P.T @ A @ P, np.zeros((3 * n, 3 * n))
            for i in range(0, 3 * n, 3):
                D[i : i + 3, i : i + 3] = np.linalg.inv(A_l[i : i + 3, i : i + 3])
            total += P @ (np.linalg.inv(A_l) if is_exact and 3 * n == n0 else D) @ P.T
        return total @ r.ravel()

    expected = expected_of(False)
    np.testing.assert_allclose(made.apply(r).ravel(), expected, atol=1e-9 * np.abs(expected).max())
    exact = LevelPreconditioner(own, none, LU)
    expected = expected_of(True)
    np.testing.assert_allclose(exact.apply(r).ravel(), expected, atol=1e-9 * np.abs(expected).max())


def test_coarse_tets_give_the_coarse_stiffness_of_green():
    model = make_model([part(1)])
    asked = formulation(model, model.methods[0])
    x = model.X + 0.05 * np.random.default_rng(2).normal(size=model.X.shape)
    asked.frames = [body.rotations(x) for body in asked.bodies]
    body, maps = asked.bodies[0], level_maps(model.levels[0], model.pattern, model.bodies[0].nodes)
    found = dense(
        maps.coarse,
        assemble_coarse_tets(maps, body.gradient_operator.coarse, body.green_moduli(body.mean_gradients(x), False)),
    )
    n0 = 3 * model.levels[0].starts[1]
    S = np.kron(interpolation(model.levels[0]), np.eye(3))[:, :n0]
    expected = S.T @ dense(asked.pattern, asked.stiffness(x)) @ S
    np.testing.assert_allclose(found, expected, atol=1e-10 * np.abs(expected).max())


@pytest.mark.parametrize("solver", ["pcg", "lu"])
def test_coarse_motion_leaves_nothing_to_coarse_nodes(solver):
    model = make_model([part(1, coarse_solver=solver, damping=0.01)])
    outside, state = clamped(model), at_rest(model)
    is_free = ~outside.is_fixed
    workspace = StepWorkspace(model.pattern)
    start = StepInput(model, state, outside, 0.2, Settings(), workspace)
    system = NewtonSystem(start, nonlinear_bodies(model, workspace))
    v = np.zeros_like(state.x)
    system.evaluate(state.x, v, outside, is_free)
    levels = model.levels[0]

    def gathered():
        r = system.r.copy()
        gather_forces(levels.starts[1], levels.parents, r)
        moves = model.X[: levels.starts[1], 0] > 1e-9
        return np.linalg.norm(r[: levels.starts[1]][moves])

    before = gathered()
    v = system.coarse_motion(is_free)
    assert not v[~is_free].any()
    system.evaluate(state.x + 0.2 * v, v, outside, is_free)
    assert gathered() < 0.04 * before
    assert system.levels.coarse_iterations >= 2


@pytest.mark.parametrize("solver", ["pcg", "lu"])
@pytest.mark.parametrize("count", [1, 2])
def test_a_step_satisfies_its_own_equation(count, solver):
    model = make_model([part(count, coarse_solver=solver)])
    state, outside, dt = at_rest(model), clamped(model), 0.04
    settings = Settings(tolerance=1e-6)
    for _ in range(5):
        before = state.copy()
        report = step(model, state, outside, dt, settings)
        assert report.converged
    asked = formulation(model, model.methods[0])
    asked.frames = [body.rotations(before.x) for body in asked.bodies]
    inertia = model.mass[:, None] * (state.v - before.v) / dt
    pushes = asked.forces(state.x) + model.mass[:, None] * GRAVITY
    free = ~outside.is_fixed
    assert np.linalg.norm((inertia - pushes)[free]) < 1e-5 * np.linalg.norm(asked.forces(state.x)[free])
    assert np.abs(state.x - model.X).max() > 0.2  # not a small motion
    assert {"coarse", "fine"} <= set(report.milliseconds)


def test_one_level_alone_moves_as_greens_strain_does():
    own = part(1)
    coarse = own.levels.coarse_tets
    alone, none = red_refinement(coarse, own.levels.starts[1], 0)
    X = own.nodes[: own.levels.starts[1]]
    ends = []
    for method, levels in ((own.method, none), (FormulationSettings("green"), None)):
        model = make_model([replace(own, nodes=X, tets=alone, fill=np.ones(len(alone)), method=method, levels=levels)])
        state = at_rest(model)
        for _ in range(10):
            assert step(model, state, clamped(model), 0.04, Settings(tolerance=1e-8)).converged
        ends.append(state.x)
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-6)


def test_factors_of_the_coarse_level_spare_iterations():
    counts = {}
    for solver in ("pcg", "lu"):
        model = make_model([part(1, cells=(8, 2, 2), stiffness=1.0e7, coarse_solver=solver)])
        state = at_rest(model)
        counts[solver] = sum(
            step(model, state, clamped(model), 0.1, Settings(tolerance=1e-5)).iterations for _ in range(5)
        )
    assert counts["lu"] < 0.7 * counts["pcg"]


def test_frames_are_held_for_as_many_steps_as_asked():
    model = make_model([part(1, rotations_every=3)])
    state, seen = at_rest(model), []
    for _ in range(7):
        step(model, state, clamped(model), 0.04, Settings())
        seen.append(state.fields["tet.rotation"].copy())
    changed = [not np.array_equal(a, b) for a, b in zip(seen, seen[1:], strict=False)]
    assert changed == [False, False, True, False, False, True]


def test_a_free_body_keeps_its_momentum_and_a_spinning_one_most_of_its_spin():
    model = make_model([part(1)])
    centre = model.X.mean(axis=0)
    state = at_rest(model)
    state.v = np.cross([0.0, 0.0, 3.0], model.X - centre) + [1.0, 2.0, 0.5]
    m = model.mass[:, None]
    before = (m * state.v).sum(axis=0)
    settings = Settings(tolerance=1e-8)
    for _ in range(20):
        assert step(model, state, ExternalForces(), 0.01, settings).converged
    np.testing.assert_allclose((m * state.v).sum(axis=0), before, rtol=1e-9)


def test_springs_pull_and_two_bodies_do_not_know_each_other():
    alone = make_model([part(1)])
    both = make_model([part(1), part(1, key="other", at=5.0, coarse_solver=LU)])
    ends = []
    for model in (alone, both):
        pull = PointForces(
            np.array([75], np.int32), np.full((1, 4), 0.25), np.array([[0.0, 0.0, 6.0e4]]),
            200.0 * np.eye(3)[None], np.zeros((1, 3, 3)),
        )  # fmt: skip
        state = at_rest(model)
        for _ in range(4):
            outside = replace(clamped(model), points=pull)
            assert step(model, state, outside, 0.04, Settings(tolerance=1e-9)).converged
        ends.append(state.x[: alone.node_count])
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-7)
    assert ends[0][:, 2].max() > 1.01


def test_details_bring_a_bar_nearer_to_greens_strain_on_all_tets():
    own = part(1, cells=(6, 1, 1), stiffness=2.0e5)
    levels, count = own.levels, own.levels.starts[1]
    green = FormulationSettings("green")
    fine = replace(own, method=green, levels=None)
    tets = levels.coarse_tets
    alone = replace(fine, nodes=own.nodes[:count], tets=tets, fill=np.ones(len(tets)))
    ends = {}
    for name, body in (("hierarchical", own), ("fine", fine), ("coarse", alone)):
        model = make_model([body])
        state = at_rest(model)
        for _ in range(25):  # of 0.2 s, which bring it to rest
            assert step(model, state, clamped(model), 0.2, Settings(tolerance=1e-6)).converged
        ends[name] = state.x[:count] - model.X[:count]
    size = np.linalg.norm(ends["fine"])
    error, without = (np.linalg.norm(ends[name] - ends["fine"]) / size for name in ("hierarchical", "coarse"))
    assert np.abs(ends["fine"]).max() > 6.0  # as much as it is long
    assert error < 0.04 < 0.2 < without
