# SPDX-License-Identifier: GPL-3.0-or-later
"""The coarsest matrices, one per connected part, solved by their factors A = Uᵀ D⁻¹ U."""

from __future__ import annotations

from ...runtime.jit import kernel

# Of the diagonal: what is left of a row below it hangs on the rows before, and is left out
MIN_RELATIVE_PIVOT = 1.0e-11


@kernel(allow_fma=True)
def factor_coarsest(part_start, first, before, start, column, diagonal, blocks, scale, factors_start, factors):
    """Writes U with the pivots D on its diagonal, row by row, for every part; a row that is left out has zeros.

    Args:
        part_start: First coarse node of each part, (k + 1,).
        first, before: The row at which the coarsest matrix begins, and the block with which `blocks` does.
        start, column, diagonal, blocks: Rows, columns, blocks on the diagonal and blocks of matrices, counted through.
        scale: Factor on the coarsest matrix, per part, (k,).
        factors_start: Where the factors of each part begin, (k + 1,).
        factors: Of a part with c nodes (3c)² numbers, out.
    """
    for part in range(len(part_start) - 1):
        low, end = first + part_start[part], first + part_start[part + 1]
        size = 3 * (end - low)
        U = factors[factors_start[part] : factors_start[part + 1]].reshape(size, size)
        U[:, :] = 0.0
        for i in range(low, end):
            for k in range(start[i], start[i + 1]):
                for m in range(3):
                    for n in range(3):
                        U[3 * (i - low) + m, 3 * (column[k] - low) + n] = scale[part] * blocks[k - before, 3 * m + n]
        for k in range(size):
            row, node = U[k], low + k // 3
            least = MIN_RELATIVE_PIVOT * scale[part] * blocks[diagonal[node] - before, 4 * (k % 3)]
            if not row[k] > least:
                row[:] = 0.0
                continue
            for i in range(k + 1, size):
                f = row[i] / row[k]
                if f != 0.0:
                    below = U[i]
                    for j in range(i, size):
                        below[j] -= f * row[j]


@kernel(allow_fma=True)
def solve_coarsest(part_start, offset, factors_start, factors, r, y, x):
    """Writes x = A⁻¹ r for the coarsest nodes, which begin at row `offset` of r and x, (n, 3); y is work space."""
    for part in range(len(part_start) - 1):
        low = part_start[part] + offset
        size = 3 * (part_start[part + 1] - part_start[part])
        U = factors[factors_start[part] : factors_start[part + 1]].reshape(size, size)
        for i in range(size):
            y[i] = r[low + i // 3, i % 3]
        for k in range(size):
            row = U[k]
            if row[k] == 0.0:
                y[k] = 0.0
                continue
            f = y[k] / row[k]
            for i in range(k + 1, size):
                y[i] -= f * row[i]
        for k in range(size - 1, -1, -1):
            row = U[k]
            if row[k] == 0.0:
                continue
            total = y[k]
            for i in range(k + 1, size):
                total -= row[i] * y[i]
            y[k] = total / row[k]
        for i in range(size):
            x[low + i // 3, i % 3] = y[i]
