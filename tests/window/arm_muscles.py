# SPDX-License-Identifier: GPL-3.0-or-later
"""Twelve bare meshes of an arm become muscles by mouse: one is clicked, its collection selected, Make Muscle found."""

from __future__ import annotations

import sys
from pathlib import Path

import bpy
from bpy_extras import view3d_utils
from desktop import Steps, click_at, clicks, mouse, picture, result
from mathutils import Vector
from ui_driver import keys, search, show_sidebar, wait_for

DEMOS = Path(__file__).resolve().parents[2] / "demo_blends"
MOST_CLICKS, RIGHT_AT_BOTH_ENDS = 20, 11
CLICKED = "Biceps"  # whose name begins so


def arm_muscles() -> Steps:
    bpy.ops.wm.read_homefile()
    yield 1.5
    yield from show_sidebar()
    bpy.data.objects.remove(bpy.data.objects["Cube"])
    sys.path.append(str(DEMOS))
    import upper_limb

    upper_limb.make_bones()
    muscles = [obj.name for obj in upper_limb.make_muscle_meshes()]
    _put_into_collection(muscles)
    bpy.ops.object.select_all(action="DESELECT")
    _look_at_arm()
    bpy.ops.ed.undo_push(message="an arm")
    yield 1.0
    first = clicks()
    yield from _click_on(next(name for name in muscles if name.startswith(CLICKED)))
    assert bpy.context.object is not None and bpy.context.object.name in muscles, bpy.context.object
    yield from keys("shift+g", "o")
    yield 0.5
    assert sorted(obj.name for obj in bpy.context.selected_objects) == sorted(muscles), "the collection is selected"
    yield from search("Make Muscle")
    mouse("key", "Return")
    yield from wait_for("twelve muscles", lambda: all(_of(name).sinew.use_muscle for name in muscles), 60)
    result["arm_muscles_clicks"] = clicks() - first
    right = [name for name, path in upper_limb.MUSCLES.items() if _ends(name) == (path.origin, path.insertion)]
    result["arm_muscles_right"] = len(right)
    yield 2.0
    yield from picture("60-twelve-muscles-at-once")
    assert len(muscles) == 12 and len(right) >= RIGHT_AT_BOTH_ENDS, set(muscles) - set(right)
    assert clicks() - first <= MOST_CLICKS, result


def _of(name: str) -> bpy.types.Object:
    return bpy.data.objects[name]


def _ends(name: str) -> tuple[str, str]:
    hooks = {hook.name: hook.subtarget for hook in _of(name).modifiers if hook.type == "HOOK"}
    return hooks["Origin"], hooks["Insertion"]


def _put_into_collection(names: list[str]) -> None:
    own = bpy.data.collections.new("Muscles")
    bpy.context.scene.collection.children.link(own)
    for name in names:
        for former in list(_of(name).users_collection):
            former.objects.unlink(_of(name))
        own.objects.link(_of(name))


def _look_at_arm() -> None:
    space = next(a for a in bpy.context.window_manager.windows[0].screen.areas if a.type == "VIEW_3D").spaces.active
    view = space.region_3d
    view.view_rotation = (2**-0.5, 2**-0.5, 0.0, 0.0)
    view.view_location, view.view_distance = (0.25, 0.0, 0.0), 1.2
    view.view_perspective = "PERSP"
    space.clip_start = 0.001


def _click_on(name: str) -> Steps:
    """Clicks where the nearest vertex of an object to the eye is seen."""
    window = bpy.context.window_manager.windows[0]
    area = next(a for a in window.screen.areas if a.type == "VIEW_3D")
    region = next(r for r in area.regions if r.type == "WINDOW")
    view, obj = area.spaces.active.region_3d, _of(name)
    eye = view.view_matrix.inverted().translation
    seen = min((obj.matrix_world @ vertex.co for vertex in obj.data.vertices), key=lambda p: (Vector(p) - eye).length)
    at = view3d_utils.location_3d_to_region_2d(region, view, seen)
    yield from click_at(round(region.x + at.x), round(window.height - (region.y + at.y)))
