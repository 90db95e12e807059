# SPDX-License-Identifier: GPL-3.0-or-later
"""What a hand does with a body that runs live: chooses a tool, goes to a place of the view, pulls, and presses Esc."""

from __future__ import annotations

import bpy
import numpy as np
from bl_ext.user_default.sinew.addon.baking.addon_session import session
from bl_ext.user_default.sinew.addon.live import grabs
from bpy_extras import view3d_utils
from desktop import Steps, mouse
from mathutils import Vector
from ui_driver import press, wait_for

MOST_SECONDS = 120


def jelly_cube(cuts: int) -> bpy.types.Object:
    """Returns the cube of the startup file, subdivided, as a soft body."""
    cube = bpy.data.objects["Cube"]
    bpy.context.view_layer.objects.active = cube
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.subdivide(number_cuts=cuts)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.sinew.make_body()
    cube.sinew.preset = "JELLY"
    cube.sinew.sizing = "DIVISIONS"
    cube.sinew.divisions = 6
    return cube


def view_3d() -> tuple[bpy.types.Window, bpy.types.Area, bpy.types.Region, bpy.types.RegionView3D]:
    window = bpy.context.window_manager.windows[0]
    area = next(a for a in window.screen.areas if a.type == "VIEW_3D")
    return window, area, next(r for r in area.regions if r.type == "WINDOW"), area.spaces.active.region_3d


def screen(place: Vector | np.ndarray) -> tuple[int, int]:
    """Returns where a place of the scene is on the screen [pixels]."""
    window, _, region, view = view_3d()
    at = view3d_utils.location_3d_to_region_2d(region, view, Vector(place))
    return round(region.x + at.x), round(window.height - (region.y + at.y))


def go_live() -> Steps:
    """Presses Live, and waits for samples."""
    yield from press("bpy.ops.sinew.live")
    yield from wait_for("the first samples", lambda: session.live is not None and session.live.step > 5, MOST_SECONDS)


def choose_tool(name: str) -> None:
    window, area, region, _ = view_3d()
    with bpy.context.temp_override(window=window, area=area, region=region):
        bpy.ops.wm.tool_set_by_id(name=name)


def go_to(x: int, y: int) -> Steps:
    """Moves the mouse there as a hand would."""
    mouse("mousemove", x - 3, y - 3)
    yield 0.3
    mouse("mousemove", x, y)
    yield 0.3


def hold_at(x: int, y: int) -> Steps:
    """Goes there and presses the mouse."""
    yield from go_to(x, y)
    mouse("mousedown", 1)


def over_the_view() -> None:
    """Moves the mouse to an empty place of the view."""
    window, area, _, _ = view_3d()
    mouse("mousemove", area.x + area.width // 3, window.height - (area.y + area.height // 8))


def escape() -> Steps:
    """Presses Esc over an empty place of the view, and waits for the end."""
    over_the_view()
    yield 0.2
    mouse("key", "Escape")
    yield from wait_for("the end", lambda: session.live is None, 10)


def vertices() -> np.ndarray:
    """Returns the vertices of the one body that runs, in world space."""
    run = session.live
    return grabs.shown_vertices(run, next(iter(run.bodies)))


def front_view(location: tuple[float, float, float], distance: float) -> None:
    """Looks along y, from the front."""
    view = view_3d()[3]
    view.view_perspective = "ORTHO"
    view.view_rotation = (0.7071068, 0.7071068, 0.0, 0.0)
    view.view_location, view.view_distance = location, distance
