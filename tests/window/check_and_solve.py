# SPDX-License-Identifier: GPL-3.0-or-later
"""Check and Solve This Frame in the window: a hole is found, shown and filled by mouse; a pose is solved and undone."""

from __future__ import annotations

import time
from collections.abc import Generator

import bmesh
import bpy
from bl_ext.user_default.sinew.addon.baking import scene_check
from bl_ext.user_default.sinew.addon.baking.addon_session import session
from bl_ext.user_default.sinew.addon.baking.solver_warm_up import solver_in_waiting
from bl_ext.user_default.sinew.addon.blender_data.sinew_modifier import find_solved_modifier
from desktop import Steps, mouse, picture, result
from muscle_scenes import LAST_FRAME, bend, spindle, two_bones, width_at
from ui_driver import keys, open_alone, press, scroll, show_sidebar, wait_for

MISSING_FACE = 200
SCROLLS = 30  # of the mouse wheel, from the top of the sidebar to its end
TO_FIX = 60  # from the middle of the sidebar, where Select ends [pixels]


def check_by_mouse() -> Steps:
    name = yield from _bent_muscle()
    yield from _check(name)


def solve_by_mouse() -> Steps:
    name = yield from _bent_muscle()
    yield from _solve(name)


def _bent_muscle() -> Generator[float, None, str]:
    """Makes the muscle of docs/first_muscle.md, and returns its name: undo replaces objects."""
    bpy.ops.wm.read_homefile()
    yield 1.5
    yield from show_sidebar()
    bpy.data.objects.remove(bpy.data.objects["Cube"])
    rig, muscle = two_bones(), spindle()
    bpy.ops.sinew.make_muscle()
    bend(rig)
    for frame, activation in ((1, 0.0), (LAST_FRAME, 1.0)):
        muscle.sinew.activation = activation
        muscle.sinew.keyframe_insert("activation", frame=frame)
    bpy.ops.ed.undo_push(message="a muscle")
    return str(muscle.name)


def _check(name: str) -> Steps:
    muscle = bpy.data.objects[name]
    faces = len(muscle.data.polygons)
    found = bmesh.new()
    found.from_mesh(muscle.data)
    found.faces.ensure_lookup_table()
    bmesh.ops.delete(found, geom=[found.faces[MISSING_FACE]], context="FACES_ONLY")
    found.to_mesh(muscle.data)
    found.free()
    bpy.ops.ed.undo_push(message="a hole")
    open_alone("Check")
    yield 1.0
    yield from press("bpy.ops.sinew.check")
    yield from _looked_through()
    assert "surface-open" in _kinds(), _kinds()
    yield from scroll(SCROLLS)
    yield from picture("69-what-check-has-found")
    yield from press("bpy.ops.sinew.check_select")
    yield 0.5
    assert bpy.context.mode == "EDIT_MESH", bpy.context.mode
    yield from picture("70-the-hole-selected")
    yield from press("bpy.ops.sinew.check_fix", TO_FIX)
    yield 0.5
    yield from _looked_through()
    assert "surface-open" not in _kinds() and len(bpy.data.objects[name].data.polygons) == faces, _kinds()
    yield from scroll(SCROLLS)
    yield from picture("71-after-the-fix")
    yield from keys("ctrl+z")
    yield from wait_for("undo of the fix", lambda: len(bpy.data.objects[name].data.polygons) == faces - 1, 10)
    yield from keys("ctrl+shift+z")
    yield from wait_for("redo of the fix", lambda: len(bpy.data.objects[name].data.polygons) == faces, 10)
    assert bpy.context.mode == "OBJECT", bpy.context.mode


def _solve(name: str) -> Steps:
    bpy.context.scene.frame_set(LAST_FRAME)
    yield from wait_for("the solver", lambda: solver_in_waiting.is_ready, 300)
    for kind in ("first", "second"):
        start = time.monotonic()
        yield from press("bpy.ops.sinew.solve_frame")
        pressed = time.monotonic()
        yield from wait_for("the solved frame", lambda: session.frame_solve is None, 120)
        result[f"{kind}_solve_seconds"] = [round(time.monotonic() - t, 2) for t in (start, pressed)]
        assert find_solved_modifier(bpy.data.objects[name]) is not None
        yield from picture(f"72-solved-{kind}")
        yield from wait_for("the solver", lambda: solver_in_waiting.is_ready, 300)
    shown = width_at(bpy.data.objects[name], LAST_FRAME)
    result["solved_width"] = shown
    other = width_at(bpy.data.objects[name], LAST_FRAME - 1)
    assert shown > 1.2 * other, (shown, other)
    bpy.context.scene.frame_set(LAST_FRAME)
    for _ in range(2):
        yield from keys("ctrl+z")
        yield 1.0
    yield from wait_for("undo", lambda: find_solved_modifier(bpy.data.objects[name]) is None, 10)
    yield from picture("73-undone")
    for _ in range(2):
        yield from keys("ctrl+shift+z")
        yield 1.0
    yield from wait_for("redo", lambda: find_solved_modifier(bpy.data.objects[name]) is not None, 10)
    assert abs(width_at(bpy.data.objects[name], LAST_FRAME) - shown) < 1e-3
    yield from press("bpy.ops.sinew.solve_frame")
    mouse("key", "Escape")
    yield from wait_for("the stop", lambda: session.frame_solve is None, 20)


def _looked_through() -> Steps:
    scene = bpy.context.scene
    yield from wait_for(
        "the end of Check", lambda: session.check is None and scene_check.result_of(scene) is not None, 120
    )
    yield 0.5


def _kinds() -> set[str]:
    found = scene_check.result_of(bpy.context.scene)
    return {row.kind for row in found.rows}
