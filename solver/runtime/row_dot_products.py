# SPDX-License-Identifier: GPL-3.0-or-later
"""Dot products of the vectors of all nodes."""

from __future__ import annotations

from .arrays import Floats


def row_dot_products(a: Floats, b: Floats) -> Floats:
    """Returns aᵢ · bᵢ, (n,), for vectors (n, 3).

    Column by column: the same bits as a sum over the last axis, for which NumPy takes nine times as long.
    """
    products = a * b
    return products[:, 0] + products[:, 1] + products[:, 2]
