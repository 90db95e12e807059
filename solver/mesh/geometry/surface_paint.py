# SPDX-License-Identifier: GPL-3.0-or-later
"""What is painted at the vertices of a surface, at points between them."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Bools, Floats, Indices
from .closest_point import ClosestPoints

PAINT_THRESHOLD = 0.5  # where paint is above this, it says yes


def is_painted(paint: Floats, triangles: Indices, found: ClosestPoints) -> Bools:
    """Returns whether paint at the vertices says yes at points found on the triangles, (k,); no paint always does."""
    if not len(paint):
        return np.ones(len(found.triangle), bool)
    return interpolate_at(paint, triangles, found) > PAINT_THRESHOLD


def interpolate_at(values: Floats, triangles: Indices, found: ClosestPoints) -> Floats:
    """Returns values at the vertices, (n,), at points found on the triangles, (k,)."""
    return np.einsum("ka,ka->k", np.asarray(values, np.float64)[triangles[found.triangle]], found.weights)
