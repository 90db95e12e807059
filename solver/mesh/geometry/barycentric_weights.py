# SPDX-License-Identifier: GPL-3.0-or-later
"""Barycentric weights of points in tets that are given with them, also outside of these."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Floats, Indices, floats
from .point_tet import barycentric_rows


def barycentric_weights(tets: Indices, x: Floats, places: Floats) -> Floats:
    """Returns the weights of places [m], (k, 3), in tets, (k, 4), whose nodes are at x [m], (n, 3), (k, 4)."""
    rows, _ = barycentric_rows(x, tets)
    last = np.einsum("kij,kj->ki", rows, places - x[tets[:, 0]])
    return floats(np.concatenate([1.0 - last.sum(axis=1, keepdims=True), last], axis=1))
