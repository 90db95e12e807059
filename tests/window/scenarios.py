# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs inside a real Blender with a window: presses Sinew's buttons with the mouse and notes what happens.

Started by run.sh, for all parts or for those named in $ONLY. Writes pictures and result.json into the folder $OUT,
then the file "done".
"""

from __future__ import annotations

import os
import pathlib
import sys
import time

import bpy
from bl_ext.user_default.sinew.addon.baking import frame_report_reader
from bl_ext.user_default.sinew.addon.overlays import unconverged_marks

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from arm_muscles import arm_muscles
from bone_rows import bone_rows
from cache_bakes import cache_bakes
from check_and_solve import check_by_mouse, solve_by_mouse
from contact_bake import contact_bake
from desktop import Steps, mouse, picture, result, told, write_result
from drawn_muscle import drawn_muscle
from first_jelly import first_jelly
from first_muscle import first_muscle
from formulation_bakes import methods_bake
from layers import layers
from live_by_mouse import live_by_mouse
from live_keys import live_keys
from melting_by_mouse import melting_by_mouse
from muscle_activation import muscle_activation
from muscle_bake import muscle_bake
from play_simulates import play_simulates
from playground_by_mouse import playground_by_mouse
from quick_effects import quick_effects
from selected_bodies import selected_by_mouse
from several_objects import several_objects
from takes import takes_by_mouse
from tearing_by_mouse import tearing_by_mouse
from two_windows import two_windows
from ui_driver import bake, beat, choose_role, gaps, lowest_and_height, press, show_sidebar, status, view, wait_for
from undo import seeded_operations, undo_of_bake, undo_of_breaking_bake, undo_of_refused_quick_effect

FIRST_FRAMES = 120
LONG = 2000
BREAKING_FRAMES = 30
FLESH_FRAMES, BEND = 16, 1.0
HEIGHT = 2.5
GROUND = -2.0  # Add Ground leaves half a body's height below the cube of two metres
STIFFNESS = 1.0e5


def make_ready() -> Steps:
    yield from show_sidebar()
    yield from picture("1-start")
    yield from choose_role("m")
    cube = bpy.data.objects["Cube"]
    assert cube.sinew.role == "BODY", "Make Body did nothing"
    yield from picture("2-body-with-few-vertices")
    yield from press("bpy.ops.sinew.subdivide")
    yield from press("bpy.ops.sinew.add_ground")
    assert [o for o in bpy.context.scene.objects if o.sinew.role == "COLLIDER"], "Add Ground did nothing"
    cube.location.z = HEIGHT
    cube.rotation_euler = (0.5, 0.4, 0.0)
    cube.sinew.preset = "JELLY"
    cube.sinew.youngs_modulus = STIFFNESS
    bpy.context.scene.frame_end = FIRST_FRAMES
    yield from picture("3-ready")


def first_bake() -> Steps:
    yield from press("bpy.ops.sinew.simulate")
    start = time.monotonic()
    yield from wait_for("the start", lambda: status().is_running, 10)
    gaps.clear()
    yield from wait_for("the first frame", lambda: (status().frame or 0) >= 2, 300)
    result["seconds_to_first_frame"] = round(time.monotonic() - start, 2)
    yield from picture("4-baking")
    yield from wait_for("the end", lambda: not status().is_running, 300)
    result["seconds_to_bake"] = round(time.monotonic() - start, 2)
    result["longest_freeze"] = round(max(gaps), 3)
    assert status().phase == "baked" and status().frame == FIRST_FRAMES, status()
    shapes = {}
    for frame in range(1, FIRST_FRAMES + 1):
        bpy.context.scene.frame_set(frame)
        shapes[frame] = lowest_and_height()
    lowest = min(low for low, _ in shapes.values())
    flattest = min(shapes, key=lambda frame: shapes[frame][1])
    result["lowest_point"] = round(lowest, 4)
    result["height"], result["flattest"] = round(shapes[1][1], 3), round(shapes[flattest][1], 3)
    assert abs(lowest - GROUND) < 0.05, f"the cube did not meet the ground: {lowest}"
    assert shapes[flattest][1] < 0.95 * shapes[1][1], "the cube did not deform"
    bpy.context.scene.frame_set(flattest)
    yield from picture("5-baked")
    bpy.data.objects["Cube"].sinew.show_tets = True
    yield from picture("5-baked-tets")
    bpy.data.objects["Cube"].sinew.show_tets = False


def cancelled_bake() -> Steps:
    bpy.data.objects["Cube"].sinew.youngs_modulus = 3 * STIFFNESS
    bpy.context.scene.frame_end = LONG
    yield from wait_for("Out of Date", lambda: status().outdated, 10)
    yield from picture("6-out-of-date")
    yield from press("bpy.ops.sinew.simulate")
    start = time.monotonic()
    yield from wait_for("the start", lambda: status().is_running, 10)
    yield from wait_for("the first frame", lambda: status().is_running and (status().frame or 0) >= 2, 300)
    result["seconds_to_first_frame_warm"] = round(time.monotonic() - start, 2)
    yield from wait_for("frame 6", lambda: (status().frame or 0) >= 6, 300)
    yield from picture("7-baking-again")
    start = time.monotonic()
    mouse("key", "Escape")
    yield from wait_for("the stop", lambda: not status().is_running, 10)
    result["seconds_to_cancel"] = round(time.monotonic() - start, 2)
    kept = status().frame or 0
    result["frames_kept"] = kept
    assert kept >= 6 and status().phase == "partial", status()
    assert status().label == f"Resume from Frame {kept + 1}", status().label
    yield from picture("8-cancelled")


def breaking_bake() -> Steps:
    cube = bpy.data.objects["Cube"]
    cube.sinew.preset = "CHOCOLATE"
    assert cube.sinew.use_plasticity and cube.sinew.use_fracture, "the preset switched nothing on"
    cube.sinew.divisions = 5
    bpy.context.scene.frame_end = BREAKING_FRAMES
    yield from wait_for("Out of Date", lambda: status().outdated, 10)
    yield from picture("9-before-it-breaks")
    yield from press("bpy.ops.sinew.simulate")
    yield from wait_for("the start", lambda: status().is_running, 10)
    gaps.clear()
    seen = set()

    def has_ended() -> bool:
        seen.add(status().phase)
        return not status().is_running

    start = time.monotonic()
    yield from wait_for("the end", has_ended, 300)
    result["seconds_to_break"] = round(time.monotonic() - start, 2)
    result["longest_freeze_breaking"] = round(max(gaps), 3)
    assert status().phase == "baked" and not status().can_resume, status()
    made = [o for o in bpy.context.scene.objects if o.sinew.result_of == cube]
    assert [o.name for o in made] == ["Cube Broken"], f"no result: {made}"
    assert cube.hide_viewport and not made[0].hide_viewport
    report = frame_report_reader.report(bpy.context.scene, cube)
    result["pieces"], result["largest_stress"] = report.pieces, report.largest_stress
    assert (report.pieces or 0) > 1, report
    bpy.context.scene.frame_set(BREAKING_FRAMES)
    yield from picture("10-broken")
    bpy.context.view_layer.objects.active = made[0]
    yield from picture("11-the-result-selected")


def make_limb() -> Steps:
    """Makes flesh with a bone in each half of a limb, the upper one turned over the frames."""
    bpy.ops.wm.read_homefile()
    yield 1.5
    yield from show_sidebar()
    cube = bpy.data.objects["Cube"]
    cube.scale = (0.1, 0.1, 0.4)
    yield from choose_role("f")
    assert (cube.sinew.role, cube.sinew.motion, cube.sinew.preset) == ("BODY", "POSE", "FLESH_BY_SIZE")
    yield from picture("12-flesh-that-nothing-holds")
    yield from press("bpy.ops.sinew.subdivide")
    yield from press("bpy.ops.sinew.add_bone")
    lower = next(o for o in bpy.context.scene.objects if o.sinew.role == "BONE")
    upper = lower.copy()
    bpy.context.scene.collection.objects.link(upper)
    pivot = bpy.data.objects.new("Pivot", None)
    bpy.context.scene.collection.objects.link(pivot)
    for bone, height in ((lower, -0.2), (upper, 0.2)):
        bone.scale.z, bone.location.z = 0.15, height
        bone.sinew.bone_distance = 0.03
    upper.parent = pivot
    for frame, turn in ((1, 0.0), (FLESH_FRAMES, BEND)):
        pivot.rotation_euler.x = turn
        pivot.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.scene.frame_end = FLESH_FRAMES
    cube.sinew.show_attachment = True
    view()[1].spaces.active.region_3d.view_distance = 2.5
    yield 1.0
    yield from picture("13-what-bones-will-hold")


def flesh_bake() -> Steps:
    yield from make_limb()
    lowest, height = lowest_and_height()
    yield from bake()
    summary = status().convergence
    result["pose_residual"] = summary.pose_residual
    assert status().phase == "baked" and not summary.poses_not_converged and 0.0 < summary.pose_residual, status()
    assert unconverged_marks.unconverged_runs(bpy.context.scene) == []
    bpy.context.scene.frame_set(FLESH_FRAMES)
    bent_lowest, bent_height = lowest_and_height()
    assert bent_height < 0.95 * height and abs(bent_lowest - lowest) < 0.05 * height, "the flesh did not follow"
    yield from picture("14-bent")
    bpy.context.scene.sinew.pose_iterations = 1
    yield from wait_for("Out of Date", lambda: status().outdated, 10)
    yield from bake()
    result["marked"] = unconverged_marks.unconverged_runs(bpy.context.scene)
    assert status().convergence.poses_not_converged and result["marked"], status()
    yield from picture("15-frames-that-did-not-converge")


def rows_of_bones() -> Steps:
    yield from bone_rows(make_limb)


# What matters most comes first, since a limit on time may leave out the last ones. Each begins with a file of its own,
# but for the three bakes, which go on with what make_ready has made.
PARTS = (
    first_jelly,
    quick_effects,
    make_ready,
    first_bake,
    cancelled_bake,
    breaking_bake,
    live_by_mouse,
    first_muscle,
    undo_of_bake,
    flesh_bake,
    tearing_by_mouse,
    several_objects,
    layers,
    playground_by_mouse,
    undo_of_breaking_bake,
    cache_bakes,
    takes_by_mouse,
    check_by_mouse,
    melting_by_mouse,
    undo_of_refused_quick_effect,
    seeded_operations,
    play_simulates,
    live_keys,
    drawn_muscle,
    muscle_activation,
    solve_by_mouse,
    rows_of_bones,
    selected_by_mouse,
    muscle_bake,
    arm_muscles,
    contact_bake,
    methods_bake,
    two_windows,
)


def steps() -> Steps:
    chosen = os.environ.get("ONLY", "")
    parts = [part for part in PARTS if not chosen or part.__name__ in chosen.split(",")]
    start, limit = time.monotonic(), float(os.environ.get("SINEW_WINDOW_SECONDS") or "inf")
    seconds: dict[str, float] = {}
    result["seconds"] = seconds
    for number, part in enumerate(parts):
        begun = time.monotonic()
        if begun - start > limit:
            result["not_begun"] = [part.__name__ for part in parts[number:]]
            return
        try:
            yield from part()
        finally:
            seconds[part.__name__] = round(time.monotonic() - begun, 1)
            write_result()


bpy.context.preferences.view.show_splash = False
running = told(steps())
bpy.app.timers.register(beat, persistent=True)
bpy.app.timers.register(lambda: next(running, None), first_interval=1.5, persistent=True)
