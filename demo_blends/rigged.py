# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters: armatures of straight bones, meshes that follow them, and poses told in world axes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import bpy
import numpy as np
from mathutils import Matrix, Quaternion, Vector

import stage

Point = Sequence[float]
# name → head [m], tail [m], name of the parent or ""
Bones = Mapping[str, tuple[Point, Point, str]]


def armature(name: str, bones: Bones) -> bpy.types.Object:
    """Returns an armature with these bones, parents before children; it is not rendered."""
    rig = bpy.data.objects.new(name, bpy.data.armatures.new(name))
    bpy.context.scene.collection.objects.link(rig)
    stage.select(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    made = rig.data.edit_bones
    for bone, (head, tail, parent) in bones.items():
        new = made.new(bone)
        new.head, new.tail = head, tail
        if parent:
            new.parent = made[parent]
    bpy.ops.object.mode_set(mode="OBJECT")
    rig.hide_render = True
    for bone in rig.pose.bones:
        bone.rotation_mode = "QUATERNION"
    return rig


def follow(obj: bpy.types.Object, rig: bpy.types.Object, bones: Bones, sharp: float = 6.0) -> None:
    """Makes a mesh follow bones, each vertex the near ones most: weights go with distance to the power of −`sharp`.

    `bones`: those that it follows.
    """
    points = np.empty((len(obj.data.vertices), 3), np.float32)
    obj.data.vertices.foreach_get("co", points.ravel())
    far = np.column_stack([_distances(points.astype(float), *bones[name][:2]) for name in bones])
    shares = (far + 1e-4) ** -sharp
    shares /= shares.sum(axis=1)[:, None]
    shares[shares < 0.03] = 0.0
    shares /= shares.sum(axis=1)[:, None]
    for name, share in zip(bones, np.round(shares, 3).T, strict=True):
        group = obj.vertex_groups.new(name=name)
        for i in np.flatnonzero(share).tolist():
            group.add([i], float(share[i]), "REPLACE")
    modifier = obj.modifiers.new("Armature", "ARMATURE")
    modifier.object = rig


def _distances(points: np.ndarray, head: Point, tail: Point) -> np.ndarray:
    """Returns how far points are from the line from head to tail [m], (n,)."""
    start, way = np.asarray(head, float), np.subtract(tail, head)
    along = np.clip((points - start) @ way / (way @ way), 0.0, 1.0)
    return np.linalg.norm(points - start - along[:, None] * way, axis=1)


def turn(rig: bpy.types.Object, bone: str, axis: Point, *keys: tuple[int, float]) -> None:
    """Keys by how many degrees a bone is turned about an axis, given in the world as it is at rest, at frames."""
    rest = rig.data.bones[bone].matrix_local.to_3x3()
    posed = rig.pose.bones[bone]
    for frame, degrees in keys:
        around = Quaternion(axis, math.radians(degrees)).to_matrix()
        posed.rotation_quaternion = (rest.inverted() @ around @ rest).to_quaternion()
        posed.keyframe_insert("rotation_quaternion", frame=frame)


def pose(rig: bpy.types.Object, bone: str, *keys: tuple[int, Point, Point]) -> None:
    """Keys by how much a bone is moved [m] and turned about x, y and z [degrees], in world axes at rest, at frames."""
    rest = rig.data.bones[bone].matrix_local.to_3x3()
    posed = rig.pose.bones[bone]
    for frame, move, degrees in keys:
        around = Matrix.Identity(3)
        for axis, angle in zip("XYZ", degrees, strict=True):
            around = Matrix.Rotation(math.radians(angle), 3, axis) @ around
        posed.location = rest.inverted() @ Vector(move)
        posed.rotation_quaternion = (rest.inverted() @ around @ rest).to_quaternion()
        posed.keyframe_insert("location", frame=frame)
        posed.keyframe_insert("rotation_quaternion", frame=frame)
