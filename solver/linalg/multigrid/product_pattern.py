# SPDX-License-Identifier: GPL-3.0-or-later
"""Products of sparse matrices before their numbers: which entries there are, and where every term goes.

A Galerkin matrix Pᵀ A P is made of the product Pᵀ A and the product (Pᵀ A) P. All this is done once per mesh, by
Gustavson's method; columns of a product stay in the order in which they are met. The numbers: `galerkin_products.py`.
Source: Gustavson (1978), Two fast algorithms for sparse matrices.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ...runtime.arrays import Bools
from ...runtime.jit import kernel
from ..block_pattern import UInt32s


@dataclass(frozen=True)
class SparseStructure:
    """Which entries a matrix has.

    Attributes:
        start: Where its rows begin, (n + 1,).
        column: Columns of its entries, (c,).
        is_mesh: Whether each is there by the mesh, and not by contacts alone, (c,).
    """

    start: UInt32s
    column: UInt32s
    is_mesh: Bools


@dataclass(frozen=True)
class SparseProduct(SparseStructure):
    """Where the terms a_ij b_jk of C = A B go.

    Attributes:
        slot: For every entry (i, j) of A in order and every entry (j, k) of B in order, the place of (i, k) in row i
            of C, (t,).
        slot_start: Where the terms of each row begin in `slot`, (n + 1,).
        max_row_length: Most entries of a row of C.
    """

    slot: UInt32s
    slot_start: UInt32s
    max_row_length: int


@dataclass(frozen=True)
class ProductTerms:
    """What is needed for the numbers of several products, one behind the other; see `SparseProduct`.

    Attributes:
        start, slot, slot_start: Theirs, counted through; only what is in `slot` stays within its row.
        max_row_length: Most entries of a row.
    """

    start: UInt32s
    slot: UInt32s
    slot_start: UInt32s
    max_row_length: int

    @staticmethod
    def concatenate(products: Sequence[SparseProduct]) -> ProductTerms:
        """Returns those of products."""
        return ProductTerms(
            concatenated_row_starts([C.start for C in products], [len(C.column) for C in products]),
            np.concatenate([C.slot for C in products]),
            concatenated_row_starts([C.slot_start for C in products], [len(C.slot) for C in products]),
            max(C.max_row_length for C in products),
        )


def concatenated_row_starts(starts: Sequence[UInt32s], lengths: Iterable[int]) -> UInt32s:
    """Returns where rows begin of several matrices, one behind the other, that have so many entries each."""
    before = np.concatenate([[0], np.cumsum(list(lengths), dtype=np.int64)])
    rows = [start[:-1].astype(np.int64) + offset for start, offset in zip(starts, before, strict=False)]
    return np.append(np.concatenate(rows), before[-1]).astype(np.uint32)


def product_structure(a: SparseStructure, b: SparseStructure, width: int) -> SparseProduct:
    """Returns the structure of A B for two matrices, B of `width` columns."""
    in_row = np.diff(b.start.astype(np.int64))[a.column]
    before = np.concatenate([[0], np.cumsum(in_row, dtype=np.int64)])
    slot_start = before[a.start.astype(np.int64)].astype(np.uint32)
    column, slot = np.empty((2, before[-1]), np.uint32)
    start, is_mesh = np.zeros(len(a.start), np.uint32), np.zeros(before[-1], bool)
    fill_product_structure(
        a.start,
        a.column,
        a.is_mesh,
        b.start,
        b.column,
        b.is_mesh,
        np.zeros(width, np.int64),
        start,
        column,
        is_mesh,
        slot,
    )
    entries, widest = int(start[-1]), int(np.diff(start).max(initial=0))
    return SparseProduct(start, column[:entries].copy(), is_mesh[:entries].copy(), slot, slot_start, widest)


@kernel()
def fill_product_structure(
    a_start, a_column, a_is_mesh, b_start, b_column, b_is_mesh, seen, start, column, is_mesh, slot
):
    """Writes start (n + 1,), column, is_mesh and slot of a `SparseProduct`; is_mesh is False at first.

    `seen`, zero at first, is work space for a row of C.
    """
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
                if a_is_mesh[a] and b_is_mesh[b]:
                    is_mesh[seen[k] - 1] = True
                slot[term] = seen[k] - 1 - first
                term += 1
        start[i + 1] = entry
