# SPDX-License-Identifier: GPL-3.0-or-later
"""Inputs that depend on earlier frames: Blender's own simulations above Sinew, and rigid bodies."""

from __future__ import annotations

from collections.abc import Mapping

import bpy

from ..blender_data import rigid_body_world
from .input_digest import bake_dependencies

# their copies know nothing of the frames that were simulated for the original
SIMULATION_MODIFIERS = {"CLOTH", "SOFT_BODY", "DYNAMIC_PAINT", "FLUID", "PARTICLE_SYSTEM"}


def follows_rigid_bodies(scene: bpy.types.Scene) -> bool:
    """Whether a body or collider is, or depends on, an object that Blender's rigid body simulation moves."""
    moved = rigid_body_world.moved_objects(scene)
    return bool(moved and moved & bake_dependencies(scene))


def first_frame_needed(scene: bpy.types.Scene, cuts: Mapping[bpy.types.Object, int | None]) -> int | None:
    """Returns the frame from which frames have to be evaluated one after the other, or None when any will do.

    Args:
        scene: The scene.
        cuts: The objects whose shape is read, each with how many of its modifiers (None: all).
    """
    found = []
    for obj, cut in cuts.items():
        for modifier in list(obj.modifiers)[:cut]:
            cache = getattr(modifier, "point_cache", None)
            if modifier.type in SIMULATION_MODIFIERS:
                found.append(scene.frame_start if cache is None else cache.frame_start)
            elif modifier.type == "NODES" and _has_simulation_zone(modifier.node_group, set()):
                found.append(scene.frame_start)
    if follows_rigid_bodies(scene):
        found.append(scene.rigidbody_world.point_cache.frame_start)
    return min(found, default=None)


def _has_simulation_zone(tree: bpy.types.NodeTree | None, seen: set[str]) -> bool:
    if tree is None or tree.name_full in seen:
        return False
    seen.add(tree.name_full)
    return any(
        node.bl_idname == "GeometryNodeSimulationOutput" or _has_simulation_zone(getattr(node, "node_tree", None), seen)
        for node in tree.nodes
    )
