# SPDX-License-Identifier: GPL-3.0-or-later
"""Patterns with further blocks, against a plain twin."""

import time

import numpy as np
import pytest

from fixtures.tet_meshes import bar
from sinew.solver.linalg import pattern_union
from sinew.solver.linalg.block_pattern import block_pattern
from sinew.solver.linalg.coupled_islands import island_coupling
from sinew.solver.linalg.pair_stiffness_assembly import PairPatterns
from sinew.solver.linalg.pattern_union import widen_pattern


def rows_of(pattern):
    return [
        pattern.column[pattern.row_start[i] : pattern.row_start[i + 1]].astype(int).tolist()
        for i in range(pattern.node_count)
    ]


def assert_scatter_copies(wide, values):
    spread = np.full((wide.pattern.block_count, 9), np.nan)
    wide.scatter(values, spread)
    twin = np.zeros_like(spread)
    twin[wide.block_map] = values
    assert (spread == twin).all()


@pytest.mark.parametrize("count", [0, 1, 7, 300])
def test_rows_are_those_of_the_slow_twin(count):
    nodes, tets = bar((2, 3, 2), (1.0, 1.0, 1.0))
    n = len(nodes) + 1  # one more, in no tet
    pattern, random = block_pattern(tets, n), np.random.default_rng(count)
    rows, columns = random.integers(0, n, (2, count)).astype(np.int32)
    wide = widen_pattern(pattern, rows, columns)
    expected = [set(row) for row in rows_of(pattern)]
    for i, j in zip(rows, columns, strict=True):
        expected[i].add(int(j))
    assert rows_of(wide.pattern) == [sorted(row) for row in expected]
    row_of = np.repeat(np.arange(n), np.diff(wide.pattern.row_start.astype(int)))
    assert (wide.pattern.column[wide.pattern.diagonal] == np.arange(n)).all()
    assert (row_of[wide.pattern.diagonal] == np.arange(n)).all()
    assert (row_of[wide.added_blocks] == rows).all() and (wide.pattern.column[wide.added_blocks] == columns).all()
    assert (wide.pattern.column[wide.block_map] == pattern.column).all() and (
        np.diff(wide.block_map.astype(int)) > 0
    ).all()
    assert (wide.pattern.corner_block == wide.block_map[pattern.corner_block]).all()
    assert_scatter_copies(wide, random.normal(size=(pattern.block_count, 9)))


@pytest.mark.parametrize("part", [1, 7, 64])
def test_blocks_that_threads_copy_in_parts_are_all_copied(part, monkeypatch):
    monkeypatch.setattr(pattern_union, "BLOCKS_PER_PART", part)
    nodes, tets = bar((2, 3, 2), (1.0, 1.0, 1.0))
    pattern, random = block_pattern(tets, len(nodes)), np.random.default_rng(part)
    wide = widen_pattern(pattern, *random.integers(0, len(nodes), (2, 90)).astype(np.int32))
    assert_scatter_copies(wide, random.normal(size=(pattern.block_count, 9)))


def test_clusters_are_what_hangs_together():
    random = np.random.default_rng(2)
    for count in (2, 9, 40):
        one, two = random.integers(0, count, (2, count // 2 + 1))
        label = np.arange(count)
        for _ in range(count):
            for i, j in zip(one, two, strict=True):
                label[i] = label[j] = min(label[i], label[j])
        coupling = island_coupling(one, two, count)
        if coupling is None:
            assert (one == two).all()
            continue
        found = np.split(coupling.members, coupling.start[1:-1])
        assert [cluster.tolist() for cluster in found] == [
            np.flatnonzero(label == k).tolist() for k in np.unique(label)
        ]
        touched = {(min(i, j), max(i, j)) for i, j in zip(one.tolist(), two.tolist(), strict=True) if i != j}
        assert set(zip(coupling.first.tolist(), coupling.second.tolist(), strict=True)) == touched


def test_coupling_of_none_is_none():
    assert island_coupling(np.array([3, 1]), np.array([3, 1]), 5) is None


def test_the_pattern_is_kept_while_no_other_tets_touch():
    _, tets = bar((3, 3, 3), (1.0, 1.0, 1.0))
    n = int(tets.max()) + 1
    both = np.concatenate([tets, tets + n]).astype(np.int32)
    pattern, count = block_pattern(both, 2 * n, [0, n]), len(tets)
    patterns = PairPatterns().widened(pattern, both)
    tet, other = np.array([3, 9, 3], np.int32), np.array([count, count + 5, count], np.int32)
    first = patterns.pair_blocks(pattern, tet, other)
    assert first.pattern.coupling is not None and patterns.pair_blocks(pattern, tet, other).pattern is first.pattern
    fewer = patterns.pair_blocks(pattern, tet[1:2], other[1:2])
    assert fewer.pattern is first.pattern
    alone = patterns.pair_blocks(pattern, tet, tet[::-1])
    assert alone.pattern.coupling is None and alone.pattern is not first.pattern
    again = patterns.pair_blocks(pattern, tet[1:2], other[1:2])
    for place, (t, o) in ((first.place, (tet, other)), (again.place, (tet[1:2], other[1:2]))):
        of = first if place is first.place else again
        blocks = of.widened.added_blocks[32 * place[:, None] + np.arange(32)].reshape(-1, 2, 4, 4)
        row = np.repeat(np.arange(2 * n), np.diff(of.pattern.row_start.astype(int)))
        assert (row[blocks[:, 0]] == both[t][:, :, None]).all()
        assert (of.pattern.column[blocks[:, 0]] == both[o][:, None, :]).all()
        assert (row[blocks[:, 1]] == both[o][:, :, None]).all()
        assert (of.pattern.column[blocks[:, 1]] == both[t][:, None, :]).all()


def test_it_is_fast_enough_for_every_step():
    """Two thousand pairs of tets among 5,000 nodes: some ten iterations of conjugate gradients take as long."""
    _, tets = bar((13, 13, 12), (1.0, 1.0, 1.0))
    n = int(tets.max()) + 1
    both = np.concatenate([tets, tets + n]).astype(np.int32)
    pattern, random = block_pattern(both, 2 * n, [0, n]), np.random.default_rng(1)
    times = []
    for _ in range(5):
        tet, other = random.integers(0, len(tets), (2, 2000)).astype(np.int32)
        patterns = PairPatterns().widened(pattern, both)
        patterns.widened, patterns.keys = None, np.zeros(0, np.int64)
        begun = time.thread_time()  # what else the machine does is left out
        patterns.pair_blocks(pattern, tet, other + np.int32(len(tets)))
        times.append(time.thread_time() - begun)
    assert min(times) < 0.05
    print(f"{2 * n} nodes: {1e3 * min(times):.2f} ms")
