# SPDX-License-Identifier: GPL-3.0-or-later
"""Sums and products of two numbers without error: the rounded result, and what rounding took from it."""

from __future__ import annotations

from ...runtime.jit import kernel

SPLIT_FACTOR = 2.0**27 + 1.0  # cuts a number into two of half the digits


@kernel(device_only=True)
def two_sum(a, b):
    """Returns a + b rounded, and the rounding error.

    Source: Knuth (1969), The Art of Computer Programming 2, section 4.2.2, theorem B.
    """
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


@kernel(device_only=True)
def two_product(a, b):
    """Returns a · b rounded, and the rounding error.

    Source: Dekker (1971), A Floating-Point Technique for Extending the Available Precision, section 5.
    """
    p = a * b
    s, t = SPLIT_FACTOR * a, SPLIT_FACTOR * b
    a_high, b_high = s - (s - a), t - (t - b)
    a_low, b_low = a - a_high, b - b_high
    return p, ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low
