# SPDX-License-Identifier: GPL-3.0-or-later
"""Aggregates of nodes that act on each other where bodies touch, against a slow reference and dense solutions."""

from __future__ import annotations

import numpy as np
import pytest

from fixtures.block_systems import dense
from fixtures.touching_bars import TouchingBars
from sinew.solver.linalg import coupled_aggregates as coupled_aggregates_module
from sinew.solver.linalg import pcg
from sinew.solver.linalg.block_system import StoppingCriteria
from sinew.solver.linalg.coupled_aggregates import MAX_AGGREGATE_NODES, coupled_aggregates, solve_aggregates
from sinew.solver.linalg.pcg_row_passes import ACTIVE, FIRST_SUM, ISLAND_COLUMNS, MODE_RESIDUALS, VECTOR_COUNT, R, Z
from sinew.solver.runtime.jit import kernel
from sinew.solver.runtime.threads.thread_count import set_thread_count, thread_count

STIFF = 1.0e3


@pytest.fixture(autouse=True)
def of_any_size(monkeypatch):
    monkeypatch.setattr(coupled_aggregates_module, "MIN_NODES", 0)


def pressed(**given):
    """Returns bars of 23 nodes that press on each other."""
    touching = TouchingBars(**{"length": 20, **given})
    touching.press(STIFF)
    return touching


def aggregates_of(touching, factored=None):
    """Returns the aggregates of bars, and the nodes of each."""
    found = coupled_aggregates(touching.pattern, touching.values, touching.is_free, factored)
    return found, [found.node[a:b].tolist() for a, b in zip(found.start[:-1], found.start[1:], strict=True)]


def slow_aggregates(touching, takes_part):
    """Returns the nodes of all aggregates, by the definition and with dense matrices."""
    island, n = touching.pattern.island_of_row, touching.pattern.node_count
    blocks = dense(touching.pattern, touching.values).reshape(n, 3, n, 3)
    norms = np.sqrt((blocks**2).sum(axis=(1, 3)))
    strength = norms**2 / np.outer(norms.diagonal(), norms.diagonal())
    may = touching.is_free & takes_part[island]
    left = {
        i for i in np.flatnonzero(may) if any(norms[i, j] > 0 and island[i] != island[j] for j in np.flatnonzero(may))
    }
    found = []
    while left:
        own = [min(left)]
        left.discard(own[0])
        while len(own) < MAX_AGGREGATE_NODES:
            nearest = [(-max(strength[i, j] for i in own), j) for j in sorted(left) if norms[own, j].any()]
            if not nearest:
                break
            own.append(min(nearest)[1])
            left.discard(own[-1])
        found.append([int(i) for i in own])
    return found


@pytest.mark.parametrize("seed", range(5))
def test_aggregates_are_those_of_the_definition(seed):
    touching = pressed(seed=seed, self_contact=bool(seed % 2))
    touching.is_free[[21, 50]] = False
    _, nodes = aggregates_of(touching)
    assert nodes == slow_aggregates(touching, touching.every_island())
    assert max(len(own) for own in nodes) <= MAX_AGGREGATE_NODES < sum(len(own) for own in nodes)
    islands = [set(touching.pattern.island_of_row[own]) for own in nodes]
    assert any(len(own) > 1 for own in islands)  # a block for each body would be worth little


def test_inverses_are_those_of_the_rows_and_columns_of_an_aggregate():
    touching = pressed()
    found, nodes = aggregates_of(touching)
    A = dense(touching.pattern, touching.values)
    for own, begin, end in zip(nodes, found.inverse_start[:-1], found.inverse_start[1:], strict=True):
        rows = (3 * np.array(own)[:, None] + np.arange(3)).ravel()
        inverse = found.inverse[begin:end].reshape(len(rows), len(rows))
        assert inverse @ A[np.ix_(rows, rows)] == pytest.approx(np.eye(len(rows)), abs=1e-8)
    assert found.is_definite.all()


def test_factored_and_small_islands_take_no_part():
    touching = pressed()
    factored = np.array([False, True, False, False])
    _, nodes = aggregates_of(touching, factored)
    assert nodes == slow_aggregates(touching, ~factored)
    assert set(touching.pattern.island_of_row[np.concatenate(nodes)]) == {2, 3}
    assert not aggregates_of(TouchingBars(length=12))[1]  # of 15 nodes each


def test_small_systems_have_none(monkeypatch):
    touching = pressed()
    monkeypatch.setattr(coupled_aggregates_module, "MIN_NODES", touching.pattern.node_count)
    assert aggregates_of(touching)[1]
    monkeypatch.setattr(coupled_aggregates_module, "MIN_NODES", touching.pattern.node_count + 1)
    assert not aggregates_of(touching)[1]


def test_blocks_of_zeros_join_nothing():
    touching = pressed()
    row = np.repeat(np.arange(touching.pattern.node_count), np.diff(touching.pattern.row_start.astype(int)))
    island = touching.pattern.island_of_row
    touching.values[island[row] != island[touching.pattern.column]] = 0.0
    assert not aggregates_of(touching)[1]


@kernel()
def solve_and_sum(aggregates, work, product, scalars):
    """Calls what is compiled for kernels alone."""
    solve_aggregates(aggregates, work, product, scalars)


def test_z_and_all_sums_are_those_of_the_blocks():
    touching, rng = pressed(), np.random.default_rng(1)
    found, nodes = aggregates_of(touching)
    n, islands = touching.pattern.node_count, touching.pattern.island_count
    work, product = rng.normal(size=(VECTOR_COUNT * n, 3)), rng.normal(size=(n, 18))
    scalars = rng.normal(size=(islands, ISLAND_COLUMNS))
    scalars[:, ACTIVE] = 1.0
    found.is_definite[1] = False
    r, before, sums = work[R * n : (R + 1) * n].copy(), work[Z * n : (Z + 1) * n].copy(), scalars.copy()
    solve_and_sum(found, work, product, scalars)
    z, A = before.copy(), dense(touching.pattern, touching.values)
    for number, own in enumerate(nodes):
        rows = (3 * np.array(own)[:, None] + np.arange(3)).ravel()
        if number != 1:
            z[own] = np.linalg.solve(A[np.ix_(rows, rows)], r[own].ravel()).reshape(-1, 3)
    assert work[Z * n : (Z + 1) * n] == pytest.approx(z, rel=1e-9, abs=1e-12)
    for island in range(islands):
        own = touching.pattern.island_of_row == island
        change = (z - before)[own]
        assert scalars[island, FIRST_SUM] - sums[island, FIRST_SUM] == pytest.approx((r[own] * change).sum(), rel=1e-8)
        expected = np.einsum("nkm,nk->m", product[own].reshape(-1, 3, 6), change)
        changed = (scalars - sums)[island, MODE_RESIDUALS : MODE_RESIDUALS + 6]
        assert changed == pytest.approx(expected, rel=1e-7, abs=1e-9)
    again, scalars[:, ACTIVE] = work.copy(), 0.0
    work[R * n : (R + 1) * n] *= 2.0
    solve_and_sum(found, work, product, scalars)
    assert (work[Z * n : (Z + 1) * n] == again[Z * n : (Z + 1) * n]).all()  # nothing is solved any more


def test_an_aggregate_that_is_not_definite_is_left_to_block_jacobi():
    touching = pressed()
    found, nodes = aggregates_of(touching)
    touching.values[touching.pattern.diagonal[nodes[1][0]]] *= -1.0
    again, same = aggregates_of(touching)
    assert same == nodes and again.is_definite.tolist() == [k != 1 for k in range(len(nodes))]


@pytest.mark.parametrize("held", [(), (21, 40)])
def test_the_solution_is_that_of_the_dense_matrix_in_fewer_iterations(held, monkeypatch):
    touching = pressed(count=6)
    touching.is_free[list(held)] = False
    v, found = touching.solve(None, StoppingCriteria(1.0e-9, 600))
    scale, expected = np.abs(touching.expected()).max(), touching.expected()
    assert found.converged and np.abs(v - expected).max() < 1e-5 * scale

    def none(pattern, values, is_free, factored):
        return coupled_aggregates(pattern, values, np.zeros_like(is_free), factored)

    monkeypatch.setattr(pcg, "coupled_aggregates", none)
    v, by_blocks = touching.solve(None, StoppingCriteria(1.0e-9, 600))
    assert np.abs(v - expected).max() < 1e-5 * scale
    assert found.iterations < 0.7 * by_blocks.iterations


def test_any_number_of_threads_gives_the_same_bytes():
    before, found = thread_count(), []
    touching = pressed(count=60)  # of more blocks than one thread solves alone
    assert touching.pattern.first_count > 8000
    try:
        for threads in (1, 2):
            set_thread_count(threads)
            found.append(touching.solve(None)[0].tobytes())
    finally:
        set_thread_count(before)
    assert found[0] == found[1]


def test_what_touches_elsewhere_changes_no_aggregate():
    """The first three bars of five, once the fourth no longer touches them."""
    bars = pressed(count=5)
    island = bars.pattern.island_of_row
    row = np.repeat(np.arange(bars.pattern.node_count), np.diff(bars.pattern.row_start.astype(int)))
    bars.values[(island[row] <= 2) != (island[bars.pattern.column] <= 2)] = 0.0
    _, both = aggregates_of(bars)
    bars.is_free[island > 2] = False
    _, alone = aggregates_of(bars)
    assert len(alone) == 2 and len(both) == 3 and both[:2] == alone
