# SPDX-License-Identifier: GPL-3.0-or-later
"""Hard bindings: the map W against dense products, and steps of every scheme against what W says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.block_systems import dense, islands, spread
from fixtures.bound_bodies import PLAIN, bound_boxes, bound_model, kuhn_with_t_junctions
from fixtures.flesh_dynamics import flesh_of
from fixtures.tet_meshes import bar
from sinew.solver.constraints.bindings.hard_bindings import (
    BindingTarget,
    HardBinding,
    bind_nodes,
    effective_masses,
    flatten_bindings,
    point_of_rigid_core,
    point_of_simplex,
)
from sinew.solver.constraints.external_forces import ExternalForces
from sinew.solver.integrators.integrator_choice import step
from sinew.solver.integrators.step_input import StepOptions
from sinew.solver.linalg.bound_node_elimination import eliminate
from sinew.solver.linalg.bound_nodes import BoundNodes
from sinew.solver.mechanics.model import Model, Part, make_model
from sinew.solver.mechanics.rigid_core import RigidCore
from sinew.solver.mechanics.state import State
from sinew.solver.runtime.arrays import Floats
from sinew.solver.runtime.errors import BadInput
from sinew.solver.scene.formulation import FormulationSettings
from sinew.solver.scene.scene import Settings
from test_pair_forces_in_step import system_of

DT = 0.01
EXACT = Settings(tolerance=1.0e-12, max_iterations=20000)
SPIN = np.array([0.7, -0.4, 1.1])
GRAVITY = np.array([0.3, 0.1, -9.81])


def target(nodes: list[int], weights: list[float]) -> BindingTarget:
    return BindingTarget(np.array(nodes, np.int32), np.array(weights))


def named(node: int) -> str:
    return f"point {node}"


def dense_map(bound: BoundNodes, count: int) -> Floats:
    """Returns W over all nodes, (n, n): an unbound node is its own parent."""
    W = np.eye(count)
    for row, node in enumerate(bound.nodes):
        W[node] = 0.0
        for entry in range(bound.start[row], bound.start[row + 1]):
            W[node, bound.parents[entry]] = bound.weights[entry]
    return W


def chain_of_all_kinds() -> BoundNodes:
    """A node, an edge, a triangle, a tet, and points bound to bound points, in no order."""
    found = flatten_bindings(
        [
            HardBinding(9, target([7, 8], [0.25, 0.75])),
            HardBinding(7, target([0], [1.0])),
            HardBinding(8, target([1, 2], [0.4, 0.6])),
            HardBinding(6, target([9, 3, 4], [0.5, 0.2, 0.3])),
            HardBinding(5, target([0, 1, 2, 6], [0.1, -0.2, 0.4, 0.7])),
        ],
        named,
    )
    assert found is not None
    return found


def test_chains_are_multiplied_out_to_parents_that_are_free() -> None:
    bound = chain_of_all_kinds()
    assert bound.nodes.tolist() == [5, 6, 7, 8, 9]
    assert not np.isin(bound.parents, bound.nodes).any()
    once = np.eye(10)
    for node, nodes, weights in (
        (9, [7, 8], [0.25, 0.75]), (7, [0], [1.0]), (8, [1, 2], [0.4, 0.6]), (6, [9, 3, 4], [0.5, 0.2, 0.3]),
        (5, [0, 1, 2, 6], [0.1, -0.2, 0.4, 0.7]),
    ):  # fmt: skip
        once[node] = 0.0
        once[node, nodes] = weights
    assert dense_map(bound, 10) == pytest.approx(np.linalg.matrix_power(once, 4), abs=1e-15)


def test_values_and_forces_go_through_the_map_as_dense_products_say() -> None:
    bound, random = chain_of_all_kinds(), np.random.default_rng(0)
    W, free = dense_map(bound, 10), ~bound.is_bound(10)
    x, f = random.normal(size=(2, 10, 3))
    moved, given = x.copy(), f.copy()
    bound.interpolate(moved)
    bound.hand_down(given)
    assert moved == pytest.approx(W @ np.where(free[:, None], x, 0.0), abs=1e-14)
    assert given == pytest.approx(np.where(free[:, None], W.T @ f, 0.0), abs=1e-14)
    # virtual work: f on all nodes does what Wᵀf does on the parents
    assert np.sum(f * moved) == pytest.approx(np.sum(given * x), rel=1e-13)


def test_effective_mass_is_force_over_acceleration() -> None:
    bound = chain_of_all_kinds()
    mass = np.random.default_rng(1).uniform(0.5, 2.0, 10)
    W = dense_map(bound, 10)[bound.nodes] * ~bound.is_bound(10)
    assert bound.effective_mass(mass) == pytest.approx(1.0 / np.einsum("bn,bn,n->b", W, W, 1.0 / mass), rel=1e-13)


def test_the_reduced_matrix_is_that_of_numpy_and_stays_symmetric_and_definite() -> None:
    _, tets = bar((2, 1, 1), (1.0, 1.0, 1.0))
    pattern = islands(2, tets)
    count = pattern.node_count
    half = count // 2
    values = spread(pattern, 3)
    values[pattern.diagonal] += 0.5 * np.eye(3).ravel()
    bound = flatten_bindings(
        [
            HardBinding(half + 1, target([0, 1, 4, 5], [0.3, 0.3, 0.6, -0.2])),
            HardBinding(half + 2, target([half + 1, 3], [0.5, 0.5])),
            HardBinding(2, target([0, 1], [0.5, 0.5])),
        ],
        named,
    )
    assert bound is not None
    found = eliminate(pattern, bound)
    reduced = dense(found.pattern, found.reduce(values))
    A, W = dense(pattern, values), np.kron(dense_map(bound, count), np.eye(3))
    free = np.repeat(~bound.is_bound(count), 3)
    wanted = (W.T @ A @ W)[np.ix_(free, free)]
    assert reduced[np.ix_(free, free)] == pytest.approx(wanted, abs=1e-12)
    assert not reduced[np.ix_(free, ~free)].any() and not reduced[np.ix_(~free, free)].any()
    assert np.abs(reduced - reduced.T).max() < 1e-14 * np.abs(reduced).max()
    assert np.linalg.eigvalsh(reduced[np.ix_(free, free)]).min() > 0.0
    assert found.pattern.coupling is not None and found.pattern.coupling.is_coupled().all()


def test_a_circle_and_a_point_bound_twice_are_named() -> None:
    with pytest.raises(BadInput, match='"point 1" → "point 3" → "point 2" → "point 1"'):
        flatten_bindings(
            [HardBinding(1, target([3, 0], [0.5, 0.5])), HardBinding(3, target([2], [1.0])),
             HardBinding(2, target([0, 1], [0.5, 0.5]))],
            named,
        )  # fmt: skip
    with pytest.raises(BadInput, match='"point 1" → "point 1"'):
        flatten_bindings([HardBinding(1, target([1, 0], [0.5, 0.5]))], named)
    with pytest.raises(BadInput, match='"point 4" is bound to two places'):
        flatten_bindings([HardBinding(4, target([0], [1.0])), HardBinding(4, target([1], [1.0]))], named)


def test_points_of_simplices_have_weights_that_reproduce_them() -> None:
    random = np.random.default_rng(2)
    corners = random.normal(size=(4, 3))
    for count in (1, 2, 3, 4):
        wanted = random.dirichlet(np.ones(count)) @ corners[:count]
        found = point_of_simplex(corners[:count], np.arange(count), wanted)
        assert found.weights.sum() == pytest.approx(1.0, abs=1e-14)
        assert found.weights @ corners[:count] == pytest.approx(wanted, abs=1e-12)
    with pytest.raises(BadInput, match="in a plane"):
        point_of_simplex(np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]), np.arange(4), np.ones(3))


def test_weights_beside_a_rigid_core_move_as_its_frame_does() -> None:
    random = np.random.default_rng(3)
    x = random.normal(size=(12, 3))
    core = RigidCore(np.arange(2, 11, dtype=np.int32), np.zeros(0, np.int32))
    point = np.array([2.0, -1.0, 0.5])
    tets = np.array([[0, 1, 2, 3], [2, 3, 4, 5]], np.int32)
    for own in (core, RigidCore(core.nodes, np.array([1], np.int32))):
        found = point_of_rigid_core(own, x, tets, point)
        assert np.isin(found.nodes, core.nodes).all()
        V, omega = random.normal(size=(2, 3))
        moved = found.weights @ (V + np.cross(omega, x[found.nodes]))
        assert moved == pytest.approx(V + np.cross(omega, point), abs=1e-12)


@pytest.mark.parametrize("case", ["free", "held"])
def test_a_step_is_that_of_a_dense_solve_for_the_parents(case: str) -> None:
    model, state = bound_boxes(shake=0.01)
    outside = ExternalForces(GRAVITY)
    if case == "held":
        outside.is_fixed = np.zeros(model.node_count, bool)
        outside.is_fixed[[0, 3]] = True
        outside.fixed_target = state.x + 0.01
    A, b = system_of(model, state, outside)
    W = np.kron(dense_map(model.bound, model.node_count), np.eye(3))
    free = ~model.bound.is_bound(model.node_count)
    if outside.is_fixed is not None:
        free &= ~outside.is_fixed
    free = np.repeat(free, 3)
    v = np.zeros(3 * model.node_count)
    if outside.is_fixed is not None:
        v[np.repeat(outside.is_fixed, 3)] = 0.01 / DT
    A, b = W.T @ A @ W, W.T @ b
    v[free] = np.linalg.solve(A[np.ix_(free, free)], b[free] - A[np.ix_(free, ~free)] @ v[~free])
    expected = (W @ v).reshape(-1, 3)
    report = step(model, state, outside, DT, EXACT)
    assert report.converged
    assert state.v == pytest.approx(expected, abs=1e-9 * np.abs(expected).max())


def is_bound_exactly(model: Model, state: State) -> bool:
    x, v = state.x.copy(), state.v.copy()
    model.bound.interpolate(x)
    model.bound.interpolate(v)
    return bool(np.abs(x - state.x).max() < 1e-15 and np.abs(v - state.v).max() < 1e-15)


SCHEMES = {
    "Polar": FormulationSettings(),
    "QR": FormulationSettings("qr"),
    "QR without a matrix": FormulationSettings("qr", is_matrix_free=True),
    "Green": FormulationSettings("green"),
    "Hybrid": FormulationSettings("hybrid"),
    "BDF2": FormulationSettings(scheme="bdf2"),
}
FLESH = {"flesh": "euler", "flesh with averages": "euler", "Newmark": "newmark", "damped Newmark": "newmark"}


def options_of(model: Model, scheme: str) -> StepOptions:
    if scheme not in FLESH:
        return StepOptions()
    return StepOptions(flesh=flesh_of(model, FLESH[scheme], average=scheme == "flesh with averages"))


@pytest.mark.parametrize("scheme", [*SCHEMES, *FLESH])
def test_momentum_stays_and_bound_points_stay_where_their_parents_say(scheme: str) -> None:
    model, state = bound_boxes(shake=0.01, method=SCHEMES.get(scheme, FormulationSettings()))
    if scheme.startswith("damped"):
        model = replace(model, stiffness_damping=np.full(model.tet_count, 0.01))
    options = options_of(model, scheme)
    before, size = model.mass @ state.v, np.sum(model.mass[:, None] * np.abs(state.v))
    dt = 0.25 * DT
    for _ in range(8):
        report = step(model, state, ExternalForces(), dt, EXACT, options=options)
        assert report.converged, report.residual
        assert is_bound_exactly(model, state)
    assert np.abs(model.mass @ state.v - before).max() < 1e-9 * size


def test_forces_handed_down_keep_their_torque() -> None:
    model, state = bound_boxes(shake=0.01)
    f = np.random.default_rng(4).normal(size=state.x.shape)
    force, torque = f.sum(axis=0), np.cross(state.x, f).sum(axis=0)
    model.bound.hand_down(f)
    assert f.sum(axis=0) == pytest.approx(force, abs=1e-12)
    assert np.cross(state.x, f).sum(axis=0) == pytest.approx(torque, abs=1e-12)


@pytest.mark.parametrize("is_matrix_free", [False, True])
def test_angular_momentum_stays_where_the_elements_keep_it(is_matrix_free: bool) -> None:
    """QR elements are the ones whose steps keep it to round-off; with others it changes as without bindings."""
    model, state = bound_boxes(shake=0.01, method=FormulationSettings("qr", is_matrix_free=is_matrix_free))
    size = float(model.mass @ np.linalg.norm(np.cross(state.x, state.v), axis=1))
    before = model.mass @ np.cross(state.x, state.v)
    for _ in range(8):
        assert step(model, state, ExternalForces(), 0.25 * DT, EXACT).converged
    assert np.abs(model.mass @ np.cross(state.x, state.v) - before).max() < 1e-9 * size


@pytest.mark.parametrize("scheme", [*SCHEMES, *FLESH])
def test_a_body_at_rest_in_free_fall_is_not_strained_by_what_is_bound_to_it(scheme: str) -> None:
    model, state = bound_boxes(method=SCHEMES.get(scheme, FormulationSettings()))
    options, dt = options_of(model, scheme), 0.25 * DT
    for _ in range(4):
        assert step(model, state, ExternalForces(GRAVITY), dt, EXACT, options=options).converged
    moved = state.x - model.X
    assert np.abs(moved - moved[0]).max() < 1e-10
    assert np.linalg.norm(moved[0]) > 1e-4


def test_a_rotated_rest_shape_feels_nothing_through_a_binding() -> None:
    model, state = bound_boxes()
    c, s = np.cos(0.6), np.sin(0.6)
    state.x = model.X @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]).T + [0.1, 0.2, 0.3]
    before = state.x.copy()
    assert step(model, state, ExternalForces(), DT, EXACT).converged
    assert np.abs(state.x - before).max() < 1e-10


@pytest.mark.parametrize("scheme", ["Polar", "Green", "flesh"])
def test_a_mesh_with_t_junctions_passes_the_patch_test(scheme: str) -> None:
    """A uniform strain at the boundary gives the same strain inside, although fine tets meet coarse ones."""
    model = kuhn_with_t_junctions(SCHEMES.get(scheme, FormulationSettings()))
    F = np.eye(3) + 0.02 * np.random.default_rng(5).normal(size=(3, 3))
    low, high = model.X.min(axis=0), model.X.max(axis=0)
    on_boundary = ((model.X < low + 1e-9) | (model.X > high - 1e-9)).any(axis=1)
    is_bound = model.bound.is_bound(model.node_count)
    assert (is_bound & ~on_boundary).any() and (~is_bound & ~on_boundary).any()
    wanted = model.X @ F.T
    state = State(model.X + 0.0, np.zeros_like(model.X))
    state.x = np.where(on_boundary[:, None], wanted, model.X)
    model.bound.interpolate(state.x)
    outside = ExternalForces(is_fixed=on_boundary & ~is_bound, fixed_target=wanted)
    for _ in range(60):
        state.v[:] = 0.0
        step(model, state, outside, 1.0e3, Settings(tolerance=1e-13, max_iterations=20000),
             options=options_of(model, scheme))  # fmt: skip
    assert np.abs(state.x - wanted).max() < 1e-10


@pytest.mark.parametrize("linear_solver", ["jacobi", "multigrid", "auto"])
def test_every_preconditioner_solves_for_parents_alone(linear_solver: str) -> None:
    model = kuhn_with_t_junctions(FormulationSettings(), cells=4)
    state = State(model.X.copy(), np.random.default_rng(1).normal(size=model.X.shape))
    model.bound.interpolate(state.v)
    other = State(state.x.copy(), state.v.copy())
    exact = Settings(tolerance=1e-12, max_iterations=20000, linear_solver="jacobi")
    assert step(model, other, ExternalForces(GRAVITY), DT, exact).converged
    settings = Settings(tolerance=1e-8, max_iterations=20000, linear_solver=linear_solver)
    assert step(model, state, ExternalForces(GRAVITY), DT, settings).converged
    assert np.abs(state.v - other.v).max() < 1e-5 * np.abs(other.v).max()


def test_masses_weights_and_drag_are_handed_down() -> None:
    unbound = bound_model(is_bound=False)
    model = bound_model()
    assert model.mass.sum() == pytest.approx(unbound.mass.sum(), rel=1e-14)
    assert not model.mass[model.bound.nodes].any()
    assert model.mass @ model.gravity_scale == pytest.approx(unbound.mass @ unbound.gravity_scale, rel=1e-13)
    assert (model.mass_damping >= 0.0).all()
    assert model.mass @ model.mass_damping == pytest.approx(unbound.mass @ unbound.mass_damping, rel=0.01)
    # the masses of bound nodes are where they are: centres of mass stay
    assert model.mass @ model.X == pytest.approx(unbound.mass @ model.X, abs=1e-12)
    masses = effective_masses(model)
    assert (masses[model.bound.nodes] > 0.0).all()
    far = flatten_bindings([HardBinding(int(model.node_count - 1), target([0, 1], [-40.0, 41.0]))], named)
    with pytest.raises(BadInput, match="so far outside"):
        bind_nodes(unbound, far, named)


@pytest.mark.slow
def test_a_core_and_what_is_bound_to_it_move_as_one_rigid_body() -> None:
    X, tets = bar((2, 2, 2), (1.0, 1.0, 1.0))
    everything = RigidCore(np.arange(len(X), dtype=np.int32), np.arange(len(tets), dtype=np.int32))
    parts = [
        Part("rigid", X, tets, np.ones(len(tets)), PLAIN, core=everything, method=FormulationSettings("qr")),
        Part("soft", X + [1.0, 0.0, 0.0], tets, np.ones(len(tets)), PLAIN, method=FormulationSettings("qr")),
    ]
    model = make_model(parts)
    own = len(X) + np.flatnonzero(X[:, 0] < 1e-9)
    bindings = [HardBinding(int(i), point_of_rigid_core(model.cores[0], model.X, model.tets, model.X[i])) for i in own]
    model = bind_nodes(model, flatten_bindings(bindings, named), named)
    state = State(model.X.copy(), np.zeros_like(model.X))
    state.v[:, 2] = model.X[:, 0]  # the soft one swings up
    model.bound.interpolate(state.v)
    before, spin = model.mass @ state.v, model.mass @ np.cross(state.x, state.v)
    for _ in range(20):
        assert step(model, state, ExternalForces(), DT, EXACT).converged
        assert is_bound_exactly(model, state)
    assert np.abs(model.mass @ state.v - before).max() < 1e-9 * np.abs(before).max()
    assert np.abs(model.mass @ np.cross(state.x, state.v) - spin).max() < 1e-9 * np.abs(spin).max()
    rigid = np.concatenate([everything.nodes, own])
    apart = [np.linalg.norm(y[rigid][:, None] - y[rigid][None], axis=2) for y in (model.X, state.x)]
    assert np.abs(apart[0] - apart[1]).max() < 1e-10
    assert np.linalg.norm(state.x[own[0]] - model.X[own[0]]) > 1e-3


def test_bound_nodes_without_parents_elsewhere_and_at_rest_are_named() -> None:
    bound = BoundNodes(np.array([2], np.int32), np.array([0, 2], np.int32), np.array([0, 1], np.int32), np.full(2, 0.5))
    with pytest.raises(BadInput) as caught:
        bound.renumbered(np.array([0, -1, 1], np.int32))
    assert caught.value.kind == "bound-by-two-schemes"
