# SPDX-License-Identifier: GPL-3.0-or-later
"""How large a shape may be and how far from the origin: within that, the geometry keeps its digits."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Floats
from ...runtime.errors import BadInput
from ...scene.serialisation.schema_constraints import MAX_COORDINATE

MIN_SIZE = 1.0e-9  # [m]: cubes of it stay far from the end of float64
MIN_SIZE_OVER_DISTANCE = 1.0e-10  # size over distance from the origin: float64 then keeps six digits of the shape
MAX_FLOAT32_DISTANCE_IN_SIZES = 1000.0  # up to which float32 tells apart a ten-thousandth of the size


def check_extent(points: Floats, name: str) -> None:
    """Makes sure that points (n, 3) are finite, and neither too large, too small nor too far away.

    Raises:
        BadInput: "mesh-not-finite", "mesh-too-large", "mesh-too-small" or "mesh-too-far".
    """
    broken = int((~np.isfinite(points).all(axis=1)).sum())
    if broken:
        raise BadInput("mesh-not-finite", name=name, count=broken)
    farthest = float(np.abs(points).max(initial=0.0))
    if farthest > MAX_COORDINATE:
        raise BadInput("mesh-too-large", name=name, coordinate=f"{farthest:.3g}", limit=f"{MAX_COORDINATE:g}")
    size = float(np.ptp(points, axis=0).max()) if len(points) else 0.0
    if 0.0 < size < MIN_SIZE:
        raise BadInput("mesh-too-small", name=name, size=f"{size:.3g}", limit=f"{MIN_SIZE:g}")
    if 0.0 < size < MIN_SIZE_OVER_DISTANCE * farthest:
        raise BadInput("mesh-too-far", name=name, size=f"{size:.3g}", distance=f"{farthest:.3g}")


def is_beyond_float32(points: Floats) -> bool:
    """Whether points (n, 3) lie so far from the origin that float32 would not keep the shape that they form."""
    if not len(points):
        return False
    # column by column: NumPy takes ten times as long over the rows of a table three wide
    ends = [(float(column.min()), float(column.max())) for column in points.T]
    farthest = max(max(-low, high) for low, high in ends)
    return farthest > MAX_FLOAT32_DISTANCE_IN_SIZES * max(high - low for low, high in ends)
