# SPDX-License-Identifier: GPL-3.0-or-later
"""What a person does with caches: shape keys during and after a bake, lost caches deleted, a folder that cannot be."""

from __future__ import annotations

import shutil

import bpy
from bl_ext.user_default.sinew.addon.baking import last_failure, orphaned_caches_search
from bl_ext.user_default.sinew.addon.cache import cache_paths
from desktop import Steps, mouse, picture, result
from ui_driver import choose_role, open_alone, press, scroll, show_sidebar, status, wait_for

LONG = 2000
DIVISIONS = 24  # 70,000 tets: minutes of steps, where 4 divisions had baked all before anybody had looked
SCROLLS = 30  # of the mouse wheel, from the top of the sidebar to its end
LOST_FOLDER = "sinew-0123456789ab"


def cache_bakes() -> Steps:
    yield from _make_falling_cube()
    yield from _convert_during_bake()
    yield from _convert_after_bake()
    yield from _delete_lost_caches()
    yield from _bake_into_folder_that_cannot_be()


def _make_falling_cube() -> Steps:
    bpy.ops.wm.read_homefile()
    yield 1.5
    yield from show_sidebar()
    yield from choose_role("m")
    yield from press("bpy.ops.sinew.add_ground")
    cube = bpy.data.objects["Cube"]
    cube.location.z, cube.sinew.divisions = 0.5, DIVISIONS


def _convert_during_bake() -> Steps:
    """Asks for shape keys while frames come: the button is grey, and what runs it by name is refused."""
    scene = bpy.context.scene
    scene.frame_end = LONG
    yield from press("bpy.ops.sinew.simulate")
    yield from wait_for("the start", lambda: status().is_running, 10)
    yield from wait_for("frame 5", lambda: (status().frame or 0) >= 5, 300)
    open_alone("Cache")
    yield from scroll(SCROLLS)
    yield from picture("40-no-shape-keys-during-a-bake")
    before = {obj.name for obj in bpy.data.objects}
    assert status().is_running, "the bake has ended before anybody asked for shape keys"
    try:
        bpy.ops.sinew.convert_to_shape_keys()
        raise AssertionError("half a bake became shape keys")
    except RuntimeError as refused:
        result["refused_during_bake"] = str(refused).strip()
    assert {obj.name for obj in bpy.data.objects} == before and not bpy.data.objects["Cube"].hide_viewport
    mouse("key", "Escape")
    yield from wait_for("the stop", lambda: not status().is_running, 20)


def _convert_after_bake() -> Steps:
    """Presses the button when the bake has stopped: the copy has its frames, and the original is hidden."""
    kept = status().frame or 0
    yield from scroll(SCROLLS)  # the panel has become longer
    yield from press("bpy.ops.sinew.convert_to_shape_keys")
    copy, cube = bpy.context.object, bpy.data.objects["Cube"]
    assert copy != cube and len(copy.data.shape_keys.key_blocks) >= kept, "no shape keys"
    assert cube.hide_viewport and cube.hide_render, "the original lies in its copy"
    bpy.context.scene.frame_set(kept)
    yield from picture("41-shape-keys")
    cube.hide_viewport = cube.hide_render = False
    bpy.context.view_layer.objects.active = cube
    yield from scroll(-SCROLLS)


def _delete_lost_caches() -> Steps:
    """Lays a cache that nobody plays into the temp folder, sees it offered, and deletes it with the mouse."""
    own = cache_paths.cache_folder(bpy.context.scene)
    lost = cache_paths.temporary_home().parent / LOST_FOLDER
    shutil.copytree(own, lost / "lost.sinew")
    (lost / "lost.sinew" / "lock").unlink(missing_ok=True)
    orphaned_caches_search.start_search()
    yield from wait_for("what is lost", lambda: bool(orphaned_caches_search.orphan_search.orphans), 20)
    yield from picture("42-lost-caches-offered")
    bpy.ops.preferences.addon_show(module="bl_ext.user_default.sinew")
    yield 2.0
    yield from picture("43-lost-caches-in-the-preferences")
    windows = bpy.context.window_manager.windows
    with bpy.context.temp_override(window=windows[-1]):
        bpy.ops.wm.window_close()
    yield 1.0
    yield from press("bpy.ops.sinew.delete_lost_caches")
    yield 1.0
    yield from picture("44-asked-before-they-go")
    mouse("key", "Return")
    yield from wait_for("their end", lambda: not lost.exists(), 20)
    assert own.exists() and not orphaned_caches_search.orphan_search.orphans


def _bake_into_folder_that_cannot_be() -> Steps:
    """Bakes into a folder that no drive has, and reads what to do about it."""
    scene = bpy.context.scene
    scene.sinew.cache_path = "/proc/x"
    yield 1.5
    yield from press("bpy.ops.sinew.simulate")
    yield from wait_for("the refusal", lambda: bool(last_failure.failure_text(scene)), 20)
    sentence = last_failure.failure_text(scene)
    result["folder_that_cannot_be"] = sentence
    assert "/proc/x" in sentence and "again" not in sentence, sentence
    yield from picture("45-a-folder-that-cannot-be")
    scene.sinew.cache_path = ""
