# SPDX-License-Identifier: GPL-3.0-or-later
"""Ctrl+Z with the keyboard after a bake that touched the ground, which once ended Blender."""

from __future__ import annotations

import bpy
from hands import Steps, bake, mouse, picture, press, result, show_sidebar, status, view

FRAMES = 25


def undo_of_bake() -> Steps:
    """Moves a body twice between Add Ground and Simulate, bakes it, and undoes all of that."""
    bpy.ops.wm.read_homefile()
    yield 1.5
    yield from show_sidebar()
    yield from press("bpy.ops.sinew.make_body")
    yield from press("bpy.ops.sinew.add_ground")
    bpy.context.scene.frame_end = FRAMES
    yield from _keys("g", "z", "1", "period", "5", "Return")
    yield from _keys("g", "x", "1", "Return")
    cube = bpy.data.objects["Cube"]
    assert tuple(round(x, 3) for x in cube.location) == (1.0, 0.0, 1.5), cube.location
    yield from bake()
    assert status().phase == "baked", status()
    for number in range(3):
        yield from _keys("ctrl+z")
        yield 1.0
    cube = bpy.data.objects["Cube"]
    result["after_three_undos"] = [round(x, 3) for x in cube.location]
    yield from picture("30-after-three-undos")


def _keys(*names: str) -> Steps:
    """Presses keys over the middle of the viewport."""
    window, area, _ = view()
    mouse("mousemove", area.x + area.width // 3, window.height - (area.y + area.height // 2))
    yield 0.3
    for name in names:
        mouse("key", name)
        yield 0.3
