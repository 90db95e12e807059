# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw Muscle with the mouse: bone, a point beside them, bone; the wheel, the preview, Esc, and a bake."""

from __future__ import annotations

import time

import bpy
from bpy_extras import view3d_utils
from desktop import Steps, clicks, mouse, picture, result
from mathutils import Vector
from muscle_scenes import LAST_FRAME, bend, two_bones, width_at
from ui_driver import bake, search, show_sidebar, status

ON_UPPER_ARM, BESIDE, ON_FOREARM = (0.0, 0.0, 0.25), (0.35, 0.0, 0.9), (0.0, 0.0, 1.6)
WHEEL_CLICKS, MOST_CLICKS = 3, 10


def drawn_muscle() -> Steps:
    bpy.ops.wm.read_homefile()
    yield 1.5
    yield from show_sidebar()
    bpy.data.objects.remove(bpy.data.objects["Cube"])
    rig = two_bones()
    _look_from_front()
    yield 1.0
    yield from _begin()
    yield from _click(ON_UPPER_ARM)
    mouse("key", "Escape")
    yield 0.7
    assert [o.name for o in bpy.context.scene.objects if o.sinew.use_muscle] == [], "Esc cancels"
    start, first = time.monotonic(), clicks()
    yield from _begin()
    for place in (ON_UPPER_ARM, BESIDE):
        yield from _click(place)
    yield from _point_at(ON_FOREARM)
    for _ in range(WHEEL_CLICKS):
        mouse("click", 4)
        yield 0.2
    yield from picture("63-a-muscle-is-drawn")
    mouse("click", "--repeat", 2, "--delay", 60, 1)
    yield 1.5
    muscle = bpy.context.object
    assert muscle is not None and muscle.sinew.use_muscle, "the double click made no muscle"
    result["drawn_muscle_seconds"] = round(time.monotonic() - start, 1)
    result["drawn_muscle_clicks"] = clicks() - first
    assert clicks() - first <= MOST_CLICKS, result
    hooks = {hook.name: hook.subtarget for hook in muscle.modifiers if hook.type == "HOOK"}
    assert hooks == {"Origin": "Bone", "Insertion": "Bone.001"}, hooks
    middle = sum((muscle.matrix_world @ Vector(corner) for corner in muscle.bound_box), Vector()) / 8
    assert middle.x > 0.1, f"it runs beside the bones, through the point: {middle}"
    result["drawn_muscle_width"] = round(muscle.sinew.muscle_width, 3)
    yield from picture("64-a-drawn-muscle")
    muscle.sinew.origin_count = 2
    muscle.sinew.muscle_thickness *= 1.3
    yield from picture("65-a-drawn-muscle-of-two-heads")
    bend(rig)
    scene = bpy.context.scene
    scene.frame_end = LAST_FRAME
    for frame, activation in ((1, 0.0), (LAST_FRAME, 1.0)):
        muscle.sinew.activation = activation
        muscle.sinew.keyframe_insert("activation", frame=frame)
    yield from bake()
    assert status().phase == "baked" and not status().convergence.not_converged, status()
    relaxed, active = (width_at(muscle, frame) for frame in (1, LAST_FRAME))
    result["drawn_muscle_widths"] = [relaxed, active]
    yield from picture("66-a-drawn-muscle-contracts")
    assert active > 1.05 * relaxed, result
    yield from _between_bone_meshes()


def _between_bone_meshes() -> Steps:
    """Draws a strap from one bone mesh to another past a third, ends it with Enter, and undoes it."""
    bpy.ops.wm.read_homefile()
    yield 1.5
    bpy.data.objects.remove(bpy.data.objects["Cube"])
    for name, height, radius in (("Lower", 0.2, 0.15), ("Upper", 1.8, 0.15), ("Between", 1.0, 0.2)):
        bpy.ops.mesh.primitive_uv_sphere_add(location=(0.0, 0.0, height), radius=radius)
        bpy.context.object.name = name
        bpy.ops.sinew.make_bone()
    _look_from_front()
    yield 1.0
    yield from _begin()
    for place in ((0.0, -0.15, 0.2), (0.0, -0.2, 1.0), (0.0, -0.15, 1.8)):
        yield from _click(place)
    mouse("key", "s")
    yield 0.5
    yield from picture("67-a-strap-on-bone-meshes")
    mouse("key", "Return")
    yield 1.5
    muscle = bpy.context.object
    assert muscle.sinew.use_muscle and muscle.sinew.muscle_profile == "STRAP"
    hooks = {hook.name: hook.object.name for hook in muscle.modifiers if hook.type == "HOOK"}
    assert hooks == {"Origin": "Lower", "Insertion": "Upper"}, hooks
    ball = bpy.data.objects["Between"]
    away = [((muscle.matrix_world @ v.co) - ball.location).length for v in muscle.data.vertices]
    assert min(away) > 0.195, "its vertices are outside the bone, whose faces cut a little off its sphere"
    yield from picture("68-a-muscle-on-bone-meshes")
    mouse("key", "ctrl+z")
    yield 1.0
    assert not [o for o in bpy.context.scene.objects if o.sinew.use_muscle], "one undo takes it back"


def _window_and_region() -> tuple[bpy.types.Window, bpy.types.Region, bpy.types.RegionView3D]:
    window = bpy.context.window_manager.windows[0]
    area = next(a for a in window.screen.areas if a.type == "VIEW_3D")
    return window, next(r for r in area.regions if r.type == "WINDOW"), area.spaces.active.region_3d


def _look_from_front() -> None:
    """Lets the view look along y, with both bones in the middle."""
    view = _window_and_region()[2]
    view.view_rotation = (2**-0.5, 2**-0.5, 0.0, 0.0)
    view.view_location, view.view_distance = (0.0, 0.0, 1.0), 5.0
    view.view_perspective = "PERSP"


def _begin() -> Steps:
    yield from search("Draw Muscle")
    mouse("key", "Return")
    yield 1.0


def _point_at(place: tuple[float, float, float]) -> Steps:
    window, region, view = _window_and_region()
    at = view3d_utils.location_3d_to_region_2d(region, view, Vector(place))
    x, y = round(region.x + at.x), round(window.height - (region.y + at.y))
    mouse("mousemove", x - 3, y - 3)
    yield 0.3
    mouse("mousemove", x, y)
    yield 0.5


def _click(place: tuple[float, float, float]) -> Steps:
    yield from _point_at(place)
    mouse("click", 1)
    yield 0.7
