# SPDX-License-Identifier: GPL-3.0-or-later
"""One muscle on two bones: the biceps shortens and bulges as the forearm lifts a dumbbell, and rests as it sinks."""

from __future__ import annotations

import math

import bpy
import numpy as np
from mathutils import Matrix

import fused
import rigged
import stage

FRAMES = 72
SHOULDER, ELBOW, WRIST = 0.0, 0.30, 0.56  # along x [m]
# over the upper arm, from the shoulder to the forearm just beyond the elbow [m]
PATH = [
    (0.0, 0, 0.028), (0.04, 0, 0.038), (0.09, 0, 0.048), (0.15, 0, 0.052), (0.21, 0, 0.047), (0.26, 0, 0.038),
    (0.30, 0, 0.029), (0.33, 0, 0.014),
]  # fmt: skip
RADII = [0.009, 0.015, 0.025, 0.030, 0.026, 0.017, 0.010, 0.007]  # [m]
VOXEL, TRIANGLES = 0.003, 4_000
TET_SIZE = 0.011  # [m]; a third of the belly would be too coarse for the tendon at the elbow
BEND = 95.0  # degrees
# frame, bend in degrees, activation: a curl, held, let down slowly, and rest
CURL = ((1, 0.0, 0.0), (8, 0.0, 0.15), (28, BEND, 1.0), (40, BEND, 0.9), (60, 5.0, 0.15), (66, 0.0, 0.0))
MUSCLE, BONE, IRON = (0.48, 0.09, 0.08), (0.85, 0.80, 0.68), (0.05, 0.05, 0.06)


def build() -> None:
    """Builds the scene in a new file."""
    stage.empty_scene(FRAMES)
    bones = {
        "Upper": ((SHOULDER, 0.0, 0.0), (ELBOW, 0.0, 0.0), ""),
        "Lower": ((ELBOW, 0.0, 0.0), (WRIST, 0.0, 0.0), "Upper"),
    }
    rig = rigged.armature("Rig", bones)
    humerus = _long_bone("Humerus", -0.01, ELBOW - 0.012, 0.018)
    radius = _long_bone("Radius", ELBOW + 0.014, WRIST, 0.012)
    for bone, name in ((humerus, "Upper"), (radius, "Lower")):
        stage.ride(bone, rig, name)
        stage.make_collider(bone)
    stage.ride(_dumbbell(), rig, "Lower")
    biceps = fused.fuse("Biceps", [fused.tube(PATH, RADII)], VOXEL, TRIANGLES, 4)
    stage.paint(biceps, MUSCLE, 0.35)
    stage.select(biceps)
    bpy.ops.sinew.make_muscle()
    biceps.sinew.tet_size = TET_SIZE
    _curl(rig, biceps)
    stage.light_and_camera((0.36, -1.30, 0.30), (0.30, 0.0, 0.14), lens=50.0)


def _long_bone(name: str, start: float, end: float, knob: float) -> bpy.types.Object:
    """Returns a bone along x with a knob at each end."""
    points = [(x, 0.0, 0.0) for x in np.linspace(start, end, 5)]
    shaft = fused.tube(points, [0.011, 0.009, 0.009, 0.009, 0.011])
    knobs = [fused.ball((x, 0.0, 0.0), (knob, knob, knob)) for x in (start, end)]
    bone = fused.fuse(name, [shaft, *knobs], 0.003, 900, 3)
    stage.paint(bone, BONE, 0.5)
    return bone


def _dumbbell() -> bpy.types.Object:
    """Returns a bar across the hand with a ball at each end."""
    hand = WRIST + 0.045
    bar = fused.tube([(hand, y, 0.0) for y in (-0.09, 0.0, 0.09)], [0.012] * 3)
    palm = fused.tube([(WRIST, 0.0, 0.0), (hand, 0.0, 0.0)], [0.010, 0.010])
    balls = [fused.ball((hand, y, 0.0), (0.042, 0.042, 0.042)) for y in (-0.1, 0.1)]
    dumbbell = fused.fuse("Dumbbell", [bar, palm, *balls], 0.004, 1_500, 2)
    stage.paint(dumbbell, IRON, 0.3)
    return dumbbell


def _curl(rig: bpy.types.Object, biceps: bpy.types.Object) -> None:
    """Keys the elbow and the activation of the biceps."""
    rest = rig.data.bones["Lower"].matrix_local.to_3x3()
    lower = rig.pose.bones["Lower"]
    for frame, degrees, activation in CURL:
        turn = Matrix.Rotation(math.radians(-degrees), 3, "Y")
        lower.rotation_quaternion = (rest.inverted() @ turn @ rest).to_quaternion()
        lower.keyframe_insert("rotation_quaternion", frame=frame)
        biceps.sinew.activation = activation
        biceps.sinew.keyframe_insert("activation", frame=frame)
