# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernels for blocks and rows of a block-CSR matrix, and their passes over all rows on several threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...linalg.block_pattern import BlockPattern, UInt32s
from ...runtime.arrays import Floats
from ...runtime.jit import kernel
from ...runtime.simd.block_row_product import multiply_row
from ...runtime.threads.index_partition import partition
from ...runtime.threads.thread_pool import run_parts


@kernel(allow_fma=True)
def add_blocks(begin, end, blocks, factor, values):
    """Adds `factor` times the blocks from `begin` to `end`, (b, 9), to `values`."""
    for k in range(begin, end):
        for i in range(9):
            values[k, i] += factor * blocks[k, i]


@kernel(allow_fma=True)
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


def for_all_rows(work: Callable[..., None], rows: Floats, *more: Any) -> None:
    """Calls a kernel for all rows, part by part."""
    parts = partition(len(rows))
    run_parts(len(parts), lambda k: work(*parts[k], rows, *more))


def block_matrix_product(pattern: BlockPattern, values: Floats, v: Floats) -> Floats:
    """Returns A v, (n, 3)."""
    out, parts = np.empty_like(v), partition(pattern.node_count)
    run_parts(len(parts), lambda k: multiply_rows(*parts[k], pattern.row_start, pattern.column, values, v, out))
    return out


def row_blocks(row_start: UInt32s, nodes: slice) -> slice:
    """Returns the blocks of some rows."""
    return slice(int(row_start[nodes.start]), int(row_start[nodes.stop]))
