# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulate Selected in the window: a ball on a tray that rises is changed and baked alone, cancelled, and undone."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
from bl_ext.user_default.sinew.addon.baking.addon_session import session
from bl_ext.user_default.sinew.addon.cache import cache_paths, selected_body_caches
from bl_ext.user_default.sinew.solver.bake.cache import layout
from desktop import Steps, mouse, picture, result
from ui_driver import bake, keys, press, search, show_sidebar, status, view, wait_for

FRAMES, RISE = 40, 0.6  # [m]
TRAY, BALL = "Tray", "Ball"
SOFT = 3.0e4  # [Pa]
TOUCH = 0.03  # [m]


def selected_by_mouse() -> Steps:
    bpy.ops.wm.read_homefile()
    yield 1.5
    yield from show_sidebar()
    bpy.data.objects.remove(bpy.data.objects["Cube"])
    _tray_and_ball()
    yield from bake()
    assert status().phase == "baked" and status().label == "Simulate Again", status()
    tray, before = _file(TRAY).read_bytes(), _shown(BALL, FRAMES)
    yield from _only_the_ball(before)
    assert _file(TRAY).read_bytes() == tray, "the tray was baked again"
    yield from _undo_and_redo()
    yield from _cancel()
    assert _file(TRAY).read_bytes() == tray


def _tray_and_ball() -> None:
    """Makes a tray whose pinned bottom rises, and a ball that lies on it."""
    bpy.ops.mesh.primitive_cube_add(size=2.0, scale=(1.0, 1.0, 0.15))
    bpy.ops.object.transform_apply()
    tray = bpy.context.object
    tray.name = TRAY
    bpy.ops.sinew.make_body()
    bpy.ops.sinew.subdivide()
    tray.sinew.youngs_modulus, tray.sinew.divisions = 1.0e6, 6
    bottom = [vertex.index for vertex in tray.data.vertices if vertex.co.z < -0.1]
    tray.vertex_groups.new(name="Bottom").add(bottom, 1.0, "REPLACE")
    tray.sinew.pin_group = "Bottom"
    for frame, height in ((1, 0.0), (FRAMES, RISE)):
        tray.location.z = height
        tray.keyframe_insert("location", frame=frame)
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.5, location=(0.0, 0.0, 0.7))
    ball = bpy.context.object
    ball.name = BALL
    bpy.ops.sinew.make_body()
    ball.sinew.youngs_modulus, ball.sinew.divisions = 3.0e5, 5
    bpy.context.scene.frame_end = FRAMES
    bpy.context.scene.frame_set(1)
    shown = view()[1].spaces.active.region_3d
    shown.view_location, shown.view_distance = (0.0, 0.0, 0.5), 6.0
    bpy.ops.ed.undo_push(message="a tray and a ball")


def _only_the_ball(before: np.ndarray) -> Steps:
    """Softens the ball, bakes it alone by its button, and looks at it on the tray."""
    bpy.data.objects[BALL].sinew.youngs_modulus = SOFT
    bpy.ops.ed.undo_push(message="a softer ball")
    yield from wait_for("Out of Date", lambda: status().outdated, 10)
    yield from picture("80-the-ball-is-out-of-date")
    yield from press("bpy.ops.sinew.simulate_chosen")
    yield from wait_for("the start", lambda: status().is_running, 10)
    yield from wait_for("some frames", lambda: (status().frame or 0) >= FRAMES // 2, 120)
    yield from picture("81-baking-the-ball")
    yield from wait_for("the end", lambda: not status().is_running, 120)
    yield from wait_for("the state", lambda: status().selected_names == (BALL,), 10)
    assert status().phase == "baked" and not status().outdated and status().label == "Simulate Again", status()
    after, top = _shown(BALL, FRAMES), _shown(TRAY, FRAMES)[:, 2].max()
    result["ball_moved"] = round(float(np.abs(after - before).max()), 3)
    result["ball_over_tray"] = round(float(after[:, 2].min() - top), 4)
    assert result["ball_moved"] > 0.02 and abs(result["ball_over_tray"]) < TOUCH, result
    yield from picture("82-the-softer-ball-on-the-tray")


def _undo_and_redo() -> Steps:
    """Undoes the bake and the change: the ball goes on playing what is baked, and is out of date without the change."""
    shown = _shown(BALL, FRAMES)
    for _ in range(2):
        yield from keys("ctrl+z")
        yield 1.0
    yield from wait_for("undo", lambda: bpy.data.objects[BALL].sinew.youngs_modulus != SOFT, 10)
    yield from wait_for("Out of Date", lambda: status().outdated, 10)
    assert np.allclose(_shown(BALL, FRAMES), shown, atol=1e-6)
    for _ in range(2):
        yield from keys("ctrl+shift+z")
        yield 1.0
    yield from wait_for("redo", lambda: bpy.data.objects[BALL].sinew.youngs_modulus == SOFT, 10)
    yield from wait_for("the state", lambda: not status().outdated, 10)
    assert np.allclose(_shown(BALL, FRAMES), shown, atol=1e-6)


def _cancel() -> Steps:
    """Begins by Blender's search with more tets, and stops it with Esc: all plays as before."""
    shown, folders = _shown(BALL, FRAMES), layout.selected_paths(_cache())
    ball = bpy.data.objects[BALL]
    ball.sinew.divisions, ball.sinew.youngs_modulus = 14, 2.0 * SOFT
    bpy.ops.ed.undo_push(message="more tets")
    yield from search("Simulate Selected")
    yield from picture("83-simulate-selected-in-the-search")
    mouse("key", "Return")
    yield from wait_for("the start", lambda: status().is_running, 10)
    yield from wait_for("the first frames", lambda: (status().frame or 0) >= 3, 120)
    assert layout.selected_paths(_cache()) != folders
    mouse("key", "Escape")
    yield from wait_for("the stop", lambda: session.bake is None, 20)
    yield from wait_for("the state", lambda: status().phase == "baked" and status().outdated, 10)
    assert layout.selected_paths(_cache()) == folders and np.allclose(_shown(BALL, FRAMES), shown, atol=1e-6)
    yield from picture("84-cancelled")


def _cache() -> Path:
    return cache_paths.cache_folder(bpy.context.scene)


def _file(key: str) -> Path:
    return layout.play_path(selected_body_caches.folder_of_body(_cache(), key), key)


def _shown(name: str, frame: int) -> np.ndarray:
    """Returns the vertices of an object as they are shown at a frame, in the world, (n, 3)."""
    bpy.context.scene.frame_set(frame)
    obj = bpy.data.objects[name]
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = evaluated.to_mesh()
    found = np.array([evaluated.matrix_world @ vertex.co for vertex in mesh.vertices])
    evaluated.to_mesh_clear()
    return found
