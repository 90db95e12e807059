# SPDX-License-Identifier: GPL-3.0-or-later
"""A small scene made with the operators, and a bake as Blender's timer drives it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

import blender_scenes
from blender_scenes import add_box, fresh
from fake_layout import FakeLayout
from sinew.addon.baking import bake_status, bakes, cache_look
from sinew.addon.drawing import layouts


def falling_box(frames: int = 8, divisions: int = 3) -> tuple[bpy.types.Scene, bpy.types.Object]:
    """Returns a scene with one small body in the air, made with the operators."""
    scene = fresh()
    scene.frame_end = frames
    box = add_box(divisions=2)
    box.location.z = 3.0
    bpy.ops.sinew.make_body()
    box.sinew.divisions = divisions
    return scene, box


def evaluated(obj: bpy.types.Object, frame: int) -> np.ndarray:
    """Returns object-space vertices (n, 3) as they are shown at a frame."""
    return blender_scenes.evaluated(obj, frame)[0]


def until(condition: Callable[[], object], seconds: float = 60.0) -> None:
    """Lets the running bake go on until something holds, as Blender's timer does."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, bake_status.status(bpy.context.scene)
        bakes.tick()
        time.sleep(0.005)


def status() -> bake_status.Status:
    cache_look.forget()
    bake_status.forget()
    return bake_status.status(bpy.context.scene)


def child_pid(bake: bakes.Bake) -> int:
    until(lambda: bake.driver._child is not None)
    return bake.driver._child.pid


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z" if Path("/proc").is_dir() else True


def panel_lines(obj: bpy.types.Object, *draws: Callable[..., None]) -> list[str]:
    """Returns the words of the panels of `obj`."""
    status()
    region = SimpleNamespace(width=2000)
    preferences = SimpleNamespace(system=SimpleNamespace(ui_scale=1.0))
    layout = FakeLayout()
    for draw in draws or (layouts.draw_main,):
        draw(layout, SimpleNamespace(object=obj, scene=bpy.context.scene, region=region, preferences=preferences))
    return layout.lines
