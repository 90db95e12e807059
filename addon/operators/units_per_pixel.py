# SPDX-License-Identifier: GPL-3.0-or-later
"""How large a pixel of a 3D view is in the scene."""

from __future__ import annotations

import bpy
import numpy as np
from bpy_extras import view3d_utils
from mathutils import Vector


def units_per_pixel(
    region: bpy.types.Region, view: bpy.types.RegionView3D, place: np.ndarray, mouse: tuple[int, int]
) -> float:
    """Returns how many Blender units are in a pixel at the depth of a place (3,)."""
    at, beside = (
        view3d_utils.region_2d_to_location_3d(region, view, each, Vector(place))
        for each in (mouse, (mouse[0] + 1, mouse[1]))
    )
    return max((beside - at).length, 1.0e-9)
