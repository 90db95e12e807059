# SPDX-License-Identifier: GPL-3.0-or-later
"""The rows of the step's matrix with a rotation each, and what they push."""

from __future__ import annotations

from ..jit import kernel
from ..linear.threes import add, add_products, load, nothing, numbers, store, three, total


@kernel(contract=True)
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
        here, row = load(x, 3 * i), 9 * i
        (a, b, c), (d, e, f) = numbers(load(rotations, row)), numbers(load(rotations, row + 3))
        g, h, m = numbers(load(rotations, row + 6))
        p, q, r = three(a, d, g), three(b, e, h), three(c, f, m)  # columns of R
        first, second, third = nothing(), nothing(), nothing()
        for k in range(row_start[i], row_start[i + 1]):
            # rows of k Rᵀ
            (u, v, w), block = numbers(load(K, 9 * k)), 9 * k
            s = add(add(add(nothing(), u, p), v, q), w, r)
            u, v, w = numbers(load(K, block + 3))
            t = add(add(add(nothing(), u, p), v, q), w, r)
            u, v, w = numbers(load(K, block + 6))
            o = add(add(add(nothing(), u, p), v, q), w, r)
            # a body that is moved as a whole feels nothing, so only where nodes are from each other counts
            away = add(load(x, 3 * column[k]), -1.0, here)
            first, second = add_products(first, s, away), add_products(second, t, away)
            third = add_products(third, o, away)
            upper = add(add(add(nothing(), factor * a, s), factor * b, t), factor * c, o)
            middle = add(add(add(nothing(), factor * d, s), factor * e, t), factor * f, o)
            lower = add(add(add(nothing(), factor * g, s), factor * h, t), factor * m, o)
            store(warped, block, upper)
            store(warped, block + 3, middle)
            store(warped, block + 6, lower)
            store(values, block, add(load(values, block), 1.0, upper))
            store(values, block + 3, add(load(values, block + 3), 1.0, middle))
            store(values, block + 6, add(load(values, block + 6), 1.0, lower))
        x_, y_, z_ = numbers(load(push, 3 * i))
        x_, y_, z_ = x_ - total(first), y_ - total(second), z_ - total(third)
        store(force, 3 * i, add(add(add(nothing(), x_, p), y_, q), z_, r))


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
