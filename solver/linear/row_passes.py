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

# What is known of an island, column by column; the last six are the share c of its modes in z.
ACTIVE, ALPHA, BETA, RZ, RR, BB, BEST, SHARE = range(8)
KNOWN = SHARE + 6

SUMS = 8  # that a pass leaves per chunk: two of its task, six for the modes

# Vectors in one array beside p, (4, n, 3).
R, Z, Q, D = range(4)


@kernel()
def pass_rows(
    task, chunk, chunk_start, chunk_island, row_start, column, values, inverse, is_free, b, p, vectors, arms, product,
    known, x, sums,
):  # fmt: skip
    """Does one task on one chunk of rows, with sums over them.

    GIVEN: p = x at held nodes, else 0. ALL: p = x. LIKELY: p = d, with r·p. DIRECTION: p = z + β p, less Z c where
    there are modes. APPLY, CURVE, PRODUCT: q = A p, with p·q. RESIDUAL: r = b − q. DESCEND: x += α p, r −= α q. The
    last two also z = M⁻¹ r, with r·z and r·r, and with (AZ)ᵀz − Zᵀr where there are modes.
    """
    start, end, island = chunk_start[chunk], chunk_start[chunk + 1], chunk_island[chunk]
    if task == APPLY or task == CURVE or task == PRODUCT:
        _multiply(start, end, row_start, column, values, p, vectors, sums, chunk)
    elif task == DIRECTION:
        _turn(start, end, known[island, BETA], p, vectors)
        if len(product) > 0:
            _leave_modes(start, end, arms, known, island, p)
    elif task == DESCEND or task == RESIDUAL:
        if task == DESCEND:
            _descend(start, end, known[island, ALPHA], p, vectors, is_free, x)
        else:
            _begin(start, end, b, vectors, is_free)
        _precondition(start, end, inverse, vectors, sums, chunk)
        if len(product) > 0:
            _meet_modes(start, end, arms, product, vectors, sums, chunk)
    elif task == LIKELY:
        _follow(start, end, p, vectors, sums, chunk)
    else:
        _take(start, end, task == ALL, is_free, x, p)


# Each without parts of arrays as arrays of their own, whose references would be counted in every pass.


@kernel(contract=True)
def _multiply(start, end, row_start, column, values, p, vectors, sums, chunk):
    """q = A p, with p·q."""
    along = 0.0
    for i in range(start, end):
        s, t, u = multiply_row(values, column, p, row_start[i], row_start[i + 1])
        vectors[Q, i, 0], vectors[Q, i, 1], vectors[Q, i, 2] = s, t, u
        along += s * p[i, 0] + t * p[i, 1] + u * p[i, 2]
    sums[chunk, 0] = along


@kernel(contract=True)
def _turn(start, end, beta, p, vectors):
    """p = z + β p."""
    z = 3 * Z * len(p)
    for i in range(start, end):
        store(p, 3 * i, add(load(vectors, z + 3 * i), beta, load(p, 3 * i)))


@kernel(contract=True)
def _leave_modes(start, end, arms, known, island, p):
    """Takes Z c from p."""
    c = KNOWN * island + SHARE
    move, turn = load(known, c), load(known, c + 3)
    for i in range(start, end):
        moved = add_cross(move, turn, load(arms, 3 * i))
        store(p, 3 * i, add(load(p, 3 * i), -1.0, moved))


@kernel(contract=True)
def _descend(start, end, alpha, p, vectors, is_free, x):
    """x += α p and r −= α q at free nodes."""
    r, q = 3 * R * len(p), 3 * Q * len(p)
    for i in range(start, end):
        way = alpha if is_free[i] else 0.0
        store(x, 3 * i, add(load(x, 3 * i), way, load(p, 3 * i)))
        store(vectors, r + 3 * i, add(load(vectors, r + 3 * i), -way, load(vectors, q + 3 * i)))


@kernel(contract=True)
def _begin(start, end, b, vectors, is_free):
    """r = b − q at free nodes, else 0."""
    r, q = 3 * R * len(b), 3 * Q * len(b)
    for i in range(start, end):
        is_taken = 1.0 if is_free[i] else 0.0
        left = add(load(b, 3 * i), -1.0, load(vectors, q + 3 * i))
        store(vectors, r + 3 * i, add(nothing(), is_taken, left))


@kernel(contract=True)
def _precondition(start, end, inverse, vectors, sums, chunk):
    """z = M⁻¹ r, with r·z and r·r."""
    r, z = 3 * R * len(inverse), 3 * Z * len(inverse)
    first, second = nothing(), nothing()
    for i in range(start, end):
        left, row = load(vectors, r + 3 * i), 9 * i
        s, t, u = numbers(left)
        found = add(add(nothing(), s, load(inverse, row)), t, load(inverse, row + 3))
        found = add(found, u, load(inverse, row + 6))
        store(vectors, z + 3 * i, found)
        first, second = add_products(first, left, found), add_products(second, left, left)
    sums[chunk, 0], sums[chunk, 1] = total(first), total(second)


@kernel(contract=True)
def _meet_modes(start, end, arms, product, vectors, sums, chunk):
    """Writes (AZ)ᵀz − Zᵀr behind the other sums."""
    r, z = 3 * R * len(arms), 3 * Z * len(arms)
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


@kernel(contract=True)
def _follow(start, end, p, vectors, sums, chunk):
    """p = d, with r·p."""
    r, d = 3 * R * len(p), 3 * D * len(p)
    first = nothing()
    for i in range(start, end):
        direction = load(vectors, d + 3 * i)
        store(p, 3 * i, direction)
        first = add_products(first, load(vectors, r + 3 * i), direction)
    sums[chunk, 0] = total(first)


@kernel(contract=True)
def _take(start, end, all_of_it, is_free, x, p):
    """p = x, or where not all of it is taken, at held nodes alone, else 0."""
    for i in range(start, end):
        taken = 0.0 if is_free[i] and not all_of_it else 1.0
        store(p, 3 * i, add(nothing(), taken, load(x, 3 * i)))
