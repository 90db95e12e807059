# SPDX-License-Identifier: GPL-3.0-or-later
"""Forces between points of two tets in a step, against a dense solve of the same equation."""

import numpy as np
import pytest

from fixtures.tet_meshes import bar
from sinew.solver.constraints.external_forces import ExternalForces
from sinew.solver.constraints.pair_forces import PairForces
from sinew.solver.constraints.point_forces import PointForces
from sinew.solver.integrators.integrator_choice import step
from sinew.solver.linalg import coupled_rigid_modes
from sinew.solver.mechanics.model import Part, make_model
from sinew.solver.mechanics.state import State
from sinew.solver.runtime.threads.thread_count import set_thread_count, thread_count
from sinew.solver.scene.scene import Material, Settings

DT = 0.01
EXACT = Settings(tolerance=1.0e-13, max_iterations=20000)


def bodies(*places, cells=(2, 2, 2), stiff=(3.0e4,)):
    """Returns a model of boxes of 1 m, and a state in which they move."""
    X, tets = bar(cells, (1.0, 1.0, 1.0))
    parts = [
        Part(f"box {k}", X + place, tets, np.ones(len(tets)), Material(youngs_modulus=stiff[k % len(stiff)]))
        for k, place in enumerate(np.array(places, float))
    ]
    model = make_model(parts)
    random = np.random.default_rng(1)
    return model, State(model.X + 0.01 * random.normal(size=model.X.shape), random.normal(size=model.X.shape))


def random_pairs(model, count, between, seed=0, stiff=1.0e6):
    """Returns pairs of random points of two bodies."""
    random = np.random.default_rng(seed)
    tet, other = (random.integers(model.bodies[k].tets.start, model.bodies[k].tets.stop, count) for k in between)
    half = random.normal(size=(count, 3, 3))
    weights = random.uniform(-0.2, 1.0, size=(2, count, 4))
    weights /= weights.sum(axis=2, keepdims=True)
    return PairForces(
        tet.astype(np.int32), weights[0], other.astype(np.int32), weights[1], 1.0e2 * random.normal(size=(count, 3)),
        stiff * half @ half.transpose(0, 2, 1),
    )  # fmt: skip


def joined(*pairs):
    names = ("tet", "weights", "other", "other_weights", "force", "stiffness")
    return PairForces(*(np.concatenate([getattr(p, name) for p in pairs]) for name in names))


def coefficients(model, pairs):
    """The rows W of relative positions, (3k, 3n)."""
    W = np.zeros((len(pairs), model.node_count))
    for k in range(len(pairs)):
        np.add.at(W[k], model.tets[pairs.tet[k]], pairs.weights[k])
        np.add.at(W[k], model.tets[pairs.other[k]], -pairs.other_weights[k])
    return np.kron(W, np.eye(3))


def dense_step(model, state, outside):
    """v⁺ with pairs, by a dense solve: the equation without pairs is read off steps of unit impulses."""
    n, free = 3 * model.node_count, np.ones(model.node_count, bool)
    if outside.is_fixed is not None:
        free = ~outside.is_fixed
    A, b = system_of(model, state, outside)
    W, K = coefficients(model, outside.pairs), outside.pairs.stiffness
    stiff = np.zeros((3 * len(K), 3 * len(K)))
    for k in range(len(K)):
        stiff[3 * k : 3 * k + 3, 3 * k : 3 * k + 3] = K[k]
    A = A + DT**2 * W.T @ stiff @ W
    b = b + DT * W.T @ outside.pairs.force.ravel()
    v, free = np.zeros(n), np.repeat(free, 3)
    if outside.fixed_target is not None:
        v[~free] = ((outside.fixed_target - state.x) / DT).ravel()[~free]
    v[free] = np.linalg.solve(A[np.ix_(free, free)], b[free] - A[np.ix_(free, ~free)] @ v[~free])
    return v.reshape(-1, 3)


def system_of(model, state, outside):
    """A and b of the step without pairs, dense."""
    from sinew.solver.linalg.point_stiffness_assembly import add_point_terms
    from sinew.solver.mechanics.elements.corotational_element import MAX_RECORD_LENGTH, compute_corotational_records
    from sinew.solver.mechanics.elements.edge_assembly import assemble
    from sinew.solver.mechanics.elements.record_layout import element_arrays

    p, n = model.pattern, model.node_count
    records, values, force = (
        np.zeros((model.tet_count, MAX_RECORD_LENGTH)),
        np.zeros((p.block_count, 9)),
        np.zeros((n, 3)),
    )
    compute_corotational_records(state.x, element_arrays(model), records)
    assemble(DT * DT, DT, model.mass * (1.0 + DT * model.mass_damping), p, records, values, force)
    b = model.mass[:, None] * (state.v + DT * outside.gravity) + DT * force
    o = outside.points
    add_point_terms(DT, o.tet, o.weights, o.stiffness, o.damping, o.force, model.tets, p.corner_block, values, b)
    A = np.zeros((n, 3, n, 3))
    A[np.repeat(np.arange(n), np.diff(p.row_start.astype(int))), :, p.column, :] = values.reshape(-1, 3, 3)
    return A.reshape(3 * n, 3 * n), b.ravel()


GRAVITY = np.array([0.0, 0.0, -9.81])
ROW = [(0.0, 0.0, 0.0), (1.2, 0.0, 0.0), (2.4, 0.0, 0.0)]


def held(model, nodes):
    is_fixed = np.zeros(model.node_count, bool)
    is_fixed[nodes] = True
    return is_fixed


def springs(model, count=3):
    random = np.random.default_rng(3)
    tet = random.integers(0, model.tet_count, count).astype(np.int32)
    return PointForces(
        tet, np.full((count, 4), 0.25), random.normal(size=(count, 3)), np.tile(1.0e5 * np.eye(3), (count, 1, 1)),
        np.tile(10.0 * np.eye(3), (count, 1, 1)),
    )  # fmt: skip


@pytest.mark.parametrize("case", ["free", "held", "springs", "one held whole", "both held", "chain", "itself"])
def test_equals_a_dense_solve(case):
    model, state = bodies(*ROW[: 3 if case == "chain" else 2])
    pairs = random_pairs(model, 12, (0, 1))
    outside = ExternalForces(GRAVITY, pairs=pairs)
    if case in ("held", "one held whole"):
        outside.is_fixed = held(model, slice(0, 27) if case == "one held whole" else [0, 3, 30])
        outside.fixed_target = state.x + 0.01
    if case == "both held":
        outside.is_fixed = held(model, [0, 53])
        outside.fixed_target = state.x + 0.01
    if case == "springs":
        outside.points = springs(model)
    if case == "chain":
        outside.pairs = joined(pairs, random_pairs(model, 9, (2, 0), 4))
    if case == "itself":
        outside.pairs = random_pairs(model, 9, (1, 1), 4)
    expected = dense_step(model, state, outside)
    report = step(model, state, outside, DT, EXACT)
    assert np.abs(state.v - expected).max() < 1e-10 * np.abs(expected).max()
    assert report.residual < 1e-11


def momenta(model, x, v):
    p = model.mass[:, None] * v
    return np.concatenate([p.sum(axis=0), np.cross(x, p).sum(axis=0)])


def test_pairs_neither_make_nor_take_momentum_however_roughly_the_rest_is_solved():
    model, state = bodies(*ROW, stiff=(1.0e3, 1.0e7))
    # elastic forces do not turn bodies where these are at rest; pairs that pull at the same place do not either
    state.x[:] = model.X
    outside = ExternalForces(pairs=joined(random_pairs(model, 9, (0, 1)), random_pairs(model, 9, (1, 2), 1)))
    before = (model.mass[:, None] * state.v).sum(axis=0)
    step(model, state, outside, DT, Settings(tolerance=1.0e-4))
    after = (model.mass[:, None] * state.v).sum(axis=0)
    assert np.abs(after - before).max() < 1e-12 * np.abs(model.mass[:, None] * state.v).sum()


def test_what_is_reused_between_solves_changes_nothing():
    model, state = bodies(*ROW)
    every = joined(random_pairs(model, 9, (0, 1)), random_pairs(model, 9, (1, 2), 1))
    some = random_pairs(model, 9, (0, 1))
    results = []
    for before in (None, every):
        fresh, state = bodies(*ROW)
        if before is not None:
            step(fresh, State(state.x, state.v), ExternalForces(pairs=before), DT, Settings())
        step(fresh, state, ExternalForces(GRAVITY, pairs=some), DT, Settings())
        results.append(state.x.tobytes() + state.v.tobytes())
    assert results[0] == results[1]


def test_threads_change_no_bit():
    threads, results = thread_count(), []
    try:
        for count in (1, 2):
            set_thread_count(count)
            model, state = bodies(*ROW, cells=(7, 7, 7))
            outside = ExternalForces(
                GRAVITY, pairs=joined(random_pairs(model, 30, (0, 1)), random_pairs(model, 30, (1, 2)))
            )
            step(model, state, outside, DT, Settings())
            results.append(state.x.tobytes() + state.v.tobytes())
    finally:
        set_thread_count(threads)
    assert results[0] == results[1]


def test_momentum_stays_where_bodies_are_too_many_for_modes_of_their_own(monkeypatch):
    monkeypatch.setattr(coupled_rigid_modes, "MAX_FACTOR_WORK_PER_BLOCK", 0.0)
    monkeypatch.setattr(coupled_rigid_modes, "FACTOR_WORK_ALLOWANCE", 0.0)
    model, state = bodies(*ROW, stiff=(1.0e3, 1.0e7))
    state.x[:] = model.X
    pairs = joined(random_pairs(model, 9, (0, 1)), random_pairs(model, 9, (1, 2), 1))
    expected = dense_step(model, state, ExternalForces(pairs=pairs))
    fresh = State(state.x, state.v)
    before = (model.mass[:, None] * state.v).sum(axis=0)
    step(model, state, ExternalForces(pairs=pairs), DT, Settings(tolerance=1.0e-4))
    after = (model.mass[:, None] * state.v).sum(axis=0)
    assert np.abs(after - before).max() < 1e-12 * np.abs(model.mass[:, None] * state.v).sum()
    step(model, fresh, ExternalForces(pairs=pairs), DT, EXACT)
    assert np.abs(fresh.v - expected).max() < 1e-10 * np.abs(expected).max()
