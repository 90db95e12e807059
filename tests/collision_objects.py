# SPDX-License-Identifier: GPL-3.0-or-later
"""A body, a collider and a collection, for tests of how they touch."""

from __future__ import annotations

import pytest

bpy = pytest.importorskip("bpy")

from blender_scenes import add_box
from sinew.addon import roles


def body(name: str = "Jelly", divisions: int = 4) -> bpy.types.Object:
    obj = add_box(name, divisions=divisions)
    roles.make_body(obj)
    bpy.context.view_layer.update()
    return obj


def collider(name: str = "Bowl") -> bpy.types.Object:
    obj = add_box(name, divisions=1)
    roles.make_collider(obj)
    return obj


def collection(name: str, *objects: bpy.types.Object) -> bpy.types.Collection:
    made = bpy.data.collections.new(name)
    bpy.context.scene.collection.children.link(made)
    for obj in objects:
        made.objects.link(obj)
    return made
