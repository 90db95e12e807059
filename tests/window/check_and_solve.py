# SPDX-License-Identifier: GPL-3.0-or-later
"""Check and Solve This Frame in the window: a hole is found, shown and filled by mouse; a pose is solved and undone."""

from __future__ import annotations

import time
from collections.abc import Generator

import bmesh
import bpy
import first_muscle
from bl_ext.user_default.sinew.addon.baking import scene_check
from bl_ext.user_default.sinew.addon.baking.addon_session import session
from bl_ext.user_default.sinew.addon.baking.solver_warm_up import solver_in_waiting
from bl_ext.user_default.sinew.addon.blender_data.sinew_modifier import find_solved_modifier
from desktop import Steps, mouse, picture, result
from ui_driver import open_alone, press, show_sidebar, view, wait_for

MISSING_FACE = 200
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
    rig, muscle = first_muscle._two_bones(), first_muscle._spindle()
    bpy.ops.sinew.make_muscle()
    first_muscle._bend(rig)
    for frame, activation in ((1, 0.0), (first_muscle.LAST_FRAME, 1.0)):
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
    yield from picture("63-what-check-has-found")
    yield from press("bpy.ops.sinew.check_select")
    yield 0.5
    assert bpy.context.mode == "EDIT_MESH", bpy.context.mode
    yield from picture("64-the-hole-selected")
    yield from press("bpy.ops.sinew.check_fix", TO_FIX)
    yield 0.5
    yield from _looked_through()
    assert "surface-open" not in _kinds() and len(bpy.data.objects[name].data.polygons) == faces, _kinds()
    yield from picture("65-after-the-fix")
    yield from _keys("ctrl+z")
    assert len(bpy.data.objects[name].data.polygons) == faces - 1, "the fix was not undone"
    yield from _keys("ctrl+shift+z")
    assert bpy.context.mode == "OBJECT" and len(bpy.data.objects[name].data.polygons) == faces


def _solve(name: str) -> Steps:
    last = first_muscle.LAST_FRAME
    bpy.context.scene.frame_set(last)
    yield from wait_for("the solver", lambda: solver_in_waiting.is_ready, 300)
    for kind in ("first", "second"):
        start = time.monotonic()
        yield from press("bpy.ops.sinew.solve_frame")
        pressed = time.monotonic()
        yield from wait_for("the solved frame", lambda: session.frame_solve is None, 120)
        result[f"{kind}_solve_seconds"] = [round(time.monotonic() - t, 2) for t in (start, pressed)]
        assert find_solved_modifier(bpy.data.objects[name]) is not None
        yield from picture(f"66-solved-{kind}")
        yield from wait_for("the solver", lambda: solver_in_waiting.is_ready, 300)
    shown = first_muscle._width_at(bpy.data.objects[name], last)
    result["solved_width"] = shown
    other = first_muscle._width_at(bpy.data.objects[name], last - 1)
    assert shown > 1.2 * other, (shown, other)
    bpy.context.scene.frame_set(last)
    for _ in range(2):
        yield from _keys("ctrl+z")
    yield from picture("67-undone")
    assert find_solved_modifier(bpy.data.objects[name]) is None, "Solve This Frame was not undone"
    for _ in range(2):
        yield from _keys("ctrl+shift+z")
    assert find_solved_modifier(bpy.data.objects[name]) is not None, "nor redone"
    assert abs(first_muscle._width_at(bpy.data.objects[name], last) - shown) < 1e-3
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


def _keys(words: str) -> Steps:
    """Presses keys over the 3D viewport."""
    window, area, _ = view()
    mouse("mousemove", area.x + 200, window.height - (area.y + 200))
    yield 0.3
    mouse("key", words)
    yield 1.0
