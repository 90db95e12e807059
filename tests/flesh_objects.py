# SPDX-License-Identifier: GPL-3.0-or-later
"""Flesh and bones in Blender."""

from __future__ import annotations

import pytest

bpy = pytest.importorskip("bpy")

from blender_scenes import add_box
from sinew.addon import roles


def flesh(name: str = "Arm") -> bpy.types.Object:
    obj = add_box(name, divisions=4)
    roles.make_flesh(obj)
    return obj


def bone(name: str = "Humerus") -> bpy.types.Object:
    obj = add_box(name, divisions=1)
    roles.make_bone(obj)
    return obj


def select(*objects: bpy.types.Object) -> None:
    """Selects objects, the last one active."""
    bpy.ops.object.select_all(action="DESELECT")
    for obj in objects:
        obj.select_set(True)
    bpy.context.view_layer.objects.active = objects[-1]
