# SPDX-License-Identifier: GPL-3.0-or-later
"""Curvature dᵀ A d along a direction d, per island."""

from __future__ import annotations

from ..runtime.jit import kernel
from ..runtime.simd.block_row_product import multiply_row


@kernel(allow_fma=True)
def quadratic_form(island_start, row_start, column, values, d, out):
    """Writes dᵀ A d over the rows of every island, (k,), for a direction d, (n, 3)."""
    for island in range(len(out)):
        total = 0.0
        for i in range(island_start[island], island_start[island + 1]):
            x, y, z = multiply_row(values, column, d, row_start[i], row_start[i + 1])
            total += d[i, 0] * x + d[i, 1] * y + d[i, 2] * z
        out[island] = total
