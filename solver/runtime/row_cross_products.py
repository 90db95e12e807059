# SPDX-License-Identifier: GPL-3.0-or-later
"""Cross products of rows, without what `numpy.cross` does for axes of any kind: a third of its time for a few rows."""

from __future__ import annotations

import numpy as np

from .arrays import Floats


def row_cross_products(a: Floats, b: Floats) -> Floats:
    """Returns a × b of vectors along the last axis, (…, 3), whose other axes broadcast; the bits of `numpy.cross`."""
    a0, a1, a2 = a[..., 0], a[..., 1], a[..., 2]
    b0, b1, b2 = b[..., 0], b[..., 1], b[..., 2]
    out = np.empty(np.broadcast_shapes(a.shape, b.shape))
    np.subtract(a1 * b2, a2 * b1, out=out[..., 0])
    np.subtract(a2 * b0, a0 * b2, out=out[..., 1])
    np.subtract(a0 * b1, a1 * b0, out=out[..., 2])
    return out
