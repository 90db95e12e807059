# SPDX-License-Identifier: GPL-3.0-or-later
"""One V-cycle: smooths on every level, hands the rest down, solves the coarsest level, and comes back the same way.

The smoother is Chebyshev's iteration on block Jacobi, of degree 1 on the finest level and 2 on the others, the same
before and after, so that the whole is symmetric. It runs in 32 bits: half the memory to read, and a preconditioner need
not be more exact.

What is to be done is a list of passes over the rows of a level; each row writes its own numbers, so that the result
does not depend on the number of threads.
Source: Adams, Brezina, Hu and Tuminaro (2003), Parallel multigrid smoothing: polynomial versus Gauss–Seidel.
"""

from __future__ import annotations

import numba
import numpy as np

from ...jit import kernel
from ..block_row import multiply_row
from .dense import solve_dense

# START: d = b D⁻¹ r, x = d. GATHER: first r = Pᵀ r of the level below. STEP: r −= A d, d = a d + b D⁻¹ r, x += d.
# SPREAD: d = P x of the level above, x += d. DENSE: x = A⁻¹ r on the coarsest level. POWER: d = D⁻¹ A d.
START, GATHER, STEP, SPREAD, DENSE, POWER = range(6)

# rows that a thread takes at a time; levels of fewer rows than SMALL are done by one
ROWS = 256
SMALL = 512


@kernel(parallel=True)
def run_passes(
    tasks, factors_of_passes, level_start, row_start, column, values, inverse, hang_start, hang_node, hang_weight,
    back_start, back_row, back_entry, part_start, factors_start, factors, y, r, x, d,
):  # fmt: skip
    """Does passes one after the other: task, level and which d is read (0 or 1), (p, 3), with factors a and b, (p, 2).

    All arrays are those of all levels one after the other, as in `Hierarchy`; values, inverse, hang_weight, r, x,
    (N, 3), and d, (2, N, 3), in 32 bits. `y` is work space for a part of the coarsest level.
    """
    for p in range(len(tasks)):
        task, level, side = tasks[p]
        a, b = factors_of_passes[p]
        first, end = level_start[level], level_start[level + 1]
        if task == DENSE:
            solve_dense(part_start, first, factors_start, factors, r, y, x)
        elif end - first < SMALL:
            _pass(
                task, first, end, a, b, row_start, column, values, inverse, hang_start, hang_node, hang_weight,
                back_start, back_row, back_entry, r, x, d[side], d[1 - side],
            )  # fmt: skip
        else:
            for chunk in numba.prange((end - first + ROWS - 1) // ROWS):
                begin = first + chunk * ROWS
                _pass(
                    task, begin, min(begin + ROWS, end), a, b, row_start, column, values, inverse, hang_start,
                    hang_node, hang_weight, back_start, back_row, back_entry, r, x, d[side], d[1 - side],
                )  # fmt: skip


@kernel(contract=True, inside=True)
def _pass(
    task, first, end, a, b, row_start, column, values, inverse, hang_start, hang_node, hang_weight,
    back_start, back_row, back_entry, r, x, d, new,
):  # fmt: skip
    """Does one task on the rows from `first` to `end`; reads d, writes `new`."""
    zero = np.float32(0.0)
    for i in range(np.uint64(first), np.uint64(end)):
        if task == SPREAD:
            s, t, u = zero, zero, zero
            for k in range(hang_start[i], hang_start[i + np.uint64(1)]):
                w, above = hang_weight[k], x[hang_node[k]]
                s, t, u = s + w * above[0], t + w * above[1], u + w * above[2]
            new[i, 0], new[i, 1], new[i, 2] = s, t, u
            x[i, 0], x[i, 1], x[i, 2] = x[i, 0] + s, x[i, 1] + t, x[i, 2] + u
            continue
        if task == STEP or task == POWER:
            s, t, u = multiply_row(values, column, d, row_start[i], row_start[i + np.uint64(1)])
            if task == STEP:
                s, t, u = r[i, 0] - s, r[i, 1] - t, r[i, 2] - u
                r[i, 0], r[i, 1], r[i, 2] = s, t, u
        elif task == GATHER:
            s, t, u = zero, zero, zero
            for k in range(back_start[i], back_start[i + np.uint64(1)]):
                w, below = hang_weight[back_entry[k]], r[back_row[k]]
                s, t, u = s + w * below[0], t + w * below[1], u + w * below[2]
            r[i, 0], r[i, 1], r[i, 2] = s, t, u
        else:
            s, t, u = r[i, 0], r[i, 1], r[i, 2]
        if b == zero:
            continue
        M = inverse[i]
        v, w, z = (
            b * (M[0] * s + M[3] * t + M[5] * u),
            b * (M[3] * s + M[1] * t + M[4] * u),
            b * (M[5] * s + M[4] * t + M[2] * u),
        )
        if task == STEP:
            v, w, z = v + a * d[i, 0], w + a * d[i, 1], z + a * d[i, 2]
            x[i, 0], x[i, 1], x[i, 2] = x[i, 0] + v, x[i, 1] + w, x[i, 2] + z
        elif task != POWER:
            x[i, 0], x[i, 1], x[i, 2] = v, w, z
        new[i, 0], new[i, 1], new[i, 2] = v, w, z
