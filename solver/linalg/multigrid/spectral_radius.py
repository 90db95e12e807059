# SPDX-License-Identifier: GPL-3.0-or-later
"""How large the numbers of a matrix are, and how fast the power method grows."""

from __future__ import annotations

import numpy as np

from ...runtime.jit import kernel

MIN_WINDOW_SQUARES = 1.0e-3  # of the mean: windows whose squares are less say nothing


@kernel()
def island_scales(values, diagonal, is_free, island_start, scale):
    """Writes powers of two that bring the largest number on the diagonal of each island's free nodes near one, (k,)."""
    for island in range(len(scale)):
        largest = 0.0
        for i in range(island_start[island], island_start[island + 1]):
            if is_free[i]:
                for k in range(0, 9, 4):
                    number = values[diagonal[i], k]
                    if number > largest:
                        largest = number
        scale[island] = 2.0 ** -np.rint(np.log2(largest)) if 0.0 < largest < np.inf else 1.0


@kernel()
def power_growth(begin, end, window, after, before):
    """Returns how much longer rows from `begin` to `end` of `after` are than those of `before`, (N, 3) each.

    In those of every `window` rows where it is most.
    """
    whole, most = 0.0, 0.0
    for i in range(begin, end):
        whole += row_squared_norm(i, before)
    count = (end - begin + window - 1) // window
    for first in range(begin, end, window):
        grown, old = 0.0, 0.0
        for i in range(first, min(first + window, end)):
            grown += row_squared_norm(i, after)
            old += row_squared_norm(i, before)
        if old * count > MIN_WINDOW_SQUARES * whole:
            most = max(most, grown / old)
    return np.sqrt(most) if most > 0.0 else 1.0


@kernel(inline=True, device_only=True)
def row_squared_norm(i, d):
    """Returns the square of the length of row i."""
    x, y, z = np.float64(d[i, 0]), np.float64(d[i, 1]), np.float64(d[i, 2])
    return x * x + y * y + z * z
