# SPDX-License-Identifier: GPL-3.0-or-later
"""How deep points lie inside a surface."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Floats, floats
from .closest_point import closest_points
from .triangle_bvh import Bvh
from .winding_number import winding_numbers

INSIDE_WINDING = 0.5  # winding number above which a point is inside, whichever way the faces look


def penetration_depths(bvh: Bvh, points: npt.ArrayLike) -> Floats:
    """Returns the distance to the surface of points [m], (k, 3), that are inside it, and 0 for the others, (k,) [m]."""
    points = floats(points, -1, 3)
    lower, upper = bvh.boxes[0, :3], bvh.boxes[0, 3:]
    in_box = np.flatnonzero((points >= lower).all(axis=1) & (points <= upper).all(axis=1))
    inside = in_box[np.abs(winding_numbers(bvh, points[in_box])) > INSIDE_WINDING]
    depths = np.zeros(len(points))
    depths[inside] = closest_points(bvh, points[inside]).distance
    return depths
