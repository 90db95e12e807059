# SPDX-License-Identifier: GPL-3.0-or-later
"""Play Simulates with the keyboard: space bakes and plays, stops and goes on; a bake that is done only plays."""

from __future__ import annotations

import bpy
from bl_ext.user_default.sinew.addon.baking.addon_session import session
from desktop import Steps, mouse, picture, result
from ui_driver import lowest_and_height, open_alone, show_sidebar, status, view, wait_for

FRAMES, MOST_SECONDS = 40, 240


def play_simulates() -> Steps:
    bpy.ops.wm.read_homefile()
    yield 1.5
    yield from show_sidebar()
    open_alone("Solver")
    cube, scene = bpy.data.objects["Cube"], bpy.context.scene
    cube.location.z = 3.0
    bpy.ops.object.transform_apply(location=True, rotation=False, scale=False)
    bpy.context.view_layer.objects.active = cube
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.subdivide(number_cuts=4)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.sinew.make_body()
    cube.sinew.preset, cube.sinew.divisions = "JELLY", 5
    bpy.ops.mesh.primitive_plane_add(size=20.0)
    bpy.ops.sinew.make_collider()
    scene.frame_end, scene.sinew.play_simulates = FRAMES, True
    scene.frame_set(1)
    high, _ = lowest_and_height()
    yield 1.0
    yield from picture("80-before-play")
    _press_space()
    yield from wait_for("the bake of Play", lambda: session.bake is not None, 20)
    bake = session.bake
    assert bake.is_played and _is_playing()
    ahead: list[int] = []
    seen: set[int] = set()

    def watch() -> bool:
        seen.add(scene.frame_current)
        ahead.append(scene.frame_current - (bake.driver.job.frame or 1))
        return scene.frame_current >= 14

    yield from wait_for("frames that play as they come", watch, MOST_SECONDS)
    yield from picture("81-plays-while-it-bakes")
    assert max(ahead) <= 0, ahead
    low, _ = lowest_and_height()
    assert low < high - 0.3, "it falls in the window"
    _press_space()
    yield from wait_for("the stop", lambda: session.bake is None and not _is_playing(), 20)
    stopped = status().frame
    result["play_simulates_stopped_at"], result["play_simulates_seen"] = stopped, len(seen)
    scene.frame_set(8)
    yield from picture("82-scrubbed-back")
    assert lowest_and_height()[0] > low, "it is higher up at an earlier frame"
    if stopped < FRAMES:
        _press_space()
        yield from wait_for("the rest", lambda: session.bake is not None or status().phase == "baked", 20)
        if session.bake is not None:
            assert session.bake.driver.job.resume_frame is not None
    yield from wait_for("all frames", lambda: session.bake is None and status().phase == "baked", MOST_SECONDS)
    yield 2.0
    if not _is_playing():
        _press_space()
        yield 1.0
    assert _is_playing() and session.bake is None, "it only plays"
    yield from picture("83-all-is-baked-and-plays")
    assert not status().outdated
    mouse("key", "Escape")
    yield from wait_for("Escape", lambda: not _is_playing(), 10)
    bpy.ops.ed.undo()
    yield 1.0
    cube, scene = bpy.data.objects["Cube"], bpy.context.scene
    cube.sinew.density *= 2.0
    yield from wait_for("Out of Date", lambda: status().outdated, 10)
    _press_space()
    yield from wait_for("a new bake", lambda: session.bake is not None and (session.bake.driver.job.frame or 0) > 3, 60)
    yield 0.5
    mouse("key", "Escape")
    yield from wait_for("Escape", lambda: session.bake is None and not _is_playing(), 20)
    assert status().frame >= 3 and not status().outdated
    scene.sinew.play_simulates = False


def _is_playing() -> bool:
    return any(window.screen.is_animation_playing for window in bpy.context.window_manager.windows)


def _press_space() -> None:
    window, area, _ = view()
    x, y = area.x + area.width // 3, window.height - (area.y + area.height // 3)
    mouse("mousemove", x, y)
    mouse("key", "space")
