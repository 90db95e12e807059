# SPDX-License-Identifier: GPL-3.0-or-later
"""From a new file to a first bake by one click, then a second take, and the first as a ghost beside it: by mouse."""

from __future__ import annotations

import bpy
from bl_ext.user_default.sinew.addon.objects import take_ghosts
from desktop import Steps, picture, result
from ui_driver import open_alone, press, scroll, show_sidebar, status, wait_for

FRAMES = 24
SCROLLS = 30  # of the mouse wheel, from the top of the sidebar to its end
NEW_TAKE_ASIDE, GHOST_ASIDE = 50, 76  # from the middle of the sidebar [pixels]


def takes_by_mouse() -> Steps:
    bpy.ops.wm.read_homefile()
    yield 1.5
    yield from show_sidebar()
    scene = bpy.context.scene
    scene.frame_end = FRAMES
    yield from _simulate("50-the-first-click", "bpy.ops.sinew.simulate_selected")
    cube = bpy.data.objects["Cube"]
    result["first_click"] = [cube.sinew.preset, sorted(obj.name for obj in scene.objects)]
    yield from press("bpy.ops.sinew.new_take", NEW_TAKE_ASIDE)
    yield from wait_for("another take", lambda: status().frame is None, 10)
    cube.sinew.preset = "RUBBER"
    yield from _simulate("51-the-second-take")
    open_alone("Cache")
    yield 1.0
    yield from scroll(SCROLLS)
    yield from picture("52-the-list-of-takes")
    yield from press("bpy.ops.sinew.compare_take", GHOST_ASIDE)
    yield 1.0
    (ghost,) = take_ghosts.ghosts(scene)
    assert ghost.parent == cube and take_ghosts.shown_takes(scene) == {""}
    scene.frame_set(FRAMES // 2)
    yield 0.5
    yield from picture("53-a-ghost-beside-the-take")
    yield from press("bpy.ops.sinew.play_take", 0)
    yield 1.0
    assert scene.sinew.take == "" and not take_ghosts.ghosts(scene), "the first take plays, without a ghost of itself"
    yield from scroll(-SCROLLS)


def _simulate(name: str, operator: str = "bpy.ops.sinew.simulate") -> Steps:
    """Presses Simulate, which belongs to another operator while the mesh has no role, and waits for the end."""
    yield from press(operator)
    yield from wait_for("the end", lambda: status().phase == "baked", 300)
    yield 1.0
    assert not status().convergence.not_converged, status()
    yield from picture(name)
