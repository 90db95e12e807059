# SPDX-License-Identifier: GPL-3.0-or-later
"""Products of sparse matrices in two parts: which entries there are and where every term goes, then the numbers.

A Galerkin matrix Pᵀ A P is made of the product A P and the product Pᵀ (A P). The first part is done once per mesh, by
Gustavson's method; columns of a product stay in the order in which they are met.
Source: Gustavson (1978), Two fast algorithms for sparse matrices.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Floats
from ...geometry.chunks import run_ranges
from ...jit import kernel
from ..pattern import Unsigned

FINE_ROWS, COARSE_ROWS = 1024, 64  # that a thread takes at a time: rows of the coarse matrix have many more terms


@dataclass(frozen=True)
class Product:
    """Where the terms a_ij b_jk of C = A B go.

    Attributes:
        start: Where the rows of C begin, (n + 1,).
        column: Columns of C, (c,).
        slot: For every entry (i, j) of A in order and every entry (j, k) of B in order, the place of (i, k) in row i
            of C, (t,).
        slot_start: Where the terms of each row begin in `slot`, (n + 1,).
    """

    start: Unsigned
    column: Unsigned
    slot: Unsigned
    slot_start: Unsigned


def product(a_start: Unsigned, a_column: Unsigned, b_start: Unsigned, b_column: Unsigned, width: int) -> Product:
    """Returns the structure of A B for two matrices of rows `start` and columns `column`, B of `width` columns."""
    in_row = np.diff(b_start.astype(np.int64))[a_column]
    before = np.concatenate([[0], np.cumsum(in_row)])
    slot_start = before[a_start.astype(np.int64)].astype(np.uint32)
    column, slot = np.empty((2, before[-1]), np.uint32)
    start = np.zeros(len(a_start), np.uint32)
    find_product(a_start, a_column, b_start, b_column, np.zeros(width, np.int64), start, column, slot)
    return Product(start, column[: start[-1]].copy(), slot, slot_start)


@kernel()
def find_product(a_start, a_column, b_start, b_column, seen, start, column, slot):
    """Writes start (n + 1,), column and slot of a `Product`; `seen`, zero at first, is work space for a row of C."""
    entry, term = 0, 0
    for i in range(len(a_start) - 1):
        first = entry
        for a in range(a_start[i], a_start[i + 1]):
            j = a_column[a]
            for b in range(b_start[j], b_start[j + 1]):
                k = b_column[b]
                # one more than the entry, so that what earlier rows and nobody have left lies below
                if seen[k] <= first:
                    column[entry] = k
                    entry += 1
                    seen[k] = entry
                slot[term] = seen[k] - 1 - first
                term += 1
        start[i + 1] = entry


@kernel(contract=True)
def multiply_right(first, last, a_start, a_column, blocks, b_start, weight, start, slot_start, slot, out):
    """Writes rows `first` to `last` of C = A B, (c, 9), for blocks of A, (a, 9), and scalars of B, (b,)."""
    for i in range(first, last):
        begin = start[i]
        for c in range(begin, start[i + 1]):
            out[c, :] = 0.0
        term = slot_start[i]
        for a in range(a_start[i], a_start[i + 1]):
            A, j = blocks[a], a_column[a]
            for b in range(b_start[j], b_start[j + 1]):
                _add(out[begin + slot[term]], weight[b], A)
                term += np.uint32(1)


@kernel(contract=True)
def multiply_left(first, last, a_start, weight, a_column, b_start, blocks, start, slot_start, slot, out):
    """Writes rows `first` to `last` of C = A B, (c, 9), for scalars of A, (a,), and blocks of B, (b, 9)."""
    for i in range(first, last):
        begin = start[i]
        for c in range(begin, start[i + 1]):
            out[c, :] = 0.0
        term = slot_start[i]
        for a in range(a_start[i], a_start[i + 1]):
            w, j = weight[a], a_column[a]
            for b in range(b_start[j], b_start[j + 1]):
                _add(out[begin + slot[term]], w, blocks[b])
                term += np.uint32(1)


@kernel(contract=True)
def _add(out, w, A):
    """Adds w A to a block; all is read before anything is written, so that it goes in vectors."""
    a, b, c = out[0] + w * A[0], out[1] + w * A[1], out[2] + w * A[2]
    d, e, f = out[3] + w * A[3], out[4] + w * A[4], out[5] + w * A[5]
    g, h, i = out[6] + w * A[6], out[7] + w * A[7], out[8] + w * A[8]
    out[0], out[1], out[2], out[3], out[4], out[5], out[6], out[7], out[8] = a, b, c, d, e, f, g, h, i


def blocks_times_weights(
    structure: Product,
    a_start: Unsigned,
    a_column: Unsigned,
    blocks: Floats,
    b_start: Unsigned,
    weight: Floats,
    out: Floats,
) -> None:
    """Writes the blocks of C = A B, (c, 9), for blocks of A, (a, 9), and scalars of B, (b,)."""

    def work(first: int, last: int) -> None:
        multiply_right(
            first, last, a_start, a_column, blocks, b_start, weight, structure.start, structure.slot_start,
            structure.slot, out,
        )  # fmt: skip

    run_ranges(0, len(a_start) - 1, FINE_ROWS, work)


def weights_times_blocks(
    structure: Product,
    a_start: Unsigned,
    weight: Floats,
    a_column: Unsigned,
    b_start: Unsigned,
    blocks: Floats,
    out: Floats,
) -> None:
    """Writes the blocks of C = A B, (c, 9), for scalars of A, (a,), and blocks of B, (b, 9)."""

    def work(first: int, last: int) -> None:
        multiply_left(
            first, last, a_start, weight, a_column, b_start, blocks, structure.start, structure.slot_start,
            structure.slot, out,
        )  # fmt: skip

    run_ranges(0, len(a_start) - 1, COARSE_ROWS, work)
