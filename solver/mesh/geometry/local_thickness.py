# SPDX-License-Identifier: GPL-3.0-or-later
"""How thick a volume is below each face of its surface: the length of a ray from the face's middle inwards.

Source: SSC08, the shape diameter function; with one ray per face, along the normal.
"""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Floats
from .surface_exit_points import exit_points
from .triangle_bvh import build_bvh
from .triangle_surface import Surface
from .winding_number import winding_numbers

START_DEPTH = 1.0e-6  # of the diagonal of the box: where a ray begins, below the face that it leaves
INSIDE_WINDING = 0.5


def local_thicknesses(surface: Surface) -> tuple[Floats, Floats]:
    """Returns how thick a volume is below each face, and the faces' areas.

    Args:
        surface: Its faces look outward.

    Returns:
        Thicknesses [m], NaN below faces that have no inside there or no area, (t,), and areas [m²], (t,).
    """
    a, b, c = np.moveaxis(surface.corners, 1, 0)
    normals = np.cross(b - a, c - a)
    doubled_area = np.linalg.norm(normals, axis=1)
    thickness = np.full(len(normals), np.nan)
    has_area = np.flatnonzero(doubled_area > 0.0)
    lower, upper = surface.bounds
    length = float(np.linalg.norm(upper - lower))
    inwards = -normals[has_area] / doubled_area[has_area, None]
    middles = (a + b + c)[has_area] / 3.0
    starts = middles + START_DEPTH * length * inwards
    bvh = build_bvh(surface.vertices, surface.triangles)
    winding = winding_numbers(bvh, starts)
    is_inside = winding > INSIDE_WINDING
    ends = starts + length * inwards
    shares, _ = exit_points(bvh, starts[is_inside], ends[is_inside], winding[is_inside])
    thickness[has_area[is_inside]] = shares * length
    return thickness, 0.5 * doubled_area
