# SPDX-License-Identifier: GPL-3.0-or-later
"""The point cloud "NAME Dust", which shows splinters of a broken body as particles."""

from __future__ import annotations

from pathlib import Path

import bpy

from ...solver.bake.cache import layout
from ..blender_data.time_remapping import time_stretch
from ..cache.attribute_columns import read_columns
from ..cache.cache_paths import portable_path
from ..playback.attribute_nodes import AttributeFiles, is_supported
from ..playback.dust_nodes import DUST_GROUP_NAME, build_dust_nodes
from . import result_objects

DUST_SUFFIX = " Dust"


def has_dust(folder: Path, key: str) -> bool:
    """Whether the cache has dust of a body that this Blender can show."""
    return is_supported() and bool(layout.dust_frames(folder, key))


def make_dust_object(scene: bpy.types.Scene, obj: bpy.types.Object) -> bpy.types.Object:
    """Returns a new point cloud that moves with the body, hidden or not, with its first material."""
    cloud = bpy.data.pointclouds.new(obj.name + DUST_SUFFIX)
    if obj.material_slots and obj.material_slots[0].material is not None:
        cloud.materials.append(obj.material_slots[0].material)
    return result_objects.make_child(scene, obj, cloud.name, cloud)


def play_dust(made: bpy.types.Object, folder: Path, key: str, is_undoable: bool) -> None:
    """Makes the point cloud show the dust of a cache; unless it is undoable, only where it has its nodes."""
    frames = layout.dust_frames(folder, key)
    columns = read_columns(layout.dust_path(folder, key, frames[0]))
    shown = portable_path(layout.dust_path(folder, key, 0).parent, bpy.data.filepath)
    reading = AttributeFiles(shown, frames[0], frames[-1], time_stretch(made), columns)
    modifier = next((each for each in made.modifiers if each.name == DUST_GROUP_NAME), None)
    if modifier is None and is_undoable:
        modifier = made.modifiers.new(DUST_GROUP_NAME, "NODES")
        modifier.node_group = bpy.data.node_groups.new(f"{DUST_GROUP_NAME} {key}", "GeometryNodeTree")
    if modifier is not None and modifier.node_group is not None:
        build_dust_nodes(modifier.node_group, reading)
