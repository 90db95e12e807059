# SPDX-License-Identifier: GPL-3.0-or-later
"""Products with the packed upper half of a matrix, against SciPy and the search with whole rows."""

import dataclasses

import numba
import numpy as np
import pytest

from sinew.solver.linalg import pcg
from sinew.solver.linalg.block_pattern import block_pattern
from sinew.solver.linalg.block_system import BlockSystem, MatrixArrays, PcgWorkspace, StoppingCriteria
from sinew.solver.linalg.symmetric_spmv import add_segment_rings, multiply_segment, pack_rows, upper_half
from sinew.solver.runtime.threads.thread_count import set_thread_count, thread_count
from test_step_linear import random_system

CELLS = (9, 9, 25)  # in a bar whose rows reach so far ahead that segments get two rings each
multiply_segment_here = numba.njit(multiply_segment.py_func)
add_rings_here = numba.njit(add_segment_rings.py_func)
pack_rows_here = numba.njit(pack_rows.py_func)


def product(half, pattern, values, p):
    """A p by the kernels, segment after segment from the last to the first, and p·(A p)."""
    half = half.with_workspace(PcgWorkspace())
    matrix = MatrixArrays(
        pattern.chunk_start,
        pattern.chunk_island,
        pattern.row_start,
        pattern.column,
        pattern.diagonal,
        values,
        np.ones(pattern.node_count, bool),
    )
    pack_rows_here(0, pattern.node_count, matrix, half)
    half.ring[:] = np.nan  # whatever is there does not count
    vectors, behind = np.empty_like(p), np.vstack([p, np.full((1, 3), np.nan)])
    along = 0.0
    for s in reversed(range(len(half.island))):
        along += multiply_segment_here(s, half, behind, vectors, 0)
    for chunk in range(len(half.own)):
        add_rings_here(chunk, pattern.chunk_start[chunk], pattern.chunk_start[chunk + 1], half, vectors, 0)
    return vectors, along


@pytest.mark.slow
def test_gives_the_product_of_the_whole_matrix():
    pattern, values, matrix, p = random_system(CELLS)
    half = upper_half(pattern)
    assert half is not None and len(half.island) >= 3
    found, along = product(half, pattern, values, p)
    expected = (matrix @ p.ravel()).reshape(-1, 3)
    scale = (abs(matrix) @ np.abs(p).ravel()).max()
    assert np.abs(found - expected).max() < 1e-14 * scale
    assert along == pytest.approx(np.sum(p * expected), rel=1e-12)


@pytest.mark.slow
def test_islands_have_segments_of_their_own():
    pattern, values, matrix, p = random_system(CELLS)
    n, tets = pattern.node_count, pattern.corners.size // 4
    nodes_of = np.empty(4 * tets, np.int32)
    nodes_of[pattern.corners] = np.repeat(np.arange(n), np.diff(pattern.corner_start.astype(int)))
    both = block_pattern(np.vstack([nodes_of.reshape(-1, 4), n + nodes_of.reshape(-1, 4)]), 2 * n, [0, n])
    half = upper_half(both)
    assert half is not None and set(half.island) == {0, 1} and n in half.start
    found, _ = product(half, both, np.vstack([values, 2.0 * values]), np.vstack([p, p]))
    alone, _ = product(upper_half(pattern), pattern, values, p)
    assert np.array_equal(found[:n], alone) and np.allclose(found[n:], 2.0 * alone, rtol=1e-14, atol=0.0)


def test_rows_that_reach_far_ahead_are_left_to_whole_rows():
    pattern, _, _, _ = random_system(CELLS)
    n = pattern.node_count
    far = pattern.column.copy()
    far[pattern.row_start[1] - 1] = n - 1
    assert upper_half(dataclasses.replace(pattern, column=far)) is None


@pytest.mark.parametrize("hold", (0, 40))
def test_a_search_is_that_with_whole_rows(hold, monkeypatch):
    """To round-off, and to the last bit whatever was solved before, by whatever number of threads."""
    pattern, values, _, b = random_system(CELLS)
    assert pattern.block_count > pcg.MIN_BLOCKS_PER_THREAD and upper_half(pattern) is not None
    is_free = np.arange(len(b)) >= hold
    given = np.where(is_free[:, None], 0.0, b)

    def solved():
        x = given.copy()
        report = pcg.solve(
            BlockSystem(pattern, values, b, is_free), x, StoppingCriteria(1e-10, 2000), initial_direction=b
        )
        assert report.converged
        return report, x

    before = thread_count()
    try:
        set_thread_count(1)
        first = solved()
        set_thread_count(min(2, numba.config.NUMBA_NUM_THREADS))
        second = solved()
    finally:
        set_thread_count(before)
    assert first[0] == second[0] and np.array_equal(first[1], second[1])
    monkeypatch.setattr(pcg, "upper_half", lambda pattern: None)
    report, x = solved()
    assert abs(report.iterations - first[0].iterations) <= 1
    assert np.abs(x - first[1]).max() < 1e-8 * np.abs(x).max()
