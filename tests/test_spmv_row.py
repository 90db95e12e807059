# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of block matrices times vectors, in 64 bits and in quads of fixed point, and sums of rows, against NumPy's."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from fixtures.multigrid_problems import unpacked
from sinew.solver.linalg.multigrid.galerkin_products import quantize_row
from sinew.solver.linalg.multigrid.int16_block_placement import empty_quads, quad_slots
from sinew.solver.linalg.multigrid.product_pattern import SparseStructure
from sinew.solver.runtime.jit import kernel
from sinew.solver.runtime.simd.block_row_product import multiply_row
from sinew.solver.runtime.simd.int16_block_rows import multiply_quads
from sinew.solver.runtime.simd.interpolation_row import weighted_row_sum

NODES = 12


@kernel()
def whole_row(values, column, p):
    return multiply_row(values, column, p, 0, len(column))


@kernel()
def rows_of_quads(quads, unit, start, p, out):
    for i in range(len(start) - 1):
        out[i] = unit[i]
        for k, s in enumerate(multiply_quads(quads, p, start[i], start[i + 1])):
            out[i, k] *= s


@kernel()
def narrow(row_start, values, slot, start, quads, unit):
    for i in range(len(start) - 1):
        unit[i] = quantize_row(row_start[i], row_start[i + 1], 0, values, slot, 4 * np.int64(start[i]), quads)


@kernel()
def hung(weight, row, x, start):
    out = np.zeros((len(start) - 1, 3))
    for i in range(len(start) - 1):
        for k, s in enumerate(weighted_row_sum(weight, row, x, start[i], start[i + 1])):
            out[i, k] = s
    return out


def matrix(lots, lengths):
    """Returns the rows of a matrix with so many blocks in each, and its blocks."""
    start = np.concatenate([[0], np.cumsum(lengths)]).astype(np.uint32)
    column = np.concatenate([np.sort(lots.choice(NODES, n, replace=False)) for n in lengths]).astype(np.uint32)
    values = lots.normal(size=(len(column) + 1, 9)) * 10.0 ** lots.uniform(-6.0, 0.0, (len(column) + 1, 1))
    return start, column, values


def in_quads(start, column, values, is_mesh):
    """Returns the quads of a matrix, the units of its rows, and where these begin."""
    slots = quad_slots(SparseStructure(start, column, is_mesh))
    quads = empty_quads(slots.start, slots.slot, start, column)
    unit = np.zeros(len(start) - 1, np.float32)
    narrow(start, values, slots.slot, slots.start, quads, unit)
    return quads, unit, slots.start


def product(quads, unit, start, p):
    out = np.zeros((len(start) - 1, 3), np.float32)
    rows_of_quads(quads, unit, start, np.vstack([p, np.full(3, np.nan)]).astype(np.float32), out)
    return out


def test_rows_are_multiplied():
    lots = np.random.default_rng(2)
    values, p = lots.normal(size=(6, 9)), lots.normal(size=(9, 3))
    column = np.array([8, 0, 3, 4, 5, 7], np.uint32)
    twin = sum(A.reshape(3, 3) @ p[j] for A, j in zip(values, column, strict=True))
    np.testing.assert_allclose(whole_row(values, column, p), twin, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("share", [1.0, 0.6])
def test_rows_of_quads_are_those_of_the_matrix(share):
    """To half a bit of sixteen, and their sums much better; products are those of what is stored."""
    lots = np.random.default_rng(3)
    start, column, values = matrix(lots, [0, 1, 3, 4, 7, 12, 0, 5])
    given = in_quads(start, column, values, lots.random(len(column)) < share)
    quads, unit, quad_start = given
    stored = unpacked(quads, unit, quad_start, NODES).reshape(-1, 3, NODES, 3)
    true = np.zeros((len(start) - 1, NODES, 3, 3))
    rows = np.repeat(np.arange(len(start) - 1), np.diff(start.astype(int)))
    true[rows, column] = values[:-1].reshape(-1, 3, 3)
    true = true.transpose(0, 2, 1, 3)
    away = np.abs(stored - true)
    bound = 1.01 * 2.0**-16 * np.sqrt(np.square(true).sum(axis=(1, 2, 3)))  # a number at most that of its row
    assert (away.sum(axis=2).max(axis=(1, 2)) <= NODES * bound).all() and away.any()
    away[np.arange(len(away)), :, np.arange(len(away))] = 0.0  # on the diagonal is what keeps the sums
    assert (away.max(axis=(1, 2, 3)) <= bound).all()
    assert (np.abs(stored.sum(axis=2) - true.sum(axis=2)).max(axis=(1, 2)) <= bound).all()
    p = lots.normal(size=(NODES, 3)).astype(np.float32)
    twin = np.einsum("imjn,jn->im", stored, p)
    np.testing.assert_allclose(product(*given, p), twin, rtol=1e-5, atol=1e-6 * np.abs(twin).max())


def test_rows_hang_on_others():
    lots = np.random.default_rng(5)
    weight, row = lots.random(9).astype(np.float32), lots.integers(0, NODES, 9).astype(np.uint32)
    x = lots.normal(size=(NODES, 3)).astype(np.float32)
    longer = np.vstack([x, np.full((1, 3), np.nan, np.float32)])
    start = np.array([0, 4, 4, 5, 9])
    twin = [(weight[a:b, None] * x[row[a:b]]).sum(axis=0) for a, b in itertools.pairwise(start)]
    np.testing.assert_allclose(hung(weight, row, longer, start), twin, rtol=1e-6, atol=1e-6)


def test_blocks_of_zeros_beside_the_mesh_change_no_bit():
    """Patterns that contacts have widened keep some, and a bake that is resumed has other ones."""
    lots = np.random.default_rng(4)
    start, column, values = matrix(lots, [6, 9, 3, 11])
    is_mesh, is_zero = lots.random(len(column)) < 0.5, lots.random(len(column)) < 0.5
    values[:-1][~is_mesh & is_zero] = 0.0
    kept = is_mesh | ~is_zero
    rows = np.repeat(np.arange(4), np.diff(start.astype(int)))
    fewer = np.concatenate([[0], np.cumsum(np.bincount(rows[kept], minlength=4))]).astype(np.uint32)
    assert fewer[-1] < start[-1]
    p = lots.normal(size=(NODES, 3))
    wide = product(*in_quads(start, column, values, is_mesh), p)
    narrow = product(*in_quads(fewer, column[kept], np.vstack([values[:-1][kept], values[-1]]), is_mesh[kept]), p)
    np.testing.assert_array_equal(wide, narrow)
