# SPDX-License-Identifier: GPL-3.0-or-later
"""Conjugate gradients with Cholesky's factors of bodies that touch, against dense solutions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fixtures.block_systems import islands
from fixtures.touching_bars import TouchingBars, bar
from sinew.solver.linalg import island_cholesky, pcg
from sinew.solver.linalg.block_system import StoppingCriteria
from sinew.solver.linalg.island_cholesky import (
    chunks_of_factors,
    island_factor_arrays,
    worthwhile_factors,
)
from sinew.solver.linalg.pair_stiffness_assembly import PairPattern
from sinew.solver.linalg.reverse_cuthill_mckee import reverse_cuthill_mckee
from sinew.solver.runtime.threads.thread_count import set_thread_count, thread_count

BAR = bar()


@pytest.mark.parametrize("self_contact", [False, True])
def test_the_solution_is_that_of_the_dense_matrix_in_fewer_iterations(self_contact):
    touching = TouchingBars(self_contact=self_contact)
    v, found = touching.solve(touching.every_island())
    by_blocks, of_blocks = touching.solve(None)
    expected = touching.expected()
    scale = np.abs(expected).max()
    assert found.converged and of_blocks.converged
    assert np.abs(v - expected).max() < 1e-7 * scale
    assert np.abs(by_blocks - expected).max() < 1e-7 * scale
    assert found.iterations < 0.5 * of_blocks.iterations


def test_a_factor_is_exact_where_nothing_is_between_islands():
    """Blocks between islands are zero, so the preconditioner is the inverse: one iteration."""
    touching = TouchingBars()
    pattern = touching.pattern
    rows = np.repeat(np.arange(pattern.node_count, dtype=np.int64), np.diff(pattern.row_start))
    island = pattern.island_of_row
    touching.values[island[rows] != island[pattern.column]] = 0.0
    v, found = touching.solve(touching.every_island())
    assert found.converged and found.iterations <= 2
    expected = touching.expected()
    assert np.abs(v - expected).max() < 1e-8 * np.abs(expected).max()


def test_held_nodes_stay_and_an_island_may_be_held_wholly():
    touching = TouchingBars()
    touching.is_free[[1, 5]] = False
    touching.is_free[touching.pattern.island_start[2] : touching.pattern.island_start[3]] = False
    v, found = touching.solve(touching.every_island())
    expected = touching.expected()
    assert found.converged and not v[~touching.is_free].any()
    assert np.abs(v - expected).max() < 1e-7 * np.abs(expected).max()


def test_an_island_that_is_not_definite_has_block_jacobi(monkeypatch):
    """Its factor would need the root of a number below zero; the others keep theirs."""
    touching, made = TouchingBars(), []

    def keep(*given):
        made.append(island_factor_arrays(*given))
        return made[-1]

    monkeypatch.setattr(pcg, "island_factor_arrays", keep)
    touching.values[touching.pattern.diagonal[3]] *= -1.0
    touching.solve(touching.every_island(), StoppingCriteria(1.0e-10, 3))
    assert made[0].is_factored.tolist() == [False, True, True, True]


def test_some_islands_are_factored_and_others_not():
    touching = TouchingBars()
    chosen = np.array([True, False, True, False])
    v, found = touching.solve(chosen)
    expected = touching.expected()
    assert found.converged and np.abs(v - expected).max() < 1e-7 * np.abs(expected).max()


def test_any_number_of_threads_gives_the_same_bytes():
    before, found = thread_count(), []
    touching = TouchingBars(count=60)  # of more blocks than one thread solves alone
    assert touching.pattern.first_count > 3000
    try:
        for threads in (1, 2):
            set_thread_count(threads)
            found.append(touching.solve(touching.every_island())[0].tobytes())
    finally:
        set_thread_count(before)
    assert found[0] == found[1]


@pytest.mark.parametrize("self_contact", [False, True])
def test_rows_of_an_island_stay_together_and_are_short(self_contact):
    touching = TouchingBars(self_contact=self_contact)
    pattern = touching.pattern
    envelopes = pattern.island_layout.envelopes
    assert sorted(envelopes.node) == list(range(pattern.node_count))
    assert (envelopes.node[envelopes.place] == np.arange(pattern.node_count)).all()
    assert (pattern.island_of_row[envelopes.node] == pattern.island_of_row).all()
    lengths = np.arange(pattern.node_count) - envelopes.first + 1
    assert lengths.mean() < 8.0  # which all columns up to the diagonal would be
    assert envelopes.start[-1] == lengths.sum()
    per_island = np.add.reduceat(0.5 * lengths**2, pattern.island_start[:-1].astype(int))
    assert envelopes.work == pytest.approx(per_island)
    row = np.repeat(np.arange(pattern.node_count), np.diff(pattern.row_start.astype(int)))
    own = pattern.island_of_row[row] == pattern.island_of_row[pattern.column]
    one, other = envelopes.place[row[own]], envelopes.place[pattern.column[own]]
    assert (envelopes.first[np.maximum(one, other)] <= np.minimum(one, other)).all()


def test_the_order_of_rows_does_not_depend_on_what_touched_before():
    """A resumed bake does not know it, and has to get the same bytes."""
    base, touching = islands(2, BAR), TouchingBars(count=2)
    tets = np.concatenate([BAR, BAR + 15]).astype(np.int32)
    first, other = np.array([11, 0], np.int32), np.array([12, 11], np.int32)
    patterns = PairPattern(tets)
    with_self_contact = patterns.pair_blocks(base, first, other).pattern
    later = patterns.pair_blocks(base, first[:1], other[:1]).pattern
    assert later.block_count == with_self_contact.block_count > touching.pattern.block_count
    assert (later.island_layout.envelopes.node == touching.pattern.island_layout.envelopes.node).all()
    assert (later.island_layout.envelopes.first == touching.pattern.island_layout.envelopes.first).all()
    assert later.island_layout.envelopes.start[-1] < with_self_contact.island_layout.envelopes.start[-1]


def test_stiff_islands_with_short_rows_are_factored(monkeypatch):
    touching = TouchingBars()
    pattern = touching.pattern
    diagonal = touching.values[pattern.diagonal][:, [0, 4, 8]].sum(axis=1) / 3.0
    per_island = np.add.reduceat(diagonal, pattern.island_start[:-1].astype(int))
    mass = np.repeat(per_island / 15.0 / 101.0, 15)
    mass[pattern.island_of_row == 1] *= 1.02 * 101.0 / 100.0  # a little softer than asked for
    assert worthwhile_factors(pattern, touching.values, mass, touching.is_free).tolist() == [True, False, True, True]
    touching.is_free[pattern.island_of_row == 0] = False
    assert not worthwhile_factors(pattern, touching.values, mass, touching.is_free)[0]
    assert worthwhile_factors(pattern, touching.values, 1e3 * mass, touching.is_free) is None
    monkeypatch.setattr(island_cholesky, "MAX_WORK_PER_BLOCK", 0.1)
    assert worthwhile_factors(pattern, touching.values, mass, touching.is_free) is None
    monkeypatch.undo()
    assert worthwhile_factors(replace(pattern, coupling=None), touching.values, mass, touching.is_free) is None


def test_islands_that_are_factored_are_one_chunk():
    pattern = islands(2, np.array([[i, i + 1, i + 2, i + 3] for i in range(300)], np.int32))
    start, island = chunks_of_factors(pattern, np.array([True, False]))
    assert start.tolist() == [0, 303, 431, 559, 606] and island.tolist() == [0, 1, 1, 1]
    assert chunks_of_factors(pattern, np.zeros(2, bool))[0].tolist() == pattern.chunk_start.tolist()


def test_the_order_of_cuthill_and_mckee_is_that_of_scipy_in_width():
    """Rows that are joined as equals may come in any order, so the widths are compared, and a ladder's is known."""
    sparse = pytest.importorskip("scipy.sparse")
    from scipy.sparse.csgraph import reverse_cuthill_mckee as reference

    rng, count = np.random.default_rng(3), 300
    shuffled = rng.permutation(count)
    one, other = shuffled[np.r_[0 : count - 1, 0 : count - 2]], shuffled[np.r_[1:count, 2:count]]
    graph = sparse.coo_matrix((np.ones(len(one)), (one, other)), (count, count))
    graph = (graph + graph.T).tocsr()

    def width(order):
        place = np.empty(count, np.int64)
        place[order] = np.arange(count)
        return int(np.abs(place[one] - place[other]).max())

    order = reverse_cuthill_mckee(one, other, count)
    assert sorted(order) == list(range(count))
    assert width(order) == 2 <= width(reference(graph, symmetric_mode=True))
    assert len(reverse_cuthill_mckee(one[:0], other[:0], 0)) == 0
    assert sorted(reverse_cuthill_mckee(one[:0], other[:0], 3)) == [0, 1, 2]
