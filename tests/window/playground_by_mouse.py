# SPDX-License-Identifier: GPL-3.0-or-later
"""The playground with the mouse: pulls the jelly, dents the clay head, melts the candle and snaps the bar.

With SINEW_MOVIE=1 takes the pictures of the movie in README.md, movie-000.png and on, which scripts/live_movie.py puts
together. The run is held, and goes on by some steps between two pictures, so that the movie does not stutter.
"""

from __future__ import annotations

import itertools
import os
import pathlib

import bpy
import numpy as np
from bl_ext.user_default.sinew.addon.baking.addon_session import session
from bl_ext.user_default.sinew.addon.live import grabs
from desktop import Steps, mouse, picture, result
from live_hand import choose_tool, escape, go_live, go_to, screen, view_3d
from ui_driver import show_sidebar, wait_for

PLAYGROUND = pathlib.Path(__file__).resolve().parents[2] / "demo_blends" / "playground.blend"
STEPS_OF_PICTURE = 3  # of the run, a sixtieth of a second each: movies have 20 pictures a second
_numbers = itertools.count()


def playground_by_mouse() -> Steps:
    bpy.ops.wm.open_mainfile(filepath=str(PLAYGROUND))
    yield 1.5
    yield from show_sidebar()
    _look()
    yield from go_live()
    bpy.ops.sinew.pause_live()
    view_3d()[1].spaces.active.show_region_ui = False
    yield 1.0
    result["movie_box"] = _camera_frame()
    yield from _advance()
    yield from _pull_jelly()
    yield from _dent_head()
    yield from _melt_candle()
    yield from _snap_bar()
    yield from escape()
    yield from picture("playground-ended")


def _look() -> None:
    """Looks through the camera, in the colours of the materials, without what distracts."""
    space = view_3d()[1].spaces.active
    space.region_3d.view_perspective = "CAMERA"
    space.region_3d.view_camera_zoom = 12.0
    space.shading.type, space.shading.color_type, space.shading.light = "SOLID", "MATERIAL", "STUDIO"
    space.shading.show_cavity = True
    space.overlay.show_floor = space.overlay.show_axis_x = space.overlay.show_axis_y = False
    space.overlay.show_relationship_lines = space.overlay.show_text = space.overlay.show_extras = False
    bpy.ops.object.select_all(action="DESELECT")


def _camera_frame() -> list[int]:
    """Returns what the camera sees [pixels from the top left: x, y, width, height]."""
    scene = bpy.context.scene
    corners = [scene.camera.matrix_world @ corner for corner in scene.camera.data.view_frame(scene=scene)]
    x, y = np.array([screen(np.array(corner)) for corner in corners]).T.tolist()
    return [min(x), min(y), max(x) - min(x), max(y) - min(y)]


def _points(name: str) -> np.ndarray:
    run = session.live
    key = next(key for key, handle in run.bodies.items() if handle.find().name == name)
    return np.array(grabs.shown_vertices(run, key))


def _advance(pictures: int = 1, each: tuple[int, int] = (0, 0), at: tuple[int, int] | None = None) -> Steps:
    """Moves the mouse by so many pixels before each of some pictures; returns where it is then."""
    for _ in range(pictures):
        if at is not None:
            at = (at[0] + each[0], at[1] + each[1])
            mouse("mousemove", *at)
            yield 0.1
        for _ in range(STEPS_OF_PICTURE):
            run = session.live
            step = run.step
            bpy.ops.sinew.step_live()
            yield from wait_for("a step", lambda step=step: session.live is not None and session.live.step > step, 30)
        if os.environ.get("SINEW_MOVIE"):
            yield from picture(f"movie-{next(_numbers):03}")


def _hold(tool: str, x: int, y: int, is_opposite: bool = False) -> Steps:
    """Takes a tool and presses the button."""
    choose_tool(tool)
    yield from go_to(x, y)
    if is_opposite:
        mouse("keydown", "ctrl")
    mouse("mousedown", 1)
    run = session.live
    yield from wait_for("the tool to hold", lambda: bool(run.grabs) or run.brush is not None, 10)


def _let_go() -> Steps:
    mouse("mouseup", 1)
    mouse("keyup", "ctrl")
    run = session.live
    yield from wait_for("the tool to let go", lambda: not run.grabs and run.brush is None, 10)


def _pull_jelly() -> Steps:
    before = _points("Jelly")
    x, y = screen(before[before[:, 2].argmax()] - [0.0, 0.0, 0.01])
    yield from _hold("sinew.grab_tool", x, y)
    yield from _advance(12, (3, -5), (x, y))
    pulled = _points("Jelly")
    yield from picture("playground-jelly")
    result["jelly_pulled_by"] = round(float(np.linalg.norm(pulled - before, axis=1).max()), 3)
    yield from _let_go()
    yield from _advance(12)
    assert result["jelly_pulled_by"] > 0.02, result


def _dent_head() -> Steps:
    before = _points("Clay Head")
    x, y = screen(before.mean(axis=0) + [0.0, 0.0, 0.035])
    bpy.context.scene.sinew.grab_radius = 0.02
    yield from _hold("sinew.grab_tool", x, y, is_opposite=True)
    yield from _advance(12, (2, 0), (x, y))
    yield from _let_go()
    yield from _advance(6)
    first = _points("Clay Head")
    yield from _advance(4)
    yield from picture("playground-head")
    result["head_dented_by"] = round(float(np.linalg.norm(_points("Clay Head") - before, axis=1).max()), 4)
    assert result["head_dented_by"] > 0.002 and np.abs(_points("Clay Head") - first).max() < 0.005, "the dent stays"


def _melt_candle() -> Steps:
    before = _points("Candle")
    x, y = screen(before[before[:, 2].argmax()] - [0.0, 0.0, 0.03])
    yield from _hold("sinew.heat_gun_tool", x, y)
    yield from _advance(100, (0, 0), (x, y))
    yield from _let_go()
    yield from _advance(4)
    yield from picture("playground-candle")
    result["candle_moved_by"] = round(float(np.linalg.norm(_points("Candle") - before, axis=1).max()), 4)
    assert result["candle_moved_by"] > 0.003, "it melts"


def _snap_bar() -> Steps:
    before = _points("Bar")
    middle = before[np.abs(before - before.mean(axis=0)).sum(axis=1).argmin()]
    x, y = screen(middle)
    bpy.context.scene.sinew.grab_radius = 0.015
    yield from _hold("sinew.grab_tool", x, y, is_opposite=True)
    yield from _advance(14, (0, 3), (x, y))
    yield from _let_go()
    yield from _advance(8)
    yield from picture("playground-bar")
    result["bar_vertices"] = [len(before), len(_points("Bar"))]
    assert len(_points("Bar")) > len(before), "both sides of its cracks are there"
