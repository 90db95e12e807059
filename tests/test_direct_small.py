# SPDX-License-Identifier: GPL-3.0-or-later
"""Crumbs on hard contacts: islands of a few nodes are solved exactly, held nodes and all."""

import numpy as np
import pytest

from fixtures.block_systems import dense, islands, spread
from fixtures.tet_meshes import bar
from sinew.solver.linalg.block_system import BlockSystem, StoppingCriteria
from sinew.solver.linalg.direct_small_islands import MAX_SMALL_ISLAND_NODES, solve_small_islands
from sinew.solver.linalg.pattern_union import widen_pattern
from sinew.solver.linalg.pcg import solve
from sinew.solver.linalg.rigid_modes import rigid_modes
from sinew.solver.runtime.simd.block_row_product import multiply_row


def solve_alone(pattern, *system):
    solve_small_islands(pattern.island_start, np.zeros(0, bool), pattern.row_start, pattern.column, *system)


@pytest.mark.parametrize("held", [(), (2,), (0, 1, 2, 3)])
def test_crumbs_are_solved_as_by_numpy(held):
    pattern = islands(3)
    values, rng = spread(pattern), np.random.default_rng(1)
    is_free = np.ones(pattern.node_count, bool)
    is_free[list(held)] = False
    b, x = rng.normal(size=(2, pattern.node_count, 3))
    given = x.copy()
    solve_small_islands(
        pattern.island_start, np.zeros(0, bool), pattern.row_start, pattern.column, values, is_free, b, x
    )
    A, free = dense(pattern, values), np.repeat(is_free, 3)
    wanted = given.ravel().copy()
    rest = b.ravel()[free] - A[np.ix_(free, ~free)] @ given.ravel()[~free]
    wanted[free] = np.linalg.solve(A[np.ix_(free, free)], rest)
    np.testing.assert_allclose(x.ravel(), wanted, rtol=1e-8, atol=1e-8 * np.abs(wanted).max())


def test_larger_islands_are_left_alone():
    _, tets = bar((2, 2, 2), (1.0, 1.0, 1.0))
    assert tets.max() >= MAX_SMALL_ISLAND_NODES
    pattern = islands(1, tets)
    b, x = np.ones((pattern.node_count, 3)), np.zeros((pattern.node_count, 3))
    free = np.ones(pattern.node_count, bool)
    solve_small_islands(
        pattern.island_start, np.zeros(0, bool), pattern.row_start, pattern.column, spread(pattern), free, b, x
    )
    assert not x.any()


def test_what_is_not_positive_definite_is_left_alone():
    pattern = islands(1)
    values = -spread(pattern)
    b, x = np.ones((4, 3)), np.full((4, 3), 7.0)
    solve_small_islands(
        pattern.island_start, np.zeros(0, bool), pattern.row_start, pattern.column, values, np.ones(4, bool), b, x
    )
    assert (x == 7.0).all()


@pytest.mark.parametrize("tolerance", [1e-4, 0.0])
def test_light_crumbs_on_hard_contacts_do_not_fly_away(tolerance):
    """Their masses are 1e-5, their contacts 1e3: with conjugate gradients alone the residual grew to 1e6."""
    pattern = islands(40)
    values, rng = spread(pattern, hard=1e3), np.random.default_rng(2)
    X = rng.normal(size=(pattern.node_count, 3))
    b, x = rng.normal(size=(pattern.node_count, 3)), np.zeros((pattern.node_count, 3))
    is_free = np.ones(pattern.node_count, bool)
    modes = rigid_modes(pattern, values, X, is_free)
    solved = solve(BlockSystem(pattern, values, b, is_free), x, StoppingCriteria(tolerance, 400), modes=modes)
    exact = np.linalg.solve(dense(pattern, values), b.ravel())
    assert solved.residual < 1e-4
    assert np.abs(x.ravel() - exact).max() < 1e-2 * np.abs(exact).max()


def test_rows_of_blocks_are_multiplied_as_by_numpy():
    """At the very end of the arrays too, where nothing may be read behind them."""
    from sinew.solver.runtime.jit import kernel

    @kernel()
    def multiply(row_start, column, values, p, q):
        for i in range(len(q)):
            q[i, 0], q[i, 1], q[i, 2] = multiply_row(values, column, p, row_start[i], row_start[i + 1])

    _, tets = bar((2, 2, 2), (1.0, 1.0, 1.0))
    pattern = islands(2, tets)
    rng = np.random.default_rng(3)
    values, p = rng.normal(size=(pattern.block_count, 9)), rng.normal(size=(pattern.node_count, 3))
    q = np.empty_like(p)
    multiply(pattern.row_start, pattern.column, values, p, q)
    np.testing.assert_allclose(q.ravel(), dense(pattern, values) @ p.ravel(), rtol=1e-12, atol=1e-12)


def test_crumbs_that_are_touched_are_left_alone_and_blocks_of_zeros_to_others_count_for_nothing():
    pattern = islands(3)
    values, rng = spread(pattern), np.random.default_rng(1)
    wide = widen_pattern(pattern, np.array([0, 4, 9], np.int32), np.array([4, 0, 1], np.int32))
    between = np.empty((wide.pattern.block_count, 9))
    wide.scatter(values, between)
    is_free, b = np.ones(pattern.node_count, bool), rng.normal(size=(pattern.node_count, 3))
    x, expected = np.zeros((2, *b.shape))
    solve_alone(pattern, values, is_free, b, expected)
    row_start, column = wide.pattern.row_start, wide.pattern.column
    solve_small_islands(pattern.island_start, np.array([1, 1, 0], bool), row_start, column, between, is_free, b, x)
    assert not x[:8].any() and (x[8:] == expected[8:]).all()
