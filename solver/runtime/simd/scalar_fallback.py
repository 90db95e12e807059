# SPDX-License-Identifier: GPL-3.0-or-later
"""What the other modules of this room write in LLVM's vectors, in plain Numba, for an llvmlite that cannot build them.

A vector is a tuple of four numbers. Sums are taken in the same order as there, so results differ by round-off at most,
where one of the two fuses a product with a sum. Nothing is loaded ahead of its use.
"""

from __future__ import annotations

import numpy as np

from ..jit import kernel
from .int16_block_layout import LAST_NUMBERS_OFFSET, ROWS_OFFSET

LOW_HALF, HIGH_HALF, SIGN, WORD = 0xFFFF, 0xFFFF0000, 0x80000000, 0x100000000  # of words of 32 bits
HALF_UNIT = 0x8000  # half of what the upper half of a word counts in


@kernel(inline=True, device_only=True, no_refcount=True)
def vec3_load(array, place):
    """Returns the three numbers of an array from number `place` on."""
    flat = array.flat
    return flat[place], flat[place + 1], flat[place + 2], 0.0


@kernel(inline=True, device_only=True, no_refcount=True)
def vec3_store(array, place, v):
    """Writes v to the three numbers of an array from number `place` on."""
    flat = array.flat
    flat[place], flat[place + 1], flat[place + 2] = v[0], v[1], v[2]


@kernel(inline=True, device_only=True, no_refcount=True)
def vec4_load(array, place):
    """Returns the four numbers of an array from number `place` on."""
    flat = array.flat
    return flat[place], flat[place + 1], flat[place + 2], flat[place + 3]


@kernel(inline=True, device_only=True, no_refcount=True)
def block3_load(array, block, ahead):
    """Returns the three rows of a block of an array, (b, 9)."""
    flat, first = array.flat, 9 * block
    return (
        (flat[first], flat[first + 1], flat[first + 2], flat[first + 3]),
        (flat[first + 3], flat[first + 4], flat[first + 5], flat[first + 6]),
        (flat[first + 6], flat[first + 7], flat[first + 8], 0.0),
    )


@kernel(inline=True, device_only=True, no_refcount=True)
def vec4_store(array, place, v):
    """Writes v and its fourth lane to an array."""
    flat = array.flat
    flat[place], flat[place + 1], flat[place + 2], flat[place + 3] = v


@kernel(inline=True, device_only=True, no_refcount=True)
def prefetch(array, place):
    """Does nothing."""


@kernel(inline=True, device_only=True, no_refcount=True)
def vec3_zero():
    """Returns three zeros."""
    return 0.0, 0.0, 0.0, 0.0


@kernel(inline=True, device_only=True, no_refcount=True)
def vec3(a, b, c):
    """Returns three numbers in a vector."""
    return np.float64(a), np.float64(b), np.float64(c), 0.0


@kernel(allow_fma=True, inline=True, device_only=True, no_refcount=True)
def vec3_axpy(v, k, w):
    """Returns v + k w for a number k."""
    return v[0] + k * w[0], v[1] + k * w[1], v[2] + k * w[2], v[3] + k * w[3]


@kernel(allow_fma=True, inline=True, device_only=True, no_refcount=True)
def vec3_fma(v, w, u):
    """Returns v plus the products of w and u, lane by lane."""
    return v[0] + w[0] * u[0], v[1] + w[1] * u[1], v[2] + w[2] * u[2], v[3] + w[3] * u[3]


@kernel(inline=True, device_only=True, no_refcount=True)
def vec3_yzx(v):
    """Returns y, z, x of v = x, y, z."""
    return v[1], v[2], v[0], v[3]


@kernel(allow_fma=True, inline=True, device_only=True, no_refcount=True)
def vec3_add_cross(v, w, u):
    """Returns v + w × u."""
    return (
        v[0] + w[1] * u[2] - w[2] * u[1],
        v[1] + w[2] * u[0] - w[0] * u[2],
        v[2] + w[0] * u[1] - w[1] * u[0],
        v[3],
    )


@kernel(inline=True, device_only=True, no_refcount=True)
def vec3_unpack(v):
    """Returns the three numbers of v one by one."""
    return v[0], v[1], v[2]


@kernel(inline=True, device_only=True, no_refcount=True)
def vec3_sum(v):
    """Returns the sum of the three numbers of v."""
    return v[0] + v[1] + v[2]


@kernel(allow_fma=True, inline=True, device_only=True, no_refcount=True)
def multiply_row(values, column, p, start, end):
    """Returns Σ A_k p[column[k]] over the blocks k from `start` to `end`, three numbers; see `block_row_product.py`."""
    first, second, third = vec3_zero(), vec3_zero(), vec3_zero()
    for k in range(np.int64(start), np.int64(end)):
        y = vec3_load(p, 3 * np.int64(column[k]))
        a, b, c = block3_load(values, k, 0)
        first, second, third = vec3_fma(first, a, y), vec3_fma(second, b, y), vec3_fma(third, c, y)
    return vec3_sum(first), vec3_sum(second), vec3_sum(third)


@kernel(allow_fma=True, inline=True, device_only=True, no_refcount=True)
def weighted_row_sum(weight, row, x, start, end):
    """Returns Σ w_k x[row[k]] over k from `start` to `end`, three numbers; see `interpolation_row.py`."""
    a, b, c = np.float32(0.0), np.float32(0.0), np.float32(0.0)
    for k in range(np.int64(start), np.int64(end)):
        w, i = weight[k], row[k]
        a, b, c = a + w * x[i, 0], b + w * x[i, 1], c + w * x[i, 2]
    return a, b, c


@kernel(inline=True, device_only=True, no_refcount=True)
def _signed(word):
    """Returns the whole number that a word of 32 bits is in two's complement."""
    return word - WORD if word >= SIGN else word


@kernel(inline=True, device_only=True, no_refcount=True)
def _rounded(number):
    """Returns the word with a lower half of zero that is nearest to a whole number."""
    return (number + HALF_UNIT) & HIGH_HALF


@kernel(allow_fma=True, inline=True, device_only=True, no_refcount=True)
def _add_quad_block(quads, quad, block, p, high, low, last):
    """Adds one block of a quad times its three numbers of p to the sums of its upper and lower halves and last numbers.

    The fourth lane of `high` and `low` has the first two numbers of the third row.
    """
    place = np.int64(quads[quad, block])
    x, y, z = p.flat[place], p.flat[place + 1], p.flat[place + 2]
    first = ROWS_OFFSET + 4 * block
    a, b, c = np.int64(quads[quad, first]), np.int64(quads[quad, first + 1]), np.int64(quads[quad, first + 2])
    d = np.int64(quads[quad, first + 3])
    half = np.int64(quads[quad, LAST_NUMBERS_OFFSET + block // 2]) >> (16 * (block % 2))
    return (
        (
            high[0] + _high_number(a) * x,
            high[1] + _high_number(b) * y,
            high[2] + _high_number(c) * z,
            high[3] + _high_number(d) * x,
        ),
        (
            low[0] + _low_number(a) * x,
            low[1] + _low_number(b) * y,
            low[2] + _low_number(c) * z,
            low[3] + _low_number(d) * y,
        ),
        last + _low_number(half) * z,
    )


@kernel(inline=True, device_only=True, no_refcount=True)
def _high_number(word):
    """Returns the number in the upper half of a word; the lower half behind it is allowed for where it is written."""
    return np.float32(_signed(word))


@kernel(inline=True, device_only=True, no_refcount=True)
def _low_number(word):
    """Returns the number in the lower half of a word."""
    return np.float32(_signed((word << 16) & HIGH_HALF))


@kernel(inline=True, device_only=True, no_refcount=True)
def _sum_of_four(a, b, c, d):
    """Returns the sum of four vectors, lane by lane, of the even ones and the odd ones first."""
    return (
        (a[0] + c[0]) + (b[0] + d[0]),
        (a[1] + c[1]) + (b[1] + d[1]),
        (a[2] + c[2]) + (b[2] + d[2]),
        (a[3] + c[3]) + (b[3] + d[3]),
    )


@kernel(allow_fma=True, device_only=True, no_refcount=True)
def multiply_quads(quads, p, start, end):
    """Returns Σ A_k p[column[k]] over the blocks of the quads from `start` to `end`; see `int16_block_rows.py`."""
    none = np.float32(0.0)
    zeros = none, none, none, none
    high0, high1, high2, high3 = zeros, zeros, zeros, zeros
    low0, low1, low2, low3 = zeros, zeros, zeros, zeros
    last0, last1, last2, last3 = zeros
    for quad in range(np.int64(start), np.int64(end)):
        high0, low0, last0 = _add_quad_block(quads, quad, 0, p, high0, low0, last0)
        high1, low1, last1 = _add_quad_block(quads, quad, 1, p, high1, low1, last1)
        high2, low2, last2 = _add_quad_block(quads, quad, 2, p, high2, low2, last2)
        high3, low3, last3 = _add_quad_block(quads, quad, 3, p, high3, low3, last3)
    high, low = _sum_of_four(high0, high1, high2, high3), _sum_of_four(low0, low1, low2, low3)
    third = (high[3] + low[3]) + ((last0 + last2) + (last1 + last3))
    return high[0] + high[1] + high[2], low[0] + low[1] + low[2], third


@kernel(device_only=True, no_refcount=True)
def store_block(quads, slot, p, q, r):
    """Writes the rounded block of rows p, q and r to a slot; returns the remainders; see `int16_block_rows.py`."""
    quad, lane = slot >> 2, slot & 3
    upper = np.int64(p[0]), np.int64(p[1]), np.int64(p[2]), np.int64(r[0])
    lower = np.int64(q[0]), np.int64(q[1]), np.int64(q[2]), np.int64(r[1])
    left_p, left_q = vec3_zero(), vec3_zero()
    third_x, third_y = np.float64(0.0), np.float64(0.0)
    for k in range(4):
        low = _rounded(lower[k])
        below = low >> 16
        pair = _rounded(upper[k] - below) | below
        quads[quad, ROWS_OFFSET + 4 * lane + k] = pair
        a, b = np.float64(_signed(pair)), np.float64(_signed(low))
        if k == 0:
            left_p, left_q = (p[0] - a, p[1], p[2], 0.0), (q[0] - b, q[1], q[2], 0.0)
        elif k == 1:
            left_p, left_q = (left_p[0], p[1] - a, p[2], 0.0), (left_q[0], q[1] - b, q[2], 0.0)
        elif k == 2:
            left_p, left_q = (left_p[0], left_p[1], p[2] - a, 0.0), (left_q[0], left_q[1], q[2] - b, 0.0)
        else:
            third_x, third_y = a, b
    last = _rounded(np.int64(r[2]))
    word, shift = LAST_NUMBERS_OFFSET + lane // 2, 16 * (lane % 2)
    quads[quad, word] = (np.int64(quads[quad, word]) & ~(LOW_HALF << shift)) | (last >> 16) << shift
    return left_p, left_q, (r[0] - third_x, r[1] - third_y, r[2] - np.float64(_signed(last)), 0.0)
