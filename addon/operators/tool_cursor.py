# SPDX-License-Identifier: GPL-3.0-or-later
"""The circle of a tool for live runs around the mouse, before anything is pressed, as of sculpting brushes.

It is as large as the radius is at the nearest body: to look for the surface under the mouse would take Blender as long
as a sample at each move of the mouse.
"""

from __future__ import annotations

import bpy
from bpy_extras import view3d_utils
from mathutils import Vector

from ..baking.addon_session import session
from ..baking.live_state import LiveRun
from ..live.brushes import GRAB_RADIUS, automatic_radius
from .units_per_pixel import units_per_pixel

COLOUR = (1.0, 1.0, 1.0, 0.8)
SEGMENTS = 48


def circle_pixels(
    context: bpy.types.Context, run: LiveRun | None, setting: str, mouse: tuple[float, float]
) -> float | None:
    """Returns the radius of the circle [pixels], or None where there is none.

    Args:
        context: In a 3D view.
        run: That of the scene; without one nothing can be brushed.
        setting: Of the scene, which is the radius. The brushes have a share of the body where it is 0, Grab a point.
        mouse: In the region [pixels].
    """
    if run is None or run.scene_uid != context.scene.session_uid or not run.is_moving:
        return None
    near = _nearest_body(context, run, mouse)
    if near is None:
        return None
    automatic = 0.0 if setting == GRAB_RADIUS else automatic_radius(setting, near)
    radius = float(getattr(context.scene.sinew, setting)) or automatic
    pixel = units_per_pixel(context.region, context.region_data, _centre(near), (int(mouse[0]), int(mouse[1])))
    return radius / pixel if radius > 0.0 else None


def _nearest_body(context: bpy.types.Context, run: LiveRun, mouse: tuple[float, float]) -> bpy.types.Object | None:
    """Returns the body of a run whose centre is nearest to the mouse in the view."""
    found: list[tuple[float, bpy.types.Object]] = []
    for handle in run.bodies.values():
        obj = handle.find()
        at = (
            None
            if obj is None
            else view3d_utils.location_3d_to_region_2d(context.region, context.region_data, _centre(obj))
        )
        if obj is not None and at is not None:
            found.append(((at - Vector(mouse)).length, obj))
    return min(found, key=lambda each: each[0])[1] if found else None


def _centre(obj: bpy.types.Object) -> Vector:
    """Returns the centre of an object's box as it is now: its origin stays where the body was modeled."""
    return obj.matrix_world @ (sum((Vector(corner) for corner in obj.bound_box), Vector()) / 8.0)


def draw(context: bpy.types.Context, setting: str, at: tuple[int, int]) -> None:
    """Draws the circle around a place of the window [pixels]; a tool's `draw_cursor` calls it at moves of the mouse."""
    region = context.region
    if region is None or context.region_data is None:
        return
    pixels = circle_pixels(context, session.live, setting, (at[0] - region.x, at[1] - region.y))
    if pixels is not None:
        from gpu_extras.presets import draw_circle_2d

        draw_circle_2d(at, COLOUR, pixels, segments=SEGMENTS)
