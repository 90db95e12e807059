# SPDX-License-Identifier: GPL-3.0-or-later
"""The multigrid preconditioner against dense twins: lattices, Galerkin matrices, the V-cycle, and what it solves."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from fixtures.multigrid_problems import bar_problem, dense, jittered, made, stiffness, unpacked
from fixtures.tet_meshes import bar, lattice_bar
from sinew.solver.linalg.block_pattern import block_pattern
from sinew.solver.linalg.multigrid.coarse_solve import factor_coarsest, solve_coarsest
from sinew.solver.linalg.multigrid.cycle_schedule import (
    CHEBYSHEV_EIGENVALUE_RATIO,
    SINGLE_STEP_LEVELS,
    chebyshev_factors,
    jacobi_factor,
)
from sinew.solver.linalg.multigrid.hierarchy import build_hierarchy
from sinew.solver.linalg.multigrid.hierarchy_reuse import MultigridWorkspace
from sinew.solver.linalg.multigrid.lattice_coarsening import _prolongation, connected_parts, lattice_prolongations
from sinew.solver.linalg.multigrid.numeric_setup import numeric_setup, v_cycle
from sinew.solver.linalg.multigrid.product_pattern import SparseStructure, product_structure
from sinew.solver.linalg.multigrid.v_cycle import run_cycle


def dense_prolongation(prolongation):
    """Returns P of a `Prolongation` as a dense (3n, 3c)."""
    rows = np.repeat(np.arange(len(prolongation.start) - 1), np.diff(prolongation.start.astype(int)))
    P = np.zeros((len(prolongation.start) - 1, len(prolongation.part)))
    P[rows, prolongation.node] = prolongation.weight
    return np.kron(P, np.eye(3))


def held_out(A, is_free):
    """Returns A with rows and columns of held nodes those of the unit matrix."""
    keep = np.repeat(is_free, 3)
    return np.where(keep[:, None] & keep[None], A, 0.0) + np.diag(1.0 - keep)


def test_weights_hand_down_linear_motions_exactly_and_stay_in_their_part():
    lots = np.random.default_rng(3)
    place, part = lots.uniform(0.0, 5.0, (400, 3)), np.repeat([0, 1], 200)
    level, cell, above = _prolongation(place, part)
    P = dense_prolongation(level)[::3, ::3]
    np.testing.assert_allclose(P.sum(axis=1), 1.0, rtol=1e-14)
    assert (level.weight > 0.0).all() and np.diff(level.start.astype(int)).max() == 4
    np.testing.assert_allclose(P @ cell, place, atol=1e-4)  # weights below 1e-5 count as none
    assert (above[level.node] == np.repeat(part, np.diff(level.start.astype(int)))).all()
    # a lattice in the next: halfway along an edge of Kuhn's tets, so on two nodes
    level, cell, _ = _prolongation(0.5 * cell, above)
    assert np.diff(level.start.astype(int)).max() == 2
    half = 0.5 * np.unique(np.column_stack([above, _prolongation(place, part)[1]]), axis=0)[:, 1:]
    np.testing.assert_array_equal(dense_prolongation(level)[::3, ::3] @ cell, half)


def test_parts_of_a_mesh_are_those_of_its_graph():
    X, tets = jittered(bar, (2, 2, 3))
    count = len(X)
    # two bars whose nodes lie among each other, and a node without tets between
    numbers = np.random.default_rng(2).permutation(2 * count + 1)
    both = np.concatenate([X, 2.0 * X + 9.0, [[1.0, 2.0, 3.0]]])[np.argsort(numbers)]
    pattern = block_pattern(numbers[np.concatenate([tets, tets + count])].astype(np.int32), len(both))
    part, low, high, length = connected_parts(both, pattern)
    graph = csr_matrix((np.ones(pattern.block_count), pattern.column.astype(int), pattern.row_start.astype(int)))
    assert np.array_equal(part, connected_components(graph)[1]) and len(length) == 3
    rows = np.repeat(np.arange(len(both)), np.diff(pattern.row_start.astype(int)))
    apart = np.linalg.norm(both[rows] - both[pattern.column], axis=1)
    for k in range(3):
        own, edges = both[part == k], apart[(part[rows] == k) & (apart > 0.0)]
        assert np.array_equal(low[k], own.min(axis=0)) and np.array_equal(high[k], own.max(axis=0))
        assert length[k] == pytest.approx(edges.mean() if len(edges) else 0.0)


def test_product_finds_every_entry_once_and_where_its_terms_go():
    lots = np.random.default_rng(4)
    A, B = lots.random((7, 9)) < 0.3, lots.random((9, 5)) < 0.4
    A[3] = False
    starts = [np.concatenate([[0], np.cumsum(M.sum(axis=1))]).astype(np.uint32) for M in (A, B)]
    columns = [np.nonzero(M)[1].astype(np.uint32) for M in (A, B)]
    is_mesh = [lots.random(len(column)) < 0.7 for column in columns]
    C = product_structure(*(SparseStructure(*each) for each in zip(starts, columns, is_mesh, strict=True)), 5)
    found, term = np.zeros((7, 5), int), 0
    A_mesh, B_mesh = A.astype(int), B.astype(int)
    A_mesh[A], B_mesh[B] = is_mesh
    of_mesh = A_mesh @ B_mesh > 0
    for i in range(7):
        assert C.slot_start[i] == term
        mine = C.column[C.start[i] : C.start[i + 1]]
        assert len(set(mine)) == len(mine)
        np.testing.assert_array_equal(C.is_mesh[C.start[i] : C.start[i + 1]], of_mesh[i, mine])
        for j in np.nonzero(A[i])[0]:
            for k in np.nonzero(B[j])[0]:
                assert mine[C.slot[term]] == k
                found[i, k] += 1
                term += 1
    np.testing.assert_array_equal(found, A.astype(int) @ B.astype(int))
    assert len(C.slot) == term


def stored_rows(made, first, end):
    """Returns the matrix of the level whose rows these are, as the smoother reads it."""
    work, start = made.work, made.hierarchy.quad_start[first : end + 1]
    return unpacked(work.quads, work.unit[first:end], start, end)[:, 3 * first :]


@pytest.mark.parametrize("mesh", [bar, lattice_bar])
def test_coarse_matrices_are_galerkins(mesh):
    model, values, is_free = bar_problem((3, 3, 14), mesh=mesh)
    p = model.pattern
    hierarchy = build_hierarchy(p, model.X)
    prolongations = lattice_prolongations(model.X, p)
    assert hierarchy.coarsest == len(prolongations) >= 2
    made = numeric_setup(hierarchy, p, values, is_free, MultigridWorkspace())
    A = dense(p.row_start, p.column, values)
    first, lowest = 0, hierarchy.all_start[hierarchy.level_start[1]]
    for level, each in enumerate(prolongations):
        P = dense_prolongation(each)
        if level == 0:
            P *= np.repeat(is_free, 3)[:, None]
        n = len(P) // 3
        if level > 0:
            start = hierarchy.all_start[first : first + n + 1]
            column = hierarchy.all_column[start[0] : start[-1]] - np.uint32(first)
            own = dense(start - start[0], column, made.work.above[start[0] - lowest : start[-1] - lowest])
            np.testing.assert_allclose(own, A, atol=1e-13 * np.abs(A).max())
        stored = stored_rows(made, first, first + n)
        scaled = made.work.scale[0] * A
        np.testing.assert_allclose(stored, scaled, atol=2.0**-11 * np.abs(scaled).max())
        A = P.T @ A @ P
        first += n
    # the coarsest one is seen by what its factors solve
    last = hierarchy.level_start[-2]
    r, x = np.zeros_like(made.work.r), np.zeros_like(made.work.x)
    r[last:] = np.random.default_rng(5).normal(size=r[last:].shape)
    solve_coarsest(hierarchy.part_start, last, hierarchy.factors_start, made.work.factors, r, np.empty(len(A)), x)
    np.testing.assert_allclose(made.work.scale[0] * A @ x[last:-1].ravel(), r[last:].ravel(), atol=1e-4)


def test_factors_leave_out_what_hangs_on_the_rest():
    lots = np.random.default_rng(6)
    half = lots.normal(size=(9, 12))
    A = half.T @ half  # rank 9 of 12
    pattern = block_pattern(np.array([[0, 1, 2, 3]], np.int32), 4)
    values = A.reshape(4, 3, 4, 3).transpose(0, 2, 1, 3).reshape(16, 9).copy()
    part, starts, factors = np.array([0, 4]), np.array([0, 144]), np.empty(144)
    given = (pattern.row_start, pattern.column, pattern.diagonal, values, np.ones(1), starts, factors)
    factor_coarsest(part, 0, 0, *given)
    assert (np.diag(factors.reshape(12, 12)) > 0.0).sum() == 9
    r, x = (A @ lots.normal(size=12)).reshape(4, 3).astype(np.float32), np.zeros((4, 3), np.float32)
    solve_coarsest(part, 0, starts, factors, r, np.empty(12), x)
    np.testing.assert_allclose(A @ x.ravel(), r.ravel(), atol=2e-4 * np.abs(r).max())


def test_chebyshev_keeps_to_its_bound_between_its_ends():
    c, a, b = chebyshev_factors(3.0)
    for t in np.linspace(3.0 / CHEBYSHEV_EIGENVALUE_RATIO, 3.0, 50):
        first = c  # after d = c D⁻¹ r, for an eigenvalue t
        x = first + a * first + b * (1.0 - t * first)
        middle = (CHEBYSHEV_EIGENVALUE_RATIO + 1.0) / (CHEBYSHEV_EIGENVALUE_RATIO - 1.0)
        assert abs(1.0 - t * x) <= 1.0 / (2.0 * middle**2 - 1.0) + 1e-12
    np.testing.assert_allclose(1.0 - 3.0 * x, 1.0 / (2.0 * middle**2 - 1.0), rtol=1e-12)


def test_a_single_step_is_as_good_at_one_end_as_at_the_other():
    c = jacobi_factor(3.0)
    np.testing.assert_allclose(1.0 - 3.0 / CHEBYSHEV_EIGENVALUE_RATIO * c, 3.0 * c - 1.0, rtol=1e-12)


@pytest.mark.parametrize("nu", [0.0, 0.3, 0.49])
@pytest.mark.parametrize("mesh", [bar, lattice_bar])
def test_the_smoother_knows_the_largest_eigenvalue(mesh, nu):
    """A little too small would do no harm: Chebyshev's polynomial stays below one a while beyond its end."""
    model, values, is_free = bar_problem((2, 3, 14), nu, mesh)
    p = model.pattern
    hierarchy = build_hierarchy(p, model.X)
    made = numeric_setup(hierarchy, p, values, is_free, MultigridWorkspace())
    A = held_out(dense(p.row_start, p.column, values), is_free)
    P = dense_prolongation(lattice_prolongations(model.X, p)[0]) * np.repeat(is_free, 3)[:, None]
    for matrix, largest in zip((A, P.T @ A @ P), made.work.largest, strict=False):
        true = largest_eigenvalue(matrix)
        assert 0.95 * true < largest < 2.5 * true and (true <= 4.0 or matrix is not A)


@pytest.mark.slow
@pytest.mark.parametrize("flat", [0.1, 0.01, 0.001])
def test_the_smoother_sees_a_single_flat_tet(flat):
    """Whose eigenvalue may be far above all others: by the length of the whole vector it would be missed."""
    model, values, is_free = bar_problem((5, 5, 24))
    X, tets = model.X.copy(), model.tets
    node = int(np.argmin(np.linalg.norm(X - X.mean(axis=0), axis=1)))
    tet = next(tet for tet in tets if node in tet)
    a, b, c = X[tet[tet != node]]
    normal = np.cross(b - a, c - a)
    X[node] -= (1.0 - flat) * ((X[node] - a) @ normal) / (normal @ normal) * normal
    model = made([(X, tets)])
    values, p = stiffness(model, mass=1e-6), model.pattern
    found = numeric_setup(build_hierarchy(p, X), p, values, is_free, MultigridWorkspace()).work.largest[0]
    A = held_out(dense(p.row_start, p.column, values), is_free)
    assert CHEBYSHEV_EIGENVALUE_RATIO / (CHEBYSHEV_EIGENVALUE_RATIO + 1.0) < found / largest_eigenvalue(A) < 1.3


def largest_eigenvalue(A):
    """Returns that of D⁻¹ A, D being the diagonal blocks of A, by Rayleigh's quotient after many steps."""
    D = A * np.kron(np.eye(len(A) // 3), np.ones((3, 3))) + np.diag(np.diag(A) == 0.0)
    step, x = np.linalg.inv(D) @ A, np.random.default_rng(0).normal(size=len(A))
    for _ in range(300):
        x = step @ x
        x /= np.abs(x).max()
    return (x @ A @ x) / (x @ D @ x)


def slow_cycle(matrices, stored, prolongations, largest, r, level=0):
    """Returns the result of a V-cycle by dense matrices in 64 bits, smoothed with those that are stored in fewer."""
    A = matrices[0]
    if len(matrices) == 1:
        return np.linalg.solve(A, r)
    D = np.zeros_like(A)
    for i in range(0, len(A), 3):
        block = A[i : i + 3, i : i + 3]
        D[i : i + 3, i : i + 3] = np.linalg.inv(block) if block.any() else 0.0
    A = stored[0]
    c, a, b = (jacobi_factor(largest[0]), 0.0, 0.0) if level < SINGLE_STEP_LEVELS else chebyshev_factors(largest[0])

    def smoothed(x):
        d = c * D @ (r - A @ x)
        x = x + d
        return x + a * d + b * D @ (r - A @ x)

    x = smoothed(np.zeros_like(r))
    P = prolongations[0]
    below = (matrices[1:], stored[1:], prolongations[1:], largest[1:])
    x = x + P @ slow_cycle(*below, P.T @ (r - A @ x), level + 1)
    return smoothed(x)


@pytest.mark.parametrize("nu", [0.3, 0.49])
def test_a_cycle_is_its_dense_twin_symmetric_and_positive(nu):
    model, values, is_free = bar_problem((2, 3, 8), nu)
    p = model.pattern
    hierarchy = build_hierarchy(p, model.X)
    made = numeric_setup(hierarchy, p, values, is_free, MultigridWorkspace())
    keep = np.repeat(is_free, 3)
    matrices = [np.where(keep[:, None] & keep, made.work.scale[0] * dense(p.row_start, p.column, values), 0.0)]
    prolongations = [dense_prolongation(each) for each in lattice_prolongations(model.X, p)]
    prolongations[0] *= keep[:, None]
    for P in prolongations:
        matrices.append(P.T @ matrices[-1] @ P)
    stored = []
    for first, end in itertools.pairwise(hierarchy.level_start[:-1]):
        stored.append(stored_rows(made, first, end))
    # what hangs on nothing but held nodes, or on the rest, is solved to zero
    matrices[-1] += 1e-9 * np.diag(np.diag(matrices[-1])) + np.diag(np.diag(matrices[-1]) == 0.0)
    n = len(keep)
    fast, slow = np.zeros((2, n, n))
    for k in np.flatnonzero(keep):
        unit = np.eye(1, n, k)[0]
        made.work.r[: n // 3] = unit.reshape(-1, 3)
        run_cycle(v_cycle(made))
        fast[:, k] = made.work.x[: n // 3].ravel()
        slow[:, k] = slow_cycle(matrices, stored, prolongations, made.work.largest, unit)
    assert not fast[~keep].any()
    M, twin = fast[keep][:, keep], slow[keep][:, keep]
    np.testing.assert_allclose(M, twin, atol=1e-4 * np.abs(twin).max())
    np.testing.assert_allclose(M, M.T, atol=2e-3 * np.abs(M).max())  # as far as 16 bits are
    eigenvalues = np.linalg.eigvals(M @ matrices[0][keep][:, keep])
    assert eigenvalues.real.min() > 0.015 and eigenvalues.real.max() < 1.01
