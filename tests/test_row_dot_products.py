# SPDX-License-Identifier: GPL-3.0-or-later
"""Dot products of rows have the bits of NumPy's own sum."""

from __future__ import annotations

import numpy as np

from sinew.solver.runtime.row_dot_products import row_dot_products


def test_row_dot_products_have_the_bits_of_a_sum_over_the_last_axis():
    a, b = np.random.default_rng(0).normal(size=(2, 1000, 3)) * np.logspace(-8, 8, 1000)[:, None]
    assert np.array_equal(row_dot_products(a, b), (a * b).sum(axis=1))
    assert row_dot_products(a[:0], b[:0]).shape == (0,)
