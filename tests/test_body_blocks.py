# SPDX-License-Identifier: GPL-3.0-or-later
"""Systems of rigid bodies against NumPy's dense ones, with much and with little fill."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from sinew.solver.linalg.body_block_cholesky import MAX_DEGREE, order_elimination
from sinew.solver.linalg.body_blocks import BodyBlocks, allocate_factors, order_blocks, solve_body_blocks
from sinew.solver.runtime.arrays import Bools, Floats, Indices


def dense(blocks: BodyBlocks) -> Floats:
    """Returns the matrix of blocks, (6 n, 6 n)."""
    count = len(blocks.diagonal)
    whole = np.zeros((count, 6, count, 6))
    for body in range(count):
        whole[body, :, body] = blocks.diagonal[body]
    for one, other, coupling in zip(blocks.first, blocks.second, blocks.coupling, strict=True):
        whole[one, :, other], whole[other, :, one] = coupling, coupling.T
    return whole.reshape(6 * count, 6 * count)


def system_of(count: int, pairs: list[tuple[int, int]]) -> BodyBlocks:
    """Returns a positive definite system of bodies in contact: the sum of squares of motions of single bodies and of
    differences between two."""
    random, (first, second) = np.random.default_rng(count), np.array(pairs, np.int32).T.copy()
    diagonal, coupling = np.tile(np.eye(6), (count, 1, 1)), np.empty((len(pairs), 6, 6))
    for pair, (a, b) in enumerate(pairs):
        one, other = random.normal(size=(2, 3, 6))
        diagonal[a] += 100.0 * one.T @ one
        diagonal[b] += 100.0 * other.T @ other
        coupling[pair] = 100.0 * one.T @ other
    return BodyBlocks(diagonal, first, second, coupling)


def ring_with_chords(count: int) -> list[tuple[int, int]]:
    """Returns pairs of bodies with some fill, in both orders of their numbers."""
    around = [(i, (i + 1) % count) for i in range(count)]
    return around + [((7 * i) % count, (7 * i + 5) % count) for i in range(count // 4)]


def elimination_by_sets(count: int, pairs: list[tuple[int, int]], order: Indices) -> set[tuple[int, int]]:
    """Returns the blocks of L below its diagonal, columns first, for an order of elimination."""
    near: list[set[int]] = [set() for _ in range(count)]
    for one, other in pairs:
        near[one].add(other)
        near[other].add(one)
    blocks = set()
    for own in order.tolist():
        for other in near[own]:
            blocks.add((own, other))
            near[other] |= near[own] - {other}
            near[other].discard(own)
    return blocks


def test_elimination_has_the_fill_that_sets_have() -> None:
    count, pairs = 40, ring_with_chords(40)
    first, second = np.array(pairs, np.int32).T.copy()
    found = order_elimination(count, first, second)
    assert sorted(found.order.tolist()) == list(range(count))
    column = np.repeat(found.order, np.diff(found.start))
    wanted = elimination_by_sets(count, pairs, found.order)
    assert len(found.body) == len(wanted) > len(pairs)
    assert set(zip(column.tolist(), found.body.tolist(), strict=True)) == wanted
    assert (np.diff(found.start) <= 4).all()


def solve(blocks: BodyBlocks, is_solved: Bools, r: Floats, tolerance: float, most: int, x: Floats) -> int:
    """Solves a system in room that holds no numbers at first; returns the number of iterations."""
    elimination = order_blocks(blocks)
    (diagonal, below), edges = room = allocate_factors(blocks, elimination)
    for values in (diagonal, below, edges):
        values[:] = np.nan
    return int(solve_body_blocks(blocks, elimination, is_solved, r, tolerance, 0.0, most, x, room)[1])


def test_forest_has_no_fill() -> None:
    pairs = [(i, (i - 1) // 3) for i in range(1, 60)]
    first, second = np.array(pairs, np.int32).T.copy()
    found = order_elimination(60, first, second)
    assert len(found.body) == len(pairs) == len(found.first)


@pytest.mark.parametrize("held", [[], [2, 11]])
def test_little_fill_is_solved_at_once(held: list[int]) -> None:
    blocks = system_of(40, ring_with_chords(40))
    b, is_solved = np.random.default_rng(1).normal(size=(40, 6)), ~np.isin(np.arange(40, dtype=np.int64), held)
    x, left = np.empty_like(b), b.copy()
    iterations = solve(blocks, is_solved, left, 1e-9, 5, x)
    assert iterations == 1
    rows, wanted = np.repeat(is_solved, 6), np.zeros(b.size)
    wanted[rows] = np.linalg.solve(dense(blocks)[np.ix_(rows, rows)], b.ravel()[rows])
    np.testing.assert_allclose(x.ravel(), wanted, atol=1e-11)
    assert np.abs(left).max() < 1e-9


def test_much_fill_is_solved_by_iterations() -> None:
    count = MAX_DEGREE + 5
    blocks = system_of(count, list(itertools.combinations(range(count), 2)))
    elimination = order_blocks(blocks)
    assert not len(elimination.body) and len(elimination.order) == count
    b = np.random.default_rng(2).normal(size=(count, 6))
    x, left = np.empty_like(b), b.copy()
    iterations = solve(blocks, np.ones(count, bool), left, 1e-12, 1000, x)
    assert 1 < iterations < 1000
    np.testing.assert_allclose(x.ravel(), np.linalg.solve(dense(blocks), b.ravel()), atol=1e-10)


def test_motion_without_resistance_is_left_out() -> None:
    """A body that nothing resists along an axis does not move along it."""
    blocks = system_of(3, [(0, 1), (2, 1)])
    blocks.diagonal[2], blocks.coupling[1] = np.diag([1.0, 1.0, 0.0, 1.0, 1.0, 1.0]), 0.0
    b, x = np.ones((3, 6)), np.empty((3, 6))
    b[2, 2] = 0.0
    solve(blocks, np.ones(3, bool), b, 1e-9, 5, x)
    np.testing.assert_allclose(x[2], [1.0, 1.0, 0.0, 1.0, 1.0, 1.0])
