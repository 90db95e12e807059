# SPDX-License-Identifier: GPL-3.0-or-later
"""An arm of flesh on two bones: the elbow bends to 140 degrees, the flesh folds inside it and bulges around it."""

from __future__ import annotations

import math

import bpy
from mathutils import Matrix

import fused
import stage

FRAMES = 60
VOXEL = 0.006
TRIANGLES = 9_000
ELBOW = 0.30  # from the shoulder [m]
WRIST = 0.56
AXIS = -0.010  # height of the joint and of the bones: nearer to the elbow than to its hollow
GAP = 0.035  # between the joint and the end of a bone, so that the bones do not meet
BEND = 140.0
SKIN, BONE = (0.62, 0.36, 0.27), (0.85, 0.80, 0.68)


def build() -> None:
    """Builds the scene in a new file."""
    stage.empty_scene(FRAMES)
    arm = _arm()
    rig = _rig()
    for name, bone in (("Humerus", "Upper"), ("Forearm bones", "Lower")):
        stage.ride(_bone(name), rig, bone)
    stage.make_flesh(arm, "POSE", tet_size=0.017)
    _bend(rig)
    stage.light_and_camera((0.30, -1.35, 0.42), (0.30, 0.0, 0.10), lens=50.0)


def _arm() -> bpy.types.Object:
    """Returns an arm along x with a fist, its hollow of the elbow upwards."""
    limb = fused.tube(
        [(0.0, 0, 0), (0.07, 0, 0.006), (0.15, 0, 0.012), (0.24, 0, 0.002), (ELBOW, 0, -0.004), (0.36, 0, 0.004),
         (0.44, 0, 0.002), (0.50, 0, 0), (WRIST, 0, 0)],
        [0.058, 0.058, 0.056, 0.043, 0.036, 0.044, 0.042, 0.034, 0.028],
    )  # fmt: skip
    fist = [
        fused.ball((0.615, 0, 0.0), (0.052, 0.034, 0.044)),
        fused.ball((0.625, -0.024, 0.028), (0.034, 0.016, 0.016), (0, 0.5, 0.5)),
        *(fused.ball((0.648, y, 0.024), (0.020, 0.011, 0.018)) for y in (-0.030, -0.010, 0.010, 0.030)),
    ]
    shoulder = fused.ball((0.0, 0, 0.0), (0.055, 0.066, 0.066))
    arm = fused.fuse("Arm", [limb, shoulder, *fist], VOXEL, TRIANGLES, 6)
    stage.paint(arm, SKIN, 0.45)
    return arm


def _bone(name: str) -> bpy.types.Object:
    """Returns a bone of the arm, which lies along x as the arm does."""
    begin, end = (-0.02, ELBOW - GAP) if name == "Humerus" else (ELBOW + GAP, 0.64)
    points = [(begin + (end - begin) * i / 4, 0.0, AXIS) for i in range(5)]
    thick = [0.011, 0.009, 0.009, 0.009, 0.011]
    bone = fused.fuse(name, [fused.tube(points, thick)], 0.004, 600, 2)
    stage.paint(bone, BONE, 0.6)
    stage.make_bone(bone, 0.004)
    bone.hide_render = True
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
