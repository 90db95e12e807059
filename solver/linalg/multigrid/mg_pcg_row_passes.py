# SPDX-License-Identifier: GPL-3.0-or-later
"""Row passes of multigrid-preconditioned CG: one task after the other, each in one pass over all rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...runtime.arrays import Floats
from ...runtime.jit import kernel
from ...runtime.simd.block_row_product import multiply_row
from ..symmetric_spmv import add_segment_rings, multiply_segment, pack_rows
from .v_cycle import Float32s, run_pass_rows

# In this order: PACK, for products by the upper half; (APPLY,) RESIDUAL for what held nodes add to b; the same for x,
# where there is more of it; START_CYCLE; END_CYCLE, DIRECTION, PRODUCT, UPDATE as often as it takes, a cycle before
# each; at the end APPLY, RESIDUAL to see what is there, and on from START_CYCLE where that is not enough.
# PACK copies the upper half of A. APPLY, PRODUCT: q = A p, with p·q. RESIDUAL: r = b − q, with r·r.
# RESIDUAL_WITHOUT_PRODUCT: the same with a q that no product has left. START_CYCLE: r for the cycle, and its first
# pass. END_CYCLE: its last pass, with z·r and z·q of its result z. DIRECTION: p = z + β p. UPDATE: x += α p, r −= α q,
# with r·r, and what START_CYCLE does.
DONE, PACK, APPLY, RESIDUAL, RESIDUAL_WITHOUT_PRODUCT, START_CYCLE, END_CYCLE, DIRECTION, PRODUCT, UPDATE = range(10)


class SearchVectors(NamedTuple):
    """Vectors of n nodes.

    Attributes:
        b, x, r, q: Right-hand side, what is found, what is left, and A p, (n, 3).
        p: The search direction, with another row behind it, (n + 1, 3).
        r32, z32: What the cycle is given, and what it makes of that, (n, 3).
    """

    b: Floats
    x: Floats
    r: Floats
    q: Floats
    p: Floats
    r32: Float32s
    z32: Float32s


@kernel(inline=True, device_only=True, no_refcount=True)
def do_task(task, part, cycle, matrix, half, vectors, islands, sums):
    """Does a task on one chunk of rows, or on a segment of the upper half; leaves its sums, up to two, in (c, 2).

    `half` are `UpperHalfArrays`, which then give the products, or `NO_UPPER_HALF`.
    """
    chunk_start, chunk_island, row_start, column, _, values, is_free = matrix
    b, x, r, q, p, r32, z32 = vectors
    by_half, is_product = len(half.island) > 0, task == APPLY or task == PRODUCT
    if by_half and is_product:
        if islands.active[half.island[part]]:
            sums[part, 0] = multiply_segment(part, half, p, q, 0)
        return
    island, begin, end = chunk_island[part], chunk_start[part], chunk_start[part + 1]
    into, out_of = islands.cycle_scale_in[island], islands.cycle_scale_out[island]
    row, count = np.int64(begin), np.int64(end - begin)  # of the types that other callers of `run_pass_rows` have
    if task == PACK:
        pack_rows(begin, end, matrix, half)
    elif task == START_CYCLE:
        _write_cycle_residual(begin, end, into, r, r32)
        run_pass_rows(0, row, count, cycle)
    elif not islands.active[island]:
        return
    elif is_product:
        _multiply_rows(begin, end, row_start, column, values, p, q, sums[part])
    elif task == END_CYCLE:
        run_pass_rows(len(cycle.tasks) - 1, row, count, cycle)
        _dot_products(begin, end, out_of, z32, r, q, sums[part])
    elif task == DIRECTION:
        _update_direction(begin, end, out_of, z32, islands.beta[island], p)
    else:
        if by_half and task != RESIDUAL_WITHOUT_PRODUCT:
            add_segment_rings(part, begin, end, half, q, 0)
        if task == UPDATE:
            alpha = islands.alpha[island]
            _update_solution(begin, end, alpha, p, x)
            _update_residual(begin, end, is_free, alpha, r, q, r, into, r32, sums[part])
            run_pass_rows(0, row, count, cycle)
        else:
            _update_residual(begin, end, is_free, 1.0, b, q, r, into, r32, sums[part])


@kernel(allow_fma=True, device_only=True, no_refcount=True)
def _multiply_rows(first, end, row_start, column, values, p, q, sums):
    """Writes q = A p, with p·q."""
    along = 0.0
    for i in range(first, end):
        s, t, u = multiply_row(values, column, p, row_start[i], row_start[i + 1])
        q[i, 0], q[i, 1], q[i, 2] = s, t, u
        along += s * p[i, 0] + t * p[i, 1] + u * p[i, 2]
    sums[0] = along


@kernel(allow_fma=True, device_only=True, no_refcount=True)
def _dot_products(first, end, out_of, z32, r, q, sums):
    """Writes z·r and z·q; z is zero at held nodes."""
    one, two = 0.0, 0.0
    for i in range(first, end):
        s, t, u = out_of * z32[i, 0], out_of * z32[i, 1], out_of * z32[i, 2]
        one += s * r[i, 0] + t * r[i, 1] + u * r[i, 2]
        two += s * q[i, 0] + t * q[i, 1] + u * q[i, 2]
    sums[0], sums[1] = one, two


@kernel(allow_fma=True, device_only=True, no_refcount=True)
def _update_direction(first, end, out_of, z32, beta, p):
    """Writes p = z + β p."""
    for i in range(first, end):
        for k in range(3):
            p[i, k] = out_of * z32[i, k] + beta * p[i, k]


@kernel(allow_fma=True, device_only=True, no_refcount=True)
def _update_solution(first, end, alpha, p, x):
    """Writes x += α p; p is zero at held nodes."""
    for i in range(first, end):
        for k in range(3):
            x[i, k] += alpha * p[i, k]


@kernel(allow_fma=True, device_only=True, no_refcount=True)
def _update_residual(first, end, is_free, alpha, before, q, r, into, r32, sums):
    """Writes r = `before` − α q of free nodes, what the cycle gets of it, and r·r."""
    square = 0.0
    for i in range(first, end):
        if is_free[i]:
            s, t, u = before[i, 0] - alpha * q[i, 0], before[i, 1] - alpha * q[i, 1], before[i, 2] - alpha * q[i, 2]
            r[i, 0], r[i, 1], r[i, 2] = s, t, u
            r32[i, 0], r32[i, 1], r32[i, 2] = into * s, into * t, into * u
            square += s * s + t * t + u * u
    sums[0], sums[1] = square, 0.0


@kernel(device_only=True, no_refcount=True)
def _write_cycle_residual(first, end, into, r, r32):
    """Writes what the cycle gets of r."""
    for i in range(first, end):
        for k in range(3):
            r32[i, k] = into * r[i, k]
