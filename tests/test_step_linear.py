# SPDX-License-Identifier: GPL-3.0-or-later
"""The sparse system: its pattern, springs on points, and conjugate gradients against a direct solve."""

import numba
import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg

from fixtures.tet_meshes import bar
from sinew.solver.linalg.block_pattern import block_pattern
from sinew.solver.linalg.block_system import BlockSystem, StoppingCriteria
from sinew.solver.linalg.pcg import solve
from sinew.solver.linalg.point_stiffness_assembly import add_point_terms
from sinew.solver.linalg.rigid_modes import rigid_modes
from sinew.solver.runtime.threads.thread_count import set_thread_count, thread_count


def random_system(cells=(3, 3, 4), seed=0):
    """A symmetric positive definite matrix on the pattern of a bar, as blocks and as SciPy matrix, and b."""
    random = np.random.default_rng(seed)
    nodes, tets = bar(cells, (1.0, 1.0, 1.0))
    n = len(nodes)
    pattern = block_pattern(tets, n)
    values = np.zeros((pattern.block_count, 9))
    for tet in range(len(tets)):
        half = random.normal(size=(12, 12)) * 10.0 ** random.uniform(-1, 1)
        blocks = (half @ half.T).reshape(4, 3, 4, 3).transpose(0, 2, 1, 3).reshape(4, 4, 9)
        for a in range(4):
            np.add.at(values, pattern.corner_block[4 * tet + a], blocks[a])
    shape = (3 * n, 3 * n)
    matrix = scipy.sparse.bsr_matrix((values.reshape(-1, 3, 3), pattern.column, pattern.row_start), shape).tocsc()
    return pattern, values, matrix, random.normal(size=(n, 3))


def test_pattern_is_that_of_the_slow_twin():
    nodes, tets = bar((2, 3, 2), (1.0, 1.0, 1.0))
    n = len(nodes) + 1  # one more, in no tet
    pattern = block_pattern(tets, n)
    joined = [sorted({i} | {int(j) for tet in tets if i in tet for j in tet}) for i in range(n)]
    for i in range(n):
        assert list(pattern.column[pattern.row_start[i] : pattern.row_start[i + 1]]) == joined[i]
        assert pattern.column[pattern.diagonal[i]] == i
        corners = pattern.corners[pattern.corner_start[i] : pattern.corner_start[i + 1]]
        assert list(corners) == [4 * t + a for t in range(len(tets)) for a in range(4) if tets[t, a] == i]
        for corner in corners:
            blocks = pattern.corner_block[corner]
            assert (blocks >= pattern.row_start[i]).all() and (blocks < pattern.row_start[i + 1]).all()
            assert (pattern.column[blocks] == tets[corner // 4]).all()
    assert pattern.chunk_start[-1] == n and (np.diff(pattern.chunk_start.astype(int)) > 0).all()


def test_equals_a_direct_solve():
    pattern, values, matrix, b = random_system()
    x = np.zeros_like(b)
    solved = solve(BlockSystem(pattern, values, b, np.ones(len(b), bool)), x, StoppingCriteria(1e-12, 5000))
    expected = scipy.sparse.linalg.spsolve(matrix, b.ravel()).reshape(-1, 3)
    assert solved.converged and solved.iterations > 10
    assert np.abs(x - expected).max() < 1e-9 * np.abs(expected).max()


def test_equals_a_direct_solve_with_held_nodes():
    pattern, values, matrix, b = random_system(seed=1)
    random = np.random.default_rng(2)
    is_free = random.random(len(b)) > 0.2
    x = random.normal(size=b.shape)
    given = x.copy()
    solved = solve(BlockSystem(pattern, values, b, is_free), x, StoppingCriteria(1e-12, 5000))
    free = np.repeat(is_free, 3)
    right = b.ravel()[free] - matrix[free][:, ~free] @ given.ravel()[~free]
    expected = scipy.sparse.linalg.spsolve(matrix[free][:, free], right)
    assert solved.converged
    assert (x[~is_free] == given[~is_free]).all()
    assert np.abs(x[is_free].ravel() - expected).max() < 1e-9 * np.abs(expected).max()


@pytest.mark.parametrize("limit, tolerance", [(7, 1e-12), (5000, 1e-3), (5000, 1e-7)])
def test_reports_the_residual_that_is_there(limit, tolerance):
    pattern, values, matrix, b = random_system(seed=3)
    is_free = np.arange(len(b)) > 4
    x = np.zeros_like(b)
    x[~is_free] = 1.0
    solved = solve(BlockSystem(pattern, values, b, is_free), x, StoppingCriteria(tolerance, limit))
    free = np.repeat(is_free, 3)
    right = b.ravel()[free] - matrix[free][:, ~free] @ x.ravel()[~free]
    left = right - matrix[free][:, free] @ x.ravel()[free]
    assert solved.residual == pytest.approx(np.linalg.norm(left) / np.linalg.norm(right), rel=1e-6)
    assert solved.iterations <= limit
    assert solved.converged == (solved.residual <= tolerance) == (limit > 7)


def test_a_good_guess_needs_no_iteration():
    pattern, values, matrix, b = random_system()
    x = scipy.sparse.linalg.spsolve(matrix, b.ravel()).reshape(-1, 3)
    before = x.copy()
    solved = solve(BlockSystem(pattern, values, b, np.ones(len(b), bool)), x, StoppingCriteria(1e-8, 100))
    assert solved.converged and solved.iterations == 0
    assert (x == before).all()


def test_a_likely_direction_is_followed_as_far_as_is_best():
    pattern, values, matrix, b = random_system(seed=6)
    is_free = np.arange(len(b)) > 4
    exact = np.zeros_like(b)
    solve(BlockSystem(pattern, values, b, is_free), exact, StoppingCriteria(1e-13, 5000))
    for far in (0.5, -3.0):
        x = np.zeros_like(b)
        solved = solve(
            BlockSystem(pattern, values, b, is_free),
            x,
            StoppingCriteria(1e-9, 5000),
            initial_direction=far * exact + 1e3 * ~is_free[:, None],
        )
        assert solved.converged and solved.iterations == 1
        assert np.abs(x - exact).max() < 1e-8 * np.abs(exact).max()
    for useless in (np.zeros_like(b), np.random.default_rng(0).normal(size=b.shape)):
        x = np.zeros_like(b)
        solved = solve(
            BlockSystem(pattern, values, b, is_free), x, StoppingCriteria(1e-11, 5000), initial_direction=useless
        )
        assert solved.converged and np.abs(x - exact).max() < 1e-9 * np.abs(exact).max()


def test_everything_held_and_nothing_to_do():
    pattern, values, _, b = random_system()
    x = np.ones_like(b)
    assert solve(BlockSystem(pattern, values, b, np.zeros(len(b), bool)), x, StoppingCriteria(1e-8, 100)).converged
    assert (x == 1.0).all()
    x[:] = 0.0
    assert solve(BlockSystem(pattern, values, 0.0 * b, np.ones(len(b), bool)), x, StoppingCriteria(1e-8, 100)).converged
    assert (x == 0.0).all()


def test_what_is_no_number_is_never_called_converged():
    pattern, values, _, b = random_system()
    b[3, 1] = np.nan
    assert not solve(
        BlockSystem(pattern, values, b, np.ones(len(b), bool)), np.zeros_like(b), StoppingCriteria(1e-8, 100)
    ).converged


def test_any_number_of_threads_gives_the_same_bits():
    pattern, values, _, b = random_system((8, 8, 8))
    assert len(pattern.chunk_start) > 4
    results = []
    before = thread_count()
    for threads in (1, min(2, numba.config.NUMBA_NUM_THREADS)):
        set_thread_count(threads)
        x = np.zeros_like(b)
        solve(BlockSystem(pattern, values, b, np.ones(len(b), bool)), x, StoppingCriteria(1e-6, 50))
        results.append(x.tobytes())
    set_thread_count(before)
    assert results[0] == results[1]


def test_points_add_their_weighted_blocks():
    nodes, tets = bar((1, 1, 2), (1.0, 1.0, 1.0))
    n, random = len(nodes), np.random.default_rng(4)
    pattern = block_pattern(tets, n)
    tet, dt = np.array([0, 7, 7, 3], np.int32), 0.1
    weights = random.dirichlet(np.ones(4), 4)
    half = random.normal(size=(2, 4, 3, 3))
    (stiffness, damping), forces = half @ half.transpose(0, 1, 3, 2), random.normal(size=(4, 3))
    values, b = np.zeros((pattern.block_count, 9)), np.zeros((n, 3))
    add_point_terms(dt, tet, weights, stiffness, damping, forces, tets, pattern.corner_block, values, b)
    matrices, forces = dt * (dt * stiffness + damping), dt * forces

    expected, right = np.zeros((3 * n, 3 * n)), np.zeros(3 * n)
    for t, w, A, f in zip(tet, weights, matrices, forces, strict=True):
        W = np.zeros((3, 3 * n))
        for a in range(4):
            W[:, 3 * tets[t, a] : 3 * tets[t, a] + 3] = w[a] * np.eye(3)
        expected += W.T @ A @ W
        right += W.T @ f
    dense = scipy.sparse.bsr_matrix((values.reshape(-1, 3, 3), pattern.column, pattern.row_start)).toarray()
    assert np.abs(dense - expected).max() < 1e-14
    assert np.abs(b.ravel() - right).max() < 1e-14


def test_rigid_modes_are_balanced_exactly_and_change_nothing_else():
    """After a rough solve Zᵀ(b − A x) is zero to round-off in free islands; after a fine one x is the solution."""
    parts = [random_system(cells, seed) for seed, cells in enumerate(((3, 3, 4), (2, 3, 2)))]
    counts = [len(b) for _, _, _, b in parts]
    tets = [bar(cells, (1.0, 1.0, 1.0))[1] for cells in ((3, 3, 4), (2, 3, 2))]
    pattern = block_pattern(np.concatenate([tets[0], tets[1] + counts[0]]), sum(counts), [0, counts[0]])
    values = np.concatenate([part[1] for part in parts])
    matrix = scipy.sparse.block_diag([part[2] for part in parts], format="csc")
    b = np.concatenate([part[3] for part in parts])
    nodes = np.concatenate([bar(cells, (1.0, 1.0, 1.0))[0] for cells in ((3, 3, 4), (2, 3, 2))]) + 3.0
    is_free = np.ones(len(b), bool)
    is_free[-1] = False  # the second island has none
    modes = rigid_modes(pattern, values, nodes, is_free)
    assert not modes.inverse[1].any()
    Z = np.zeros((counts[0], 3, 6))
    Z[:, :, :3] = np.eye(3)
    for m in range(3):
        Z[:, :, 3 + m] = np.cross(np.eye(3)[m], modes.lever_arms[: counts[0]])
    Z = np.concatenate([Z.reshape(-1, 6), np.zeros((3 * counts[1], 6))])
    assert np.abs(modes.product[: counts[0]].reshape(-1, 6) - (matrix @ Z)[: 3 * counts[0]]).max() < 1e-9
    for tolerance in (0.3, 1e-12):
        x = np.zeros_like(b)
        assert solve(
            BlockSystem(pattern, values, b, is_free),
            x,
            StoppingCriteria(tolerance, 5000),
            initial_direction=b.copy(),
            modes=modes,
        ).converged
        residual = b.ravel() - matrix @ x.ravel()
        assert np.abs(Z.T @ residual).max() < 1e-10 * np.abs(Z).T.dot(np.abs(b.ravel())).max()
    free = np.repeat(is_free, 3)
    expected = scipy.sparse.linalg.spsolve(matrix[free][:, free], b.ravel()[free])
    assert np.abs(x.ravel()[free] - expected).max() < 1e-9 * np.abs(expected).max()
