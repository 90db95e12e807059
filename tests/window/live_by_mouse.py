# SPDX-License-Identifier: GPL-3.0-or-later
"""Live with the mouse: run, grab, pull, pin, let go, move a collider, stiffen, save, undo, Esc; and what it costs."""

from __future__ import annotations

import statistics
import time

import bpy
from bl_ext.user_default.sinew.addon.baking import bake_status
from bl_ext.user_default.sinew.addon.baking.addon_session import session
from bl_ext.user_default.sinew.addon.blender_data import sinew_modifier
from bl_ext.user_default.sinew.addon.live import grabs, live_timer, run_control
from desktop import OUT, Steps, mouse, picture, result
from live_hand import choose_tool, escape, go_to, hold_at, jelly_cube, over_the_view, screen, vertices
from mathutils import Vector
from own_times import measuring
from ui_driver import gaps, press, show_sidebar, wait_for

MOST_SECONDS = 120
MANY_VERTICES_CUTS = 90  # of a cube: 50,000 vertices
MOST_HANDLER_SECONDS, MOST_UPDATE_SECONDS = 0.004, 0.008
MOST_SECONDS_OF_A_CALL = 0.05
MOST_OFF = 0.2  # of a grabbed point from the hand, a tenth of the cube


def live_by_mouse() -> Steps:
    bpy.ops.wm.read_homefile()
    yield 1.5
    yield from show_sidebar()
    cube = jelly_cube(cuts=8)
    bpy.ops.mesh.primitive_plane_add(size=20.0, location=(0.0, 0.0, -1.0))
    bpy.ops.sinew.make_collider()
    ground = bpy.context.object
    before = [modifier.name for modifier in cube.modifiers]
    yield from press("bpy.ops.sinew.live")
    yield from wait_for("the first samples", lambda: session.live is not None and session.live.step > 20, MOST_SECONDS)
    run = session.live
    gaps.clear()
    yield from picture("70-live")
    _note_freeze("picture")
    yield from _brush()
    _note_freeze("brush")
    yield from _move_and_stiffen(cube, ground)
    _note_freeze("collider")
    yield from _grab(cube)
    _note_freeze("grab")
    bpy.ops.wm.save_as_mainfile(filepath=str(OUT / "live.blend"), copy=True)
    yield from wait_for("more samples", lambda step=run.step: run.step > step + 10, MOST_SECONDS)
    _note_freeze("save")
    result["live_ratio"] = run.status["ratio"]
    yield from escape()
    assert [modifier.name for modifier in cube.modifiers] == before, "it is as it was"
    yield from picture("74-live-has-ended")
    yield from _keep(cube)
    yield from _undo_ends_it()
    yield from _many_vertices()
    yield from press("bpy.ops.sinew.live")
    yield from wait_for("samples", lambda: session.live is not None and session.live.is_moving, MOST_SECONDS)
    folder = session.live.folder
    bpy.ops.wm.open_mainfile(filepath=str(OUT / "live.blend"))
    yield 1.5
    assert session.live is None and not folder.exists()
    assert not [o for o in bpy.data.objects if sinew_modifier.find_live_modifier(o)], "the saved file has no trace"


def _note_freeze(during: str) -> None:
    """Notes how long the window did not answer; software rendering and pictures of the screen are in it."""
    result[f"live_longest_freeze_{during}"] = round(max(gaps), 3)
    gaps.clear()


def _grab(cube: bpy.types.Object) -> Steps:
    """Pulls the corner of the cube with the tool, leaves a pin, and lets it go again."""
    run = session.live
    choose_tool("sinew.grab_tool")
    x, y = screen(vertices().mean(axis=0))
    yield from hold_at(x, y)
    yield from wait_for("a grab", lambda: bool(run.grabs), 10)
    grab = next(iter(run.grabs.values()))
    beside = Vector(grabs.grabbed_point(run, grab)) - Vector(grab.hand)  # where the vertex stays beside the hand
    for step in range(1, 21):
        mouse("mousemove", x + 6 * step, y - 8 * step)
        yield 0.05

    def follows() -> bool:
        off = Vector(grabs.grabbed_point(run, grab)) - Vector(grab.hand) - beside
        result["live_grabbed_point_off"] = round(off.length, 3)
        return result["live_grabbed_point_off"] < MOST_OFF

    yield from wait_for("the place to follow", follows, MOST_SECONDS)
    yield from picture("71-live-pulled")
    mouse("keydown", "shift")
    mouse("mouseup", 1)
    yield 0.3
    mouse("keyup", "shift")
    assert [each.is_pin for each in run.grabs.values()] == [True], "Shift keeps it"
    yield from picture("72-live-pinned")
    mouse("mousemove", x + 120, y - 160)
    yield 0.3
    mouse("mousedown", 1)
    yield 0.5
    mouse("mouseup", 1)
    yield from wait_for("it to be let go", lambda: not run.grabs, 10)
    assert session.live is run and not run.note, run.note


def _brush() -> Steps:
    """Softens a side of the cube with the brush, and pushes it with the tool that grabs and Ctrl."""
    run = session.live
    x, y = screen(vertices().mean(axis=0))
    for tool, ctrl, kind in (("sinew.soften_tool", False, "SOFTEN"), ("sinew.grab_tool", True, "PUSH")):
        choose_tool(tool)
        yield from go_to(x, y)
        if ctrl:
            mouse("keydown", "ctrl")
        mouse("mousedown", 1)
        yield from wait_for("a brush", lambda: run.brush is not None, 10)
        assert run.brush.kind == kind
        for step in range(1, 11):
            mouse("mousemove", x + 2 * step, y)
            yield 0.05
        yield from picture(f"71-live-{kind.lower()}")
        mouse("mouseup", 1)
        if ctrl:
            mouse("keyup", "ctrl")
        yield from wait_for("the brush to be lifted", lambda: run.brush is None, 10)
    assert session.live is run and not run.note, run.note


def _keep(cube: bpy.types.Object) -> Steps:
    """Keeps the run after Esc, which then plays as a bake."""
    scene = bpy.context.scene
    yield from press("bpy.ops.sinew.keep_live")
    yield from wait_for("the take", lambda: session.bake is None and bake_status.status(scene).frame, MOST_SECONDS)
    assert bake_status.status(scene).frame > 10 and sinew_modifier.find_modifier(cube).filepath
    yield from picture("75-live-kept")
    assert not bake_status.status(scene).outdated and {"Grab of Cube", "Push"} <= set(bpy.data.objects.keys())
    assert bpy.data.objects["Plane"].animation_data.action and cube.sinew.attachments[0].target
    yield from press("bpy.ops.sinew.keep_shape")
    yield from wait_for("a shape key", lambda: cube.data.shape_keys is not None, 10)
    yield from press("bpy.ops.sinew.bake_at_final")
    yield from wait_for("frames", lambda: session.bake is not None and session.bake.driver.job.frame, MOST_SECONDS)
    yield from picture("76-live-baked-at-final")
    over_the_view()
    mouse("key", "Escape")
    yield from wait_for("the end", lambda: session.bake is None, 20)
    assert scene.sinew.take != "" and scene.sinew.samples_per_frame > 1
    yield 1.0
    for _ in range(8):  # Bake at Final, Keep Shape, the take, and in one step what the hand did
        if "Push" in bpy.data.objects:
            mouse("key", "ctrl+z")
            yield 1.0
    assert "Push" not in bpy.data.objects and "Grab of Cube" not in bpy.data.objects
    assert not bpy.data.objects["Cube"].sinew.attachments and not bpy.data.objects["Plane"].animation_data
    yield from picture("77-live-hand-undone")


def _move_and_stiffen(cube: bpy.types.Object, ground: bpy.types.Object) -> Steps:
    """Moves the ground with G while the cube lies on it."""
    run, key = session.live, next(iter(session.live.bodies))
    choose_tool("builtin.select_box")
    bpy.ops.object.select_all(action="DESELECT")
    ground.select_set(True)
    bpy.context.view_layer.objects.active = ground
    lowest = grabs.shown_vertices(run, key)[:, 2].min()
    over_the_view()
    yield 0.3
    mouse("key", "g")
    mouse("key", "z")
    for _ in range(20):
        mouse("mousemove_relative", "--", 0, -2)
        yield 0.1
    mouse("click", 1)
    yield 1.0
    assert ground.location.z != -1.0, "it was moved"
    cube.sinew.youngs_modulus *= 3.0
    yield 0.5
    assert {"collider.Plane.matrix", f"body.{key}.youngs_modulus"} <= set(run.sent), run.sent.keys()
    moved = grabs.shown_vertices(run, key)[:, 2].min() - lowest
    result["live_pushed_by"], result["live_collider_moved_by"] = (
        round(float(moved), 3),
        round(ground.location.z + 1.0, 3),
    )
    assert 0.0 < moved < 2.0 * (ground.location.z + 1.0), result
    assert session.live is run and not run.note, run.note
    yield from picture("73-live-pushed-by-a-collider")


def _undo_ends_it() -> Steps:
    bpy.ops.ed.undo_push(message="before")
    bpy.data.objects["Cube"].location.x = 0.1
    bpy.ops.ed.undo_push(message="moved")
    yield from press("bpy.ops.sinew.live")
    yield from wait_for("samples", lambda: session.live is not None and session.live.is_moving, MOST_SECONDS)
    over_the_view()
    mouse("key", "ctrl+z")
    yield from wait_for("the end", lambda: session.live is None, 10)
    assert sinew_modifier.find_live_modifier(bpy.data.objects["Cube"]) is None
    assert bpy.data.objects["Cube"].location.x == 0.0
    mouse("key", "ctrl+shift+z")
    yield 1.0
    assert sinew_modifier.find_live_modifier(bpy.data.objects["Cube"]) is None


def _many_vertices() -> Steps:
    """Measures Sinew's own time for an update, and that with Blender's evaluation."""
    bpy.ops.wm.read_homefile()
    yield 1.5
    yield from show_sidebar()
    cube = jelly_cube(cuts=MANY_VERTICES_CUTS)
    result["live_vertices"] = len(cube.data.vertices)
    own: list[float] = []
    whole: list[float] = []

    def timed() -> bool:
        run = session.live
        step, began = run.step if run is not None else -1, time.perf_counter()
        goes_on = usual()
        between = time.perf_counter()
        if goes_on and run.step != step >= 0:
            bpy.context.view_layer.update()
            own.append(between - began)
            whole.append(time.perf_counter() - began)
        return goes_on

    with measuring() as table:
        usual = run_control.poll
        live_timer.run_control.poll = timed
        try:
            yield from press("bpy.ops.sinew.live")
            yield from wait_for("updates", lambda: len(own) > 100, MOST_SECONDS)
        finally:
            live_timer.run_control.poll = usual
        yield from escape()
        yield from press("bpy.ops.sinew.keep_live")
        scene = bpy.context.scene
        yield from wait_for("the take", lambda: session.bake is None and bake_status.status(scene).frame, MOST_SECONDS)
    result["live_many_vertices_own_times"] = table
    for name, seconds in (("own", own), ("with_evaluation", whole)):
        result[f"live_update_milliseconds_{name}"] = {
            "median": round(1e3 * statistics.median(seconds), 2),
            "95 %": round(1e3 * sorted(seconds)[int(0.95 * len(seconds))], 2),
            "most": round(1e3 * max(seconds), 2),
        }
    assert max(row["longest_thread_ms"] for row in table.values()) < 1e3 * MOST_SECONDS_OF_A_CALL, table
    assert statistics.median(own) < MOST_HANDLER_SECONDS and statistics.median(whole) < MOST_UPDATE_SECONDS, result
