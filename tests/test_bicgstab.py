# SPDX-License-Identifier: GPL-3.0-or-later
"""BiCGSTAB against NumPy's solver, on matrices that are not symmetric."""

import numpy as np
import pytest

from fixtures.tet_meshes import bar
from reference.vertex_warp import whole
from sinew.solver.linalg.bicgstab import solve_unsymmetric
from sinew.solver.linalg.block_pattern import block_pattern
from sinew.solver.linalg.block_system import BlockSystem, StoppingCriteria
from sinew.solver.linalg.pcg import SolveResult

RNG = np.random.default_rng(5)


def system(unsymmetric=0.5, bodies=1):
    """Returns a pattern, blocks of a matrix that is not symmetric, and a right-hand side."""
    nodes, tets = bar((3, 2, 2), (3.0, 2.0, 2.0))
    count = len(nodes)
    tets = np.concatenate([tets + k * count for k in range(bodies)]).astype(np.int32)
    pattern = block_pattern(tets, bodies * count, [k * count for k in range(bodies)])
    values = RNG.normal(size=(pattern.block_count, 9)) * unsymmetric
    half = RNG.normal(size=(pattern.node_count, 3, 3))
    values[pattern.diagonal] = (12.0 * np.eye(3) + 0.3 * (half + half.transpose(0, 2, 1))).reshape(-1, 9)
    return pattern, values, RNG.normal(size=(pattern.node_count, 3))


def test_it_finds_what_numpy_finds():
    pattern, values, b = system()
    x = np.zeros_like(b)
    solved = solve_unsymmetric(BlockSystem(pattern, values, b, np.ones(len(b), bool)), x, StoppingCriteria(1e-10, 500))
    expected = np.linalg.solve(whole(pattern, values), b.ravel()).reshape(-1, 3)
    assert solved.converged and 0 < solved.iterations < 100
    assert np.abs(x - expected).max() < 1e-8 * np.abs(expected).max()


def test_held_nodes_keep_their_values_and_count_as_b():
    pattern, values, b = system()
    is_free = RNG.random(len(b)) > 0.3
    x = RNG.normal(size=b.shape)
    given = x.copy()
    x[is_free] = 0.0
    solved = solve_unsymmetric(BlockSystem(pattern, values, b, is_free), x, StoppingCriteria(1e-10, 500))
    A, free = whole(pattern, values), np.repeat(is_free, 3)
    right = b.ravel()[free] - A[np.ix_(free, ~free)] @ given.ravel()[~free]
    expected = np.linalg.solve(A[np.ix_(free, free)], right)
    assert solved.converged
    assert np.array_equal(x[~is_free], given[~is_free])
    assert np.abs(x[is_free].ravel() - expected).max() < 1e-8
    left = right - A[np.ix_(free, free)] @ x[is_free].ravel()
    assert solved.residual == pytest.approx(np.linalg.norm(left) / np.linalg.norm(right), rel=1e-3)


def test_a_body_is_solved_to_the_same_bits_beside_another():
    pattern, values, b = system(bodies=2)
    x = np.zeros_like(b)
    solve_unsymmetric(BlockSystem(pattern, values, b, np.ones(len(b), bool)), x, StoppingCriteria(1e-6, 500))
    half = len(b) // 2
    alone = np.zeros_like(b)
    is_free = np.arange(len(b)) >= half
    solve_unsymmetric(BlockSystem(pattern, values, b, is_free), alone, StoppingCriteria(1e-6, 500))
    assert np.array_equal(x[half:], alone[half:]) and not alone[:half].any()


def test_a_likely_direction_saves_iterations():
    pattern, values, b = system()
    is_free, x, near = np.ones(len(b), bool), np.zeros_like(b), np.zeros_like(b)
    plain = solve_unsymmetric(BlockSystem(pattern, values, b, is_free), x, StoppingCriteria(1e-6, 500))
    likely = 3.0 * x * (1.0 + 1e-3 * RNG.normal(size=b.shape))
    helped = solve_unsymmetric(
        BlockSystem(pattern, values, b, is_free), near, StoppingCriteria(1e-6, 500), initial_direction=likely
    )
    assert helped.converged and helped.iterations < plain.iterations


def test_least_makes_next_to_nothing_enough():
    pattern, values, b = system()
    x = np.zeros_like(b)
    solved = solve_unsymmetric(
        BlockSystem(pattern, values, b, np.ones(len(b), bool)), x, StoppingCriteria(1e-3, 500, np.array([1e6]))
    )
    assert solved.converged and solved.iterations == 0 and not x.any()


def test_what_does_not_converge_says_so():
    pattern, values, b = system()
    few = solve_unsymmetric(
        BlockSystem(pattern, values, b, np.ones(len(b), bool)), np.zeros_like(b), StoppingCriteria(1e-10, 4)
    )
    assert not few.converged and few.iterations == 4 and few.residual > 1e-10
    values[pattern.diagonal[0]] = np.nan
    none = solve_unsymmetric(
        BlockSystem(pattern, values, b, np.ones(len(b), bool)), np.zeros_like(b), StoppingCriteria(1e-10, 500)
    )
    assert not none.converged and np.isnan(none.residual)


def test_a_search_that_breaks_down_is_begun_anew():
    """A skew part so large that ω is next to nothing again and again."""
    pattern, values, b = system(unsymmetric=0.0)
    for i in range(pattern.node_count):
        for k in range(pattern.row_start[i], pattern.row_start[i + 1]):
            if pattern.column[k] != i:
                values[k] = (1.0 if pattern.column[k] > i else -1.0) * 6.0 * np.eye(3).ravel()
    x = np.zeros_like(b)
    solved = solve_unsymmetric(BlockSystem(pattern, values, b, np.ones(len(b), bool)), x, StoppingCriteria(1e-8, 4000))
    expected = np.linalg.solve(whole(pattern, values), b.ravel()).reshape(-1, 3)
    assert solved.converged and np.abs(x - expected).max() < 1e-6


def test_solves_of_some_islands_each_count_together_as_the_worst_of_them():
    good, lost = SolveResult(7, 1.0e-6, True, True), SolveResult(3, float("nan"), False)
    for found in (SolveResult.merge(good, lost), SolveResult.merge(lost, good)):
        assert np.isnan(found.residual) and not found.converged and found.iterations == 7 and found.used_multigrid
    assert SolveResult.merge() == SolveResult(0, 0.0, True)
