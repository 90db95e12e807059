# SPDX-License-Identifier: GPL-3.0-or-later
"""What conjugate gradients do with the rows of a matrix: one task after the other, each in one pass over the rows."""

from __future__ import annotations

import numpy as np

from ..jit import kernel
from .block_row import AHEAD, multiply_row
from .threes import (
    add,
    add_cross,
    add_products,
    load,
    load_block,
    load_four,
    nothing,
    numbers,
    store,
    store_four,
    three,
    total,
)

# First PREPARE for inverses and the packed half, (GIVEN, APPLY,) RESIDUAL for the norm of b, then ALL, APPLY, RESIDUAL
# for the residual of the guess; LIKELY, CURVE, DESCEND once; DIRECTION, PRODUCT, DESCEND as often as it takes; at the
# end ALL, APPLY, RESIDUAL to see what is there, and on from DIRECTION where that is not enough.
DONE, PREPARE, GIVEN, ALL, APPLY, RESIDUAL, LIKELY, CURVE, DIRECTION, PRODUCT, DESCEND = range(11)

# What is known of an island, column by column: first what it shares with those that it is coupled to, and what it has
# of its own, then the sums of the last pass, the share c of its modes in z, and the six sums that it follows from.
ACTIVE, ALPHA, BETA, RZ, BEST, RR, BB, FIRST, SECOND, SHARE = range(10)
SHARED = RR  # columns
LACKING = SHARE + 6
KNOWN = LACKING + 6

SUMS = 8  # that a pass leaves per chunk: two of its task, six for the modes

# Vectors in one array beside p.
R, Z, Q, D = range(4)
VECTORS = 4


@kernel(contract=True, inline=True, inside=True, bare=True)
def pass_rows(
    task, chunk, chunk_start, chunk_island, row_start, column, values, inverse, is_free, b, p, vectors, likely, arms,
    product, known, x, sums,
):  # fmt: skip
    """Does one task on one chunk of rows, with sums over them.

    PREPARE: p, r, z, q = 0, and d = `likely`, at held nodes 0.
    GIVEN: p = x at held nodes, else 0. ALL: p = x. LIKELY: p = d, with r·p. DIRECTION: p = z + β p, less Z c where
    there are modes. APPLY, CURVE, PRODUCT: q = A p, with p·q. RESIDUAL: r = b − q. DESCEND: x += α p, r −= α q. The
    last two also z = M⁻¹ r, with r·z and r·r, and with (AZ)ᵀz − Zᵀr where there are modes.
    """
    # One function, since every one takes its time to compile; and without parts of arrays as arrays of their own,
    # whose references would be counted in every pass.
    start, end, island = chunk_start[chunk], chunk_start[chunk + 1], chunk_island[chunk]
    count, none = 3 * len(is_free), np.int64(0)
    r, z, q, d = R * count, Z * count, Q * count, D * count
    first, second = nothing(), nothing()
    if task == APPLY or task == CURVE or task == PRODUCT:
        along = 0.0
        for i in range(start, end):
            s, t, u = multiply_row(values, column, p, row_start[i], row_start[i + 1])
            store(vectors, q + 3 * i, three(s, t, u))
            along += s * p[i, 0] + t * p[i, 1] + u * p[i, 2]
        sums[chunk, 0] = along
    elif task == DIRECTION:
        add_rows(start, end, vectors, z, known[island, BETA], p, none, p, none)
        if len(product) > 0:
            c = KNOWN * island + SHARE
            move, turn = load(known, c), load(known, c + 3)
            for i in range(start, end):
                moved = add_cross(move, turn, load(arms, 3 * i))
                store(p, 3 * i, add(load(p, 3 * i), -1.0, moved))
    elif task == PREPARE:
        for i in range(start, end):
            store(p, 3 * i, nothing())
            store(vectors, r + 3 * i, nothing())
            store(vectors, z + 3 * i, nothing())
            store(vectors, q + 3 * i, nothing())
            if len(likely) > 0:
                store(vectors, d + 3 * i, add(nothing(), 1.0 if is_free[i] else 0.0, load(likely, 3 * i)))
    elif task == LIKELY:
        for i in range(start, end):
            direction = load(vectors, d + 3 * i)
            store(p, 3 * i, direction)
            first = add_products(first, load(vectors, r + 3 * i), direction)
        sums[chunk, 0] = total(first)
    elif task == GIVEN or task == ALL:
        for i in range(start, end):
            taken = 0.0 if task == GIVEN and is_free[i] else 1.0
            store(p, 3 * i, add(nothing(), taken, load(x, 3 * i)))
    else:
        if task == DESCEND:
            # p is zero at held nodes
            add_rows(start, end, x, none, known[island, ALPHA], p, none, x, none)
            add_rows(start, end, vectors, r, -known[island, ALPHA], vectors, q, vectors, r)
        else:
            add_rows(start, end, b, none, -1.0, vectors, q, vectors, r)
        for i in range(start, end):
            left = load(vectors, r + 3 * i)
            if not is_free[i]:
                left = nothing()
                store(vectors, r + 3 * i, left)
            s, t, u = numbers(left)
            f, g, h = load_block(inverse, i, AHEAD)
            found = add(add(add(nothing(), s, f), t, g), u, h)
            store(vectors, z + 3 * i, found)
            first, second = add_products(first, left, found), add_products(second, left, left)
        sums[chunk, 0], sums[chunk, 1] = total(first), total(second)
        if len(product) > 0:
            push, twist = nothing(), nothing()
            for i in range(start, end):
                left, row = load(vectors, r + 3 * i), 18 * i
                s, t, u = numbers(load(vectors, z + 3 * i))
                pushed = add(add(nothing(), s, load(product, row)), t, load(product, row + 6))
                pushed = add(pushed, u, load(product, row + 12))
                twisted = add(add_cross(nothing(), left, load(arms, 3 * i)), s, load(product, row + 3))
                twisted = add(add(twisted, t, load(product, row + 9)), u, load(product, row + 15))
                push, twist = add(add(push, 1.0, pushed), -1.0, left), add(twist, 1.0, twisted)
            store(sums, SUMS * chunk + 2, push)
            store(sums, SUMS * chunk + 5, twist)


@kernel(contract=True, inline=True, inside=True, bare=True)
def add_rows(start, end, v, at, k, w, there, out, to):
    """Writes v + k w for the rows from `start` to `end`; v, w and out begin at the numbers `at`, `there` and `to`."""
    whole = end - (end - start) % 4
    for i in range(start, whole, 4):
        for place in range(3 * i, 3 * i + 12, 4):
            store_four(out, to + place, add(load_four(v, at + place), k, load_four(w, there + place)))
    for i in range(whole, end):
        store(out, to + 3 * i, add(load(v, at + 3 * i), k, load(w, there + 3 * i)))
