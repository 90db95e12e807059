# SPDX-License-Identifier: GPL-3.0-or-later
"""What conjugate gradients do with the rows of a matrix: one task after the other, each in one pass over the rows."""

from __future__ import annotations

from ..jit import kernel
from .block_row import multiply_row
from .threes import add, add_cross, add_products, load, nothing, numbers, store, total

# First (GIVEN, APPLY,) RESIDUAL for the norm of b, then ALL, APPLY, RESIDUAL for the residual of the guess; LIKELY,
# CURVE, DESCEND once; DIRECTION, PRODUCT, DESCEND as often as it takes; at the end ALL, APPLY, RESIDUAL to see what is
# there, and on from DIRECTION where that is not enough.
DONE, GIVEN, ALL, APPLY, RESIDUAL, LIKELY, CURVE, DIRECTION, PRODUCT, DESCEND = range(10)

# What is known of an island, column by column: first what it shares with those that it is coupled to, and what it has
# of its own, then the sums of the last pass, the share c of its modes in z, and the six sums that it follows from.
ACTIVE, ALPHA, BETA, RZ, BEST, RR, BB, FIRST, SECOND, SHARE = range(10)
SHARED = RR  # columns
LACKING = SHARE + 6
KNOWN = LACKING + 6

SUMS = 8  # that a pass leaves per chunk: two of its task, six for the modes

# Vectors in one array beside p, (4, n, 3).
R, Z, Q, D = range(4)


@kernel(contract=True, inside=True)
def pass_rows(
    task, chunk, chunk_start, chunk_island, row_start, column, values, inverse, is_free, b, p, vectors, arms, product,
    known, x, sums,
):  # fmt: skip
    """Does one task on one chunk of rows, with sums over them.

    GIVEN: p = x at held nodes, else 0. ALL: p = x. LIKELY: p = d, with r·p. DIRECTION: p = z + β p, less Z c where
    there are modes. APPLY, CURVE, PRODUCT: q = A p, with p·q. RESIDUAL: r = b − q. DESCEND: x += α p, r −= α q. The
    last two also z = M⁻¹ r, with r·z and r·r, and with (AZ)ᵀz − Zᵀr where there are modes.
    """
    # One function, since every one takes its time to compile; and without parts of arrays as arrays of their own,
    # whose references would be counted in every pass.
    start, end, island = chunk_start[chunk], chunk_start[chunk + 1], chunk_island[chunk]
    count = 3 * len(is_free)
    r, z, q, d = R * count, Z * count, Q * count, D * count
    first, second = nothing(), nothing()
    if task == APPLY or task == CURVE or task == PRODUCT:
        along = 0.0
        for i in range(start, end):
            s, t, u = multiply_row(values, column, p, row_start[i], row_start[i + 1])
            vectors[Q, i, 0], vectors[Q, i, 1], vectors[Q, i, 2] = s, t, u
            along += s * p[i, 0] + t * p[i, 1] + u * p[i, 2]
        sums[chunk, 0] = along
    elif task == DIRECTION:
        c = KNOWN * island + SHARE
        beta, move, turn = known[island, BETA], load(known, c), load(known, c + 3)
        for i in range(start, end):
            store(p, 3 * i, add(load(vectors, z + 3 * i), beta, load(p, 3 * i)))
        if len(product) > 0:
            for i in range(start, end):
                moved = add_cross(move, turn, load(arms, 3 * i))
                store(p, 3 * i, add(load(p, 3 * i), -1.0, moved))
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
        alpha = known[island, ALPHA]
        for i in range(start, end):
            if not is_free[i]:
                continue
            if task == DESCEND:
                store(x, 3 * i, add(load(x, 3 * i), alpha, load(p, 3 * i)))
                left = add(load(vectors, r + 3 * i), -alpha, load(vectors, q + 3 * i))
            else:
                left = add(load(b, 3 * i), -1.0, load(vectors, q + 3 * i))
            s, t, u = numbers(left)
            row = 9 * i
            found = add(add(nothing(), s, load(inverse, row)), t, load(inverse, row + 3))
            found = add(found, u, load(inverse, row + 6))
            store(vectors, r + 3 * i, left)
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
