# SPDX-License-Identifier: GPL-3.0-or-later
"""The rows of the step's matrix with a rotation each, and what they push."""

from __future__ import annotations

from ...runtime.jit import kernel
from ...runtime.simd.vec3 import vec3, vec3_axpy, vec3_fma, vec3_load, vec3_store, vec3_sum, vec3_unpack, vec3_zero


@kernel(allow_fma=True)
def warp_rows(begin, end, factor, row_start, column, K, push, rotations, x, warped, values, force):
    """Adds `factor` R_i k_ij R_iᵀ to the rows from `begin` to `end`, and writes f_i = R_i (Σ_j k_ij X_j) − K' x.

    Args:
        factor: Such as Δt².
        row_start, column: Of the pattern.
        K, push: Of the bodies at rest [N/m], (b, 9), and [N], (n, 3).
        rotations: R, row by row, (n, 9).
        x: Node positions [m], (n, 3).
        warped: The blocks that are added, (b, 9), out.
        values: (b, 9), in and out.
        force: [N], (n, 3), out.
    """
    for i in range(begin, end):
        here, row = vec3_load(x, 3 * i), 9 * i
        (a, b, c), (d, e, f) = vec3_unpack(vec3_load(rotations, row)), vec3_unpack(vec3_load(rotations, row + 3))
        g, h, m = vec3_unpack(vec3_load(rotations, row + 6))
        p, q, r = vec3(a, d, g), vec3(b, e, h), vec3(c, f, m)  # columns of R
        first, second, third = vec3_zero(), vec3_zero(), vec3_zero()
        for k in range(row_start[i], row_start[i + 1]):
            # rows of k Rᵀ
            (u, v, w), block = vec3_unpack(vec3_load(K, 9 * k)), 9 * k
            s = vec3_axpy(vec3_axpy(vec3_axpy(vec3_zero(), u, p), v, q), w, r)
            u, v, w = vec3_unpack(vec3_load(K, block + 3))
            t = vec3_axpy(vec3_axpy(vec3_axpy(vec3_zero(), u, p), v, q), w, r)
            u, v, w = vec3_unpack(vec3_load(K, block + 6))
            o = vec3_axpy(vec3_axpy(vec3_axpy(vec3_zero(), u, p), v, q), w, r)
            # a body that is moved as a whole feels nothing, so only where nodes are from each other counts
            away = vec3_axpy(vec3_load(x, 3 * column[k]), -1.0, here)
            first, second = vec3_fma(first, s, away), vec3_fma(second, t, away)
            third = vec3_fma(third, o, away)
            upper = vec3_axpy(vec3_axpy(vec3_axpy(vec3_zero(), factor * a, s), factor * b, t), factor * c, o)
            middle = vec3_axpy(vec3_axpy(vec3_axpy(vec3_zero(), factor * d, s), factor * e, t), factor * f, o)
            lower = vec3_axpy(vec3_axpy(vec3_axpy(vec3_zero(), factor * g, s), factor * h, t), factor * m, o)
            vec3_store(warped, block, upper)
            vec3_store(warped, block + 3, middle)
            vec3_store(warped, block + 6, lower)
            vec3_store(values, block, vec3_axpy(vec3_load(values, block), 1.0, upper))
            vec3_store(values, block + 3, vec3_axpy(vec3_load(values, block + 3), 1.0, middle))
            vec3_store(values, block + 6, vec3_axpy(vec3_load(values, block + 6), 1.0, lower))
        x_, y_, z_ = vec3_unpack(vec3_load(push, 3 * i))
        x_, y_, z_ = x_ - vec3_sum(first), y_ - vec3_sum(second), z_ - vec3_sum(third)
        vec3_store(force, 3 * i, vec3_axpy(vec3_axpy(vec3_axpy(vec3_zero(), x_, p), y_, q), z_, r))


@kernel()
def subtract_rows(begin, end, row_start, column, warped, wide_start, wide_column, values, out):
    """Writes the rows from `begin` to `end` of `values` less those of `warped`, whose pattern is part of theirs."""
    for i in range(begin, end):
        k, last = row_start[i], row_start[i + 1]
        for block in range(wide_start[i], wide_start[i + 1]):
            share = 0.0
            if k < last and column[k] == wide_column[block]:
                share = 1.0
            own = k if share > 0.0 else row_start[i]
            for entry in range(9):
                out[block, entry] = values[block, entry] - share * warped[own, entry]
            if share > 0.0:
                k += 1
