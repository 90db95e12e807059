# SPDX-License-Identifier: GPL-3.0-or-later
"""The joints that a muscle moves: those of its rig between the bones that its two ends are on."""

from __future__ import annotations

import bpy
import numpy as np
from mathutils import Vector

from ...solver.scene.muscle import END_WEIGHT
from ..evaluation.vertex_weights import group_weights
from .flesh_supports import bones_of, hooks_of


def joints_of_muscle(scene: bpy.types.Scene, obj: bpy.types.Object, rig: bpy.types.Object) -> list[str]:
    """Returns the names of the bones whose turns move the ends of a muscle against each other, parents first.

    All bones that deform, or else all, where an end is on no bone, or both are on one.
    """
    ends = [_bone_at(scene, obj, rig, group) for group in (obj.sinew.origin_group, obj.sinew.insertion_group)]
    chains = [_with_parents(rig, name) for name in ends if name is not None]
    bones = rig.data.bones
    found = (
        {name for chain in chains for name in chain} - {n for n in chains[0] if n in chains[-1]} if chains else set()
    )
    if len(chains) < 2 or not found:
        found = {bone.name for bone in bones if bone.use_deform} or {bone.name for bone in bones}
    return [bone.name for bone in bones if bone.name in found]


def _with_parents(rig: bpy.types.Object, name: str) -> list[str]:
    bone = rig.data.bones[name]
    return [name, *(parent.name for parent in bone.parent_recursive)]


def _bone_at(scene: bpy.types.Scene, obj: bpy.types.Object, rig: bpy.types.Object, group: str) -> str | None:
    """Returns the bone that a hook lets an end follow, the one with the largest weights there, or the one that carries
    the nearest bone mesh; None where there is none."""
    hooked = next((hook for hook in hooks_of(obj) if hook.vertex_group == group), None)
    if hooked is not None:
        name = hooked.subtarget if hooked.object == rig else hooked.object.parent_bone
        return name if name in rig.data.bones else None
    end = obj.vertex_groups.get(group)
    if end is None:
        return None
    mesh = obj.data
    is_end = group_weights(mesh, [end.index])[0] > END_WEIGHT
    if not is_end.any():
        return None
    names = [bone.name for bone in rig.data.bones if bone.name in obj.vertex_groups]
    painted = group_weights(mesh, [obj.vertex_groups[name].index for name in names])[:, is_end].sum(axis=1)
    if painted.any():
        return names[int(painted.argmax())]
    points = np.array([mesh.vertices[i].co for i in np.flatnonzero(is_end)])
    return _carrier(scene, obj, rig, obj.matrix_world @ Vector(points.mean(axis=0)))


def _carrier(scene: bpy.types.Scene, obj: bpy.types.Object, rig: bpy.types.Object, place: Vector) -> str | None:
    """Returns the bone of a rig that carries the nearest bone mesh of a muscle; None where it carries none."""
    carried = [
        each for each in bones_of(scene, obj) if each.parent == rig and each.parent_type == "BONE" and each.parent_bone
    ]

    def distance(bone: bpy.types.Object) -> float:
        found, point, *_ = bone.closest_point_on_mesh(bone.matrix_world.inverted_safe() @ place)
        return float((bone.matrix_world @ point - place).length) if found else np.inf

    return min(carried, key=distance).parent_bone if carried else None
