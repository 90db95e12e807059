# SPDX-License-Identifier: GPL-3.0-or-later
"""An arm of flesh on two bones: the elbow bends to 140 degrees, the flesh folds inside it and bulges around it."""

from __future__ import annotations

import math

import bpy
import numpy as np
from mathutils import Matrix

import fused
import stage

FRAMES = 60
VOXEL = 0.005
TRIANGLES = 8_000
TET_SIZE = 0.020
ELBOW = 0.30  # from the shoulder [m]
WRIST = 0.56
AXIS = -0.010  # height of the joint and of the bones: nearer to the elbow than to its hollow
GAP = 0.06  # between the joint and the end of a bone, so that flesh has room between two bent bones
BEND = 140.0
SKIN, BONE = (0.62, 0.36, 0.27), (0.85, 0.80, 0.68)


def build() -> None:
    """Builds the scene in a new file."""
    stage.empty_scene(FRAMES)
    arm = _arm()
    rig = _rig()
    stage.ride(_humerus(), rig, "Upper")
    stage.ride(_radius(), rig, "Lower")
    stage.make_flesh(arm, "POSE", tet_size=TET_SIZE)
    _bend(rig)
    stage.light_and_camera((0.72, -1.22, 0.48), (0.28, 0.0, 0.13), lens=56.0)


def _arm() -> bpy.types.Object:
    """Returns an arm along x with a fist, its hollow of the elbow upwards."""
    limb = fused.tube(
        [(0.0, 0, 0.002), (0.07, 0, 0.008), (0.15, 0, 0.012), (0.24, 0, 0.002), (ELBOW, 0, -0.004), (0.36, 0, 0.004),
         (0.44, 0, 0.002), (0.50, 0, 0), (WRIST, 0, 0), (0.59, 0, 0)],
        [0.056, 0.058, 0.057, 0.043, 0.036, 0.045, 0.043, 0.034, 0.027, 0.027],
    )  # fmt: skip
    round_end = fused.ball((0.0, 0, 0.002), (0.03, 0.057, 0.057))
    arm = fused.fuse("Arm", [limb, round_end, *_fist()], VOXEL, TRIANGLES, 6)
    stage.paint(arm, SKIN, 0.45)
    return arm


def _fist() -> list[bpy.types.Object]:
    """Returns a palm, four fingers rolled up onto it, and a thumb over them."""
    fingers = [
        fused.tube([(0.60, y, -0.020), (0.646, y, -0.014), (0.654, y, 0.018), (0.618, y, 0.030)], [0.0125] * 4)
        for y in (-0.034, -0.0113, 0.0113, 0.034)
    ]
    thumb = fused.tube([(0.585, -0.036, 0.006), (0.615, -0.044, 0.034), (0.642, -0.018, 0.044)], [0.015, 0.014, 0.012])
    return [fused.ball((0.608, 0, 0.0), (0.044, 0.046, 0.030)), *fingers, thumb]


def _humerus() -> bpy.types.Object:
    """Returns the bone of the upper arm, which looks out of the flesh at the shoulder."""
    shaft = [
        fused.tube([(-0.085 + 0.08 * i, 0, AXIS * min(i, 1)) for i in range(4)] + [(ELBOW - GAP, 0, AXIS)], [0.012] * 5)
    ]
    knobs = fused.mirrored([fused.ball((-0.09, 0.016, 0.0), (0.021, 0.021, 0.021))])
    return _bone("Humerus", [*shaft, *knobs])


def _radius() -> bpy.types.Object:
    """Returns the one bone of the forearm, as far as into the fist."""
    points = [(x, 0.0, AXIS) for x in np.linspace(ELBOW + GAP, 0.63, 5)]
    return _bone("Radius", [fused.tube(points, [0.011, 0.009, 0.009, 0.009, 0.011])])


def _bone(name: str, parts: list[bpy.types.Object]) -> bpy.types.Object:
    """Returns a bone that holds the flesh around it."""
    bone = fused.fuse(name, parts, 0.004, 700, 3)
    stage.paint(bone, BONE, 0.5)
    stage.make_bone(bone, 0.004)
    return bone


def _rig() -> bpy.types.Object:
    """Returns an armature of an upper and a lower arm, jointed at the elbow."""
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(rig)
    stage.select(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    upper, lower = rig.data.edit_bones.new("Upper"), rig.data.edit_bones.new("Lower")
    upper.head, upper.tail = (0.0, 0.0, AXIS), (ELBOW, 0.0, AXIS)
    lower.head, lower.tail = (ELBOW, 0.0, AXIS), (WRIST, 0.0, AXIS)
    lower.parent = upper
    bpy.ops.object.mode_set(mode="OBJECT")
    rig.hide_render = True
    return rig


def _bend(rig: bpy.types.Object) -> None:
    """Keys the elbow: bent to the full, and half open again."""
    rest = rig.data.bones["Lower"].matrix_local.to_3x3()
    lower = rig.pose.bones["Lower"]
    lower.rotation_mode = "QUATERNION"
    for frame, degrees in ((1, 0.0), (8, 0.0), (40, BEND), (48, BEND), (60, 70.0)):
        turn = Matrix.Rotation(math.radians(-degrees), 3, "Y")
        lower.rotation_quaternion = (rest.inverted() @ turn @ rest).to_quaternion()
        lower.keyframe_insert("rotation_quaternion", frame=frame)
