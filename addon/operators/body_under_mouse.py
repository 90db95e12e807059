# SPDX-License-Identifier: GPL-3.0-or-later
"""Which body of a live run is under the mouse, and where."""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np
from bpy_extras import view3d_utils

from ...solver.runtime.arrays import Floats
from ..baking.live_state import LiveRun
from ..live import grabs


@dataclass(frozen=True, eq=False)
class BodyUnderMouse:
    """Where the mouse points at a body of a live run.

    Attributes:
        key: Of the body.
        place: World [Blender units], (3,).
        normal: Of the face there, of length 1, towards the viewer, (3,).
    """

    key: str
    place: Floats
    normal: Floats


def body_under(context: bpy.types.Context, run: LiveRun, mouse: tuple[int, int]) -> BodyUnderMouse | None:
    """Returns where the mouse points at a body of a run; None: at none."""
    view = (context.region, context.region_data)
    start = view3d_utils.region_2d_to_origin_3d(*view, mouse)
    direction = view3d_utils.region_2d_to_vector_3d(*view, mouse)
    depsgraph = context.evaluated_depsgraph_get()
    is_hit, place, normal, _, obj, _ = context.scene.ray_cast(depsgraph, start, direction)
    key = grabs.body_of(run, obj.original) if is_hit else None
    if key is None:
        return None
    towards = -normal if normal.dot(direction) > 0.0 else normal
    return BodyUnderMouse(key, np.array(place, np.float64), np.array(towards.normalized(), np.float64))
