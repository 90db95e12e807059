# SPDX-License-Identifier: GPL-3.0-or-later
"""A second Blender beside the one that tests: a jelly above a ground; a file says ten times a second how it goes.

two_windows.py starts it, in the right half of the screen, and presses its keys and mouse.
"""

from __future__ import annotations

import json
import pathlib
import sys

import bpy
from bl_ext.user_default.sinew.addon.baking.addon_session import session

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from desktop import OUT
from live_hand import choose_tool, front_view, jelly_cube, screen, vertices

REPORT, LEFT = OUT / "other.json", 640  # LEFT: of its window on the screen [pixels]


def make_scene() -> None:
    jelly_cube(cuts=8)
    bpy.ops.mesh.primitive_plane_add(size=20.0, location=(0.0, 0.0, -1.0))
    bpy.ops.sinew.make_collider()
    front_view((0.0, 0.0, 0.5), 12.0)
    choose_tool("sinew.grab_tool")
    bpy.ops.ed.undo_push(message="made")  # from now on the file is changed


def report() -> float:
    run = session.live
    told = {"tempdir": bpy.app.tempdir, "dirty": bpy.data.is_dirty, "live": run is not None}
    if run is not None and run.step >= 0:
        middle = vertices().mean(axis=0)
        x, y = screen(middle)
        told |= {"step": run.step, "grabs": len(run.grabs), "folder": str(run.folder), "child": run.driver._child.pid}
        told |= {"middle": [x + LEFT, y], "height": float(middle[2]), "note": run.note}
    part = REPORT.with_suffix(".part")
    part.write_text(json.dumps(told))
    part.replace(REPORT)
    return 0.1


def begin() -> None:
    make_scene()
    bpy.app.timers.register(report, persistent=True)


bpy.context.preferences.view.show_splash = False
bpy.app.timers.register(begin, first_interval=1.5)
