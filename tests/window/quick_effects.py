# SPDX-License-Identifier: GPL-3.0-or-later
"""Quick Jelly by the menu Object in the header of the 3D view, Quick Clay by Blender's search: with mouse and keys."""

from __future__ import annotations

import time

import bpy
from bl_ext.user_default.sinew.addon.objects import roles
from desktop import Steps, click_at, clicks, mouse, picture, result
from ui_driver import lowest_and_height, search, show_sidebar, status, wait_for

FRAMES, MAX_SECONDS = 40, 60.0
# where the menu Object is in the header, and its entries as it opens there [pixels from the top left]
OBJECT_MENU, QUICK_EFFECTS, QUICK_JELLY, QUICK_FAT = (330, 40), (374, 638), (575, 574), (575, 637)


def quick_effects() -> Steps:
    yield from _new_file()
    before = clicks()
    yield from _quick_jelly_by_menu()
    result["quick_jelly_clicks"] = clicks() - before
    yield from _bake("JELLY_BY_SIZE", "quick_jelly")
    yield from _new_file()
    yield from _quick_clay_by_search()
    yield from _bake("CLAY_BY_SIZE", "quick_clay")
    yield from _new_file()


def _new_file() -> Steps:
    bpy.ops.wm.read_homefile()
    yield 1.5
    yield from show_sidebar()
    bpy.context.scene.frame_end = FRAMES


def _quick_jelly_by_menu() -> Steps:
    yield from click_at(*OBJECT_MENU)
    yield from click_at(*QUICK_EFFECTS)
    yield from picture("70-the-quick-effects")
    yield from click_at(*QUICK_JELLY)


def _quick_clay_by_search() -> Steps:
    yield from search("Quick Clay")
    yield from picture("71-quick-clay-found-by-search")
    mouse("key", "Return")
    yield 0.5


def _bake(preset: str, name: str) -> Steps:
    """Waits for the end of the bake, and checks what came: the material, a ground, and a fall that dents the body."""
    start, cube, scene = time.monotonic(), bpy.data.objects["Cube"], bpy.context.scene
    yield from wait_for("the start", lambda: status().is_running, 10)
    assert (cube.sinew.role, cube.sinew.preset) == ("BODY", preset), (cube.sinew.role, cube.sinew.preset)
    (ground,) = roles.colliders(scene)
    yield from wait_for("the end", lambda: status().phase == "baked", MAX_SECONDS)
    result[f"{name}_seconds"] = round(time.monotonic() - start, 2)
    assert status().frame == FRAMES and not status().convergence.not_converged, status()
    shapes = {}
    for frame in range(1, FRAMES + 1):
        scene.frame_set(frame)
        shapes[frame] = lowest_and_height()
    height = shapes[1][1]
    flattest = min(shapes, key=lambda frame: shapes[frame][1])
    result[f"{name}_flattest"] = round(shapes[flattest][1] / height, 3)
    assert abs(min(low for low, _ in shapes.values()) - ground.location.z) < 0.01 * height, "it did not meet the ground"
    assert 0.5 * height < shapes[flattest][1] < 0.97 * height, "the fall did not dent it"
    scene.frame_set(flattest)
    yield from picture(f"72-{name}-at-its-flattest".replace("_", "-"))
