# SPDX-License-Identifier: GPL-3.0-or-later
"""What Newton's method does with blocks and rows of a step's system."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..arrays import Floats
from ..geometry.chunks import run_parts
from ..hyperelastic.parts import parts_of
from ..jit import kernel
from ..linear.block_row import multiply_row


@kernel(contract=True)
def add_blocks(begin, end, blocks, factor, values):
    """Adds `factor` times the blocks from `begin` to `end`, (b, 9), to `values`."""
    for k in range(begin, end):
        for i in range(9):
            values[k, i] += factor * blocks[k, i]


@kernel(contract=True)
def multiply_rows(begin, end, row_start, column, values, v, out):
    """Writes the rows of A v from `begin` to `end`, (n, 3), for the blocks A."""
    for i in range(begin, end):
        a, b, c = multiply_row(values, column, v, row_start[i], row_start[i + 1])
        out[i, 0], out[i, 1], out[i, 2] = a, b, c


@kernel()
def add_to_diagonal(begin, end, diagonal, mass, values):
    """Adds m I [kg] to the diagonal blocks of the nodes from `begin` to `end`."""
    for i in range(begin, end):
        own, m = values[diagonal[i]], mass[i]
        own[0] += m
        own[4] += m
        own[8] += m


def over(work: Callable[..., None], rows: Floats, *more: Any) -> None:
    """Calls a kernel for all rows, part by part."""
    parts = parts_of(len(rows))
    run_parts(len(parts), lambda k: work(*parts[k], rows, *more))
