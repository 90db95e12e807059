# SPDX-License-Identifier: GPL-3.0-or-later
"""Islands of a few nodes, such as crumbs, are solved at once and exactly, by Cholesky's factors.

Conjugate gradients beside rigid modes have few directions left there. Where a hard contact presses on a light crumb
they lose them to round-off before the tolerance is reached, and then grow without end.
"""

from __future__ import annotations

import math

import numpy as np

from ..runtime.jit import kernel

MAX_SMALL_ISLAND_NODES = 8


@kernel()
def solve_small_islands(island_start, is_coupled, row_start, column, values, is_free, b, x):
    """Writes the solution of A x = b into x, (n, 3), for the free nodes of islands of up to `MAX_SMALL_ISLAND_NODES`
    nodes.

    Args:
        island_start, row_start, column: Of the `BlockPattern`.
        is_coupled: Which islands others touch, (k,), or none: these are left alone. Blocks between others are zero.
        values: Blocks of A, symmetric positive definite over the free nodes, (b, 9). Where round-off has left them
            not so, the island is left alone.
        is_free: Which nodes are solved for, (n,).
        b: Right-hand side, (n, 3).
        x: Given values of held nodes; out.
    """
    L, y = np.empty((3 * MAX_SMALL_ISLAND_NODES, 3 * MAX_SMALL_ISLAND_NODES)), np.empty(3 * MAX_SMALL_ISLAND_NODES)
    for island in range(len(island_start) - 1):
        first, last = island_start[island], island_start[island + 1]
        if last - first > MAX_SMALL_ISLAND_NODES or (len(is_coupled) > 0 and is_coupled[island]):
            continue
        size = 3 * (last - first)
        for row in range(size):
            for col in range(size):
                L[row, col] = 0.0
        for i in range(first, last):
            for m in range(3):
                row = 3 * (i - first) + m
                y[row] = b[i, m] if is_free[i] else x[i, m]
                if not is_free[i]:
                    L[row, row] = 1.0
            if not is_free[i]:
                continue
            for k in range(row_start[i], row_start[i + 1]):
                j = column[k]
                if j < first or j >= last:
                    continue
                for m in range(3):
                    for n in range(3):
                        if is_free[j]:
                            L[3 * (i - first) + m, 3 * (j - first) + n] = values[k, 3 * m + n]
                        else:
                            y[3 * (i - first) + m] -= values[k, 3 * m + n] * x[j, n]
        if _solve_in_place(L, y, size):
            for i in range(first, last):
                for m in range(3):
                    if is_free[i]:
                        x[i, m] = y[3 * (i - first) + m]


@kernel(device_only=True)
def _solve_in_place(L, y, size):
    """Puts A⁻¹ y into y for the symmetric A in the lower half of L; returns whether A is positive definite."""
    for i in range(size):
        for j in range(i + 1):
            total = L[i, j]
            for k in range(j):
                total -= L[i, k] * L[j, k]
            if i != j:
                L[i, j] = total / L[j, j]
            elif total > 0.0:
                L[i, i] = math.sqrt(total)
            else:
                return False
    for i in range(size):
        for k in range(i):
            y[i] -= L[i, k] * y[k]
        y[i] /= L[i, i]
    for i in range(size - 1, -1, -1):
        for k in range(i + 1, size):
            y[i] -= L[k, i] * y[k]
        y[i] /= L[i, i]
    return True
