# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the blocks of all levels go in quads; made once per mesh.

The numbers: `galerkin_products.py`, their layout: `solver/runtime/simd/int16_block_rows.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...runtime.simd.int16_block_layout import BLOCKS_PER_QUAD, WORDS_PER_QUAD
from ..block_pattern import UInt32s
from .product_pattern import SparseStructure

# slot of every row that is no block of its own: what rounding takes from all of them, on the diagonal
ROUNDING_SLOT = 1


@dataclass(frozen=True)
class QuadSlots:
    """Where the blocks of a matrix go.

    Attributes:
        start: First quad of every row, (n + 1,).
        slot: Of every block, counted from the first of its row's, (b,).
    """

    start: UInt32s
    slot: UInt32s


def quad_slots(a: SparseStructure) -> QuadSlots:
    """Returns where the blocks of a matrix go: those of the mesh side by side, others each in a quad of its own.

    Sums are taken lane by lane; so blocks of zeros, of which patterns that contacts have widened keep some, move no
    other block to another lane, and change no bit.
    """
    count = len(a.start) - 1
    row = np.repeat(np.arange(count, dtype=np.int64), np.diff(a.start.astype(np.int64)))
    order = np.argsort((2 * row + ~a.is_mesh) << 32 | a.column, kind="stable")  # most rows are in order
    meshed, others = (np.bincount(row[which], minlength=count) for which in (a.is_mesh, ~a.is_mesh))
    rank = np.empty(len(row), np.int64)
    rank[order] = np.arange(len(row), dtype=np.int64) - a.start[row].astype(np.int64)
    quads = -(-(ROUNDING_SLOT + meshed) // BLOCKS_PER_QUAD)
    slot = np.where(a.is_mesh, ROUNDING_SLOT + rank, BLOCKS_PER_QUAD * (quads[row] + rank - meshed[row]))
    start = np.concatenate([[0], np.cumsum(quads + others, dtype=np.int64)])
    return QuadSlots(start.astype(np.uint32), slot.astype(np.uint32))


def empty_quads(quad_start: UInt32s, slot: UInt32s, row_start: UInt32s, column: UInt32s) -> UInt32s:
    """Returns the quads of all rows with their columns and zeros, (q, 22).

    Args:
        quad_start: First quad of every row, (n + 1,).
        slot: Of every block, (b,).
        row_start, column: The blocks of each row, (n + 1,), and their columns, (b,) or more.
    """
    rows = np.arange(len(quad_start) - 1, dtype=np.int64)
    quads = np.zeros((int(quad_start[-1]), WORDS_PER_QUAD), np.uint32)
    # slots that stay empty are zeros times the row itself
    quads[:, :BLOCKS_PER_QUAD] = 3 * np.repeat(rows, np.diff(quad_start.astype(np.int64)))[:, None]
    place = np.repeat(BLOCKS_PER_QUAD * quad_start[:-1].astype(np.int64), np.diff(row_start.astype(np.int64))) + slot
    quads[place // BLOCKS_PER_QUAD, place % BLOCKS_PER_QUAD] = 3 * column[: len(slot)]
    return quads
