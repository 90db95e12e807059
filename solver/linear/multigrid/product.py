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
from ..threes import add, load, load_four, nothing, store, store_four

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
        widest: Most entries of a row of C.
    """

    start: Unsigned
    column: Unsigned
    slot: Unsigned
    slot_start: Unsigned
    widest: int


def product(a_start: Unsigned, a_column: Unsigned, b_start: Unsigned, b_column: Unsigned, width: int) -> Product:
    """Returns the structure of A B for two matrices of rows `start` and columns `column`, B of `width` columns."""
    in_row = np.diff(b_start.astype(np.int64))[a_column]
    before = np.concatenate([[0], np.cumsum(in_row)])
    slot_start = before[a_start.astype(np.int64)].astype(np.uint32)
    column, slot = np.empty((2, before[-1]), np.uint32)
    start = np.zeros(len(a_start), np.uint32)
    find_product(a_start, a_column, b_start, b_column, np.zeros(width, np.int64), start, column, slot)
    return Product(start, column[: start[-1]].copy(), slot, slot_start, int(np.diff(start).max(initial=0)))


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
def multiply_right(first, last, a_start, a_column, blocks, b_start, weight, start, slot_start, slot, row, out):
    """Writes rows `first` to `last` of C = A B, (c, 9), for blocks of A, (a, 9), and scalars of B, (b,).

    `row` is work space for a row of C, (widest, 12): three times four numbers, which are written and read in one piece.
    """
    for i in range(first, last):
        clear(start[i + 1] - start[i], row)
        term = slot_start[i]
        for a in range(a_start[i], a_start[i + 1]):
            j = a_column[a]
            p, q, r = load(blocks, 9 * a), load(blocks, 9 * a + 3), load(blocks, 9 * a + 6)
            for b in range(b_start[j], b_start[j + 1]):
                add_block(weight[b], p, q, r, 12 * slot[term], row)
                term += np.uint32(1)
        copy_row(start[i], start[i + 1], row, out)


@kernel(contract=True)
def multiply_left(first, last, a_start, weight, a_column, b_start, blocks, start, slot_start, slot, row, out):
    """Writes rows `first` to `last` of C = A B, (c, 9), for scalars of A, (a,), and blocks of B, (b, 9).

    `row` is work space as for `multiply_right`.
    """
    for i in range(first, last):
        clear(start[i + 1] - start[i], row)
        term = slot_start[i]
        for a in range(a_start[i], a_start[i + 1]):
            w, j = weight[a], a_column[a]
            for b in range(b_start[j], b_start[j + 1]):
                p, q, r = load(blocks, 9 * b), load(blocks, 9 * b + 3), load(blocks, 9 * b + 6)
                add_block(w, p, q, r, 12 * slot[term], row)
                term += np.uint32(1)
        copy_row(start[i], start[i + 1], row, out)


@kernel(inline=True)
def clear(count, row):
    """Makes the first blocks of a row zero."""
    for c in range(0, 12 * count, 4):
        store_four(row, c, nothing())


@kernel(contract=True, inline=True)
def add_block(w, p, q, r, place, row):
    """Adds w times a block of rows p, q, r."""
    store_four(row, place, add(load_four(row, place), w, p))
    store_four(row, place + 4, add(load_four(row, place + 4), w, q))
    store_four(row, place + 8, add(load_four(row, place + 8), w, r))


@kernel(inline=True, inside=True)
def copy_row(first, last, row, out):
    """Writes a row to the blocks from `first` to `last` of a matrix, (c, 9)."""
    place = 0
    for c in range(9 * first, 9 * last, 3):
        store(out, c, load_four(row, place))
        place += 4


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
            structure.slot, np.empty((structure.widest, 12)), out,
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
            structure.slot, np.empty((structure.widest, 12)), out,
        )  # fmt: skip

    run_ranges(0, len(a_start) - 1, COARSE_ROWS, work)
