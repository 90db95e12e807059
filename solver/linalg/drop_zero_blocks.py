# SPDX-License-Identifier: GPL-3.0-or-later
"""A pattern without its zero blocks, for matrices whose stiffness is applied element by element."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..runtime.arrays import Floats
from ..runtime.jit import kernel
from .block_pattern import BlockPattern


def drop_zero_blocks(pattern: BlockPattern, values: Floats) -> tuple[BlockPattern, Floats]:
    """Returns pattern and blocks, (b, 9), of the same matrix with the blocks on the diagonal and those not zero."""
    row_start, places = np.empty(pattern.node_count + 1, np.uint32), np.empty(pattern.block_count, np.uint32)
    diagonal = np.empty(pattern.node_count, np.uint32)
    count = find_nonzero_blocks(pattern.row_start, pattern.diagonal, values, row_start, diagonal, places)
    kept = places[:count]
    slim = replace(pattern, row_start=row_start, column=pattern.column[kept], diagonal=diagonal, first_count=int(count))
    return slim, values[kept]


@kernel()
def find_nonzero_blocks(row_start, diagonal, values, starts, on_diagonal, places):
    """Writes where the rows of the slim matrix start, its diagonal, and which blocks it has; returns how many."""
    count = 0
    for i in range(len(diagonal)):
        starts[i] = count
        for k in range(row_start[i], row_start[i + 1]):
            is_kept = k == diagonal[i]
            if is_kept:
                on_diagonal[i] = count
            for m in range(9):
                is_kept = is_kept or values[k, m] != 0.0
            if is_kept:
                places[count] = k
                count += 1
    starts[len(diagonal)] = count
    return count
