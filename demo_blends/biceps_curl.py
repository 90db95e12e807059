# SPDX-License-Identifier: GPL-3.0-or-later
"""One muscle on two bones: the biceps bulges as the forearm lifts a dumbbell, and hardly tenses when it comes up empty.

The weight in the hand is keyed. A driver makes the activation that holds it still of it: the torque of the muscle about
the elbow, its peak stress times the area of its belly on a constant lever, is that of the dumbbell and the forearm.
"""

from __future__ import annotations

import math

import bpy
import numpy as np
from mathutils import Matrix

import fused
import rigged
import stage

FRAMES = 100
SHOULDER, ELBOW, WRIST = 0.0, 0.30, 0.56  # along x [m], before the arm hangs down
HAND, BALL = WRIST + 0.045, 0.042  # along x, and the radius of each ball of the dumbbell [m]
# over the upper arm, from the shoulder to the forearm just beyond the elbow [m]
PATH = [
    (0.0, 0, 0.028), (0.04, 0, 0.038), (0.09, 0, 0.048), (0.15, 0, 0.052), (0.21, 0, 0.047), (0.26, 0, 0.038),
    (0.30, 0, 0.029), (0.33, 0, 0.014),
]  # fmt: skip
RADII = [0.009, 0.015, 0.025, 0.030, 0.026, 0.017, 0.010, 0.007]  # [m]
VOXEL, TRIANGLES = 0.003, 4_000
TET_SIZE = 0.011  # [m]; a third of the belly would be too coarse for the tendon at the elbow
BEND = 95.0  # degrees
# frame, bend in degrees: a curl, held, let down slowly, and one without the dumbbell
CURL = ((1, 0.0), (8, 0.0), (28, BEND), (40, BEND), (60, 0.0), (66, 0.0), (80, BEND), (86, BEND), (98, 0.0))
DUMBBELL, FOREARM = 8.5, 1.3  # [kg]
SET_DOWN = 63  # frame
PEAK_STRESS = 0.3  # of the preset Muscle [MPa]
GRAVITY, LEVER = 9.81, 0.033  # [m/s²], and from the elbow to the muscle, on average over the curl [m]
HANGING = Matrix.Rotation(math.radians(90.0), 4, "Y")  # from x downwards; the elbow bends towards x
MUSCLE, BONE, IRON, WOOD = (0.48, 0.09, 0.08), (0.85, 0.80, 0.68), (0.05, 0.05, 0.06), (0.34, 0.20, 0.10)


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
    hand = fused.fuse("Hand", [fused.tube([(WRIST, 0.0, 0.0), (HAND, 0.0, 0.0)], [0.010, 0.010])], 0.004, 300, 2)
    stage.paint(hand, BONE, 0.5)
    stage.ride(hand, rig, "Lower")
    dumbbell = _dumbbell()
    _stand()
    biceps = fused.fuse("Biceps", [fused.tube(PATH, RADII)], VOXEL, TRIANGLES, 4)
    stage.paint(biceps, MUSCLE, 0.35)
    for obj in (rig, dumbbell, biceps):
        obj.matrix_world = HANGING  # what rides on the rig follows
    bpy.context.view_layer.update()
    stage.select(biceps)
    bpy.ops.sinew.make_muscle()
    biceps.sinew.tet_size = TET_SIZE
    _curl(rig)
    _carry(rig, dumbbell)
    _drive(rig, dumbbell, biceps)
    stage.light_and_camera((0.42, -1.82, -0.20), (0.15, 0.0, -0.315), lens=50.0)


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
    bar = fused.tube([(HAND, y, 0.0) for y in (-0.09, 0.0, 0.09)], [0.012] * 3)
    balls = [fused.ball((HAND, y, 0.0), (BALL, BALL, BALL)) for y in (-0.1, 0.1)]
    dumbbell = fused.fuse("Dumbbell", [bar, *balls], 0.004, 1_500, 2)
    stage.paint(dumbbell, IRON, 0.3)
    return dumbbell


def _stand() -> None:
    """Adds the board that the dumbbell lies on while the arm hangs down."""
    bpy.ops.mesh.primitive_cube_add(size=2.0, location=(0.0, 0.0, -HAND - BALL - 0.01))
    board = bpy.context.object
    board.name, board.scale = "Board", (0.06, 0.17, 0.01)
    stage.paint(board, WOOD, 0.5)


def _curl(rig: bpy.types.Object) -> None:
    """Keys the elbow."""
    rest = rig.data.bones["Lower"].matrix_local.to_3x3()
    lower = rig.pose.bones["Lower"]
    for frame, degrees in CURL:
        turn = Matrix.Rotation(math.radians(-degrees), 3, "Y")
        lower.rotation_quaternion = (rest.inverted() @ turn @ rest).to_quaternion()
        lower.keyframe_insert("rotation_quaternion", frame=frame)


def _carry(rig: bpy.types.Object, dumbbell: bpy.types.Object) -> None:
    """Lets the hand hold the dumbbell until it sets it down, and keys the weight that it holds."""
    held = dumbbell.constraints.new("CHILD_OF")
    held.target, held.subtarget = rig, "Lower"
    held.inverse_matrix = (rig.matrix_world @ rig.data.bones["Lower"].matrix_local).inverted()
    dumbbell["Weight"] = DUMBBELL
    dumbbell.id_properties_ui("Weight").update(description="Mass in the hand [kg]", min=0.0, max=2.0 * DUMBBELL)
    for frame, share in ((1, 1.0), (SET_DOWN, 0.0)):
        held.influence, dumbbell["Weight"] = share, share * DUMBBELL
        held.keyframe_insert("influence", frame=frame)
        dumbbell.keyframe_insert('["Weight"]', frame=frame)
    for curve in dumbbell.animation_data.action.layers[0].strips[0].channelbags[0].fcurves:
        for key in curve.keyframe_points:
            key.interpolation = "CONSTANT"


def _drive(rig: bpy.types.Object, dumbbell: bpy.types.Object, biceps: bpy.types.Object) -> None:
    """Drives the activation of the biceps by the weight and the bend of the elbow."""
    driver = biceps.driver_add("sinew.activation").driver
    weight, bend = driver.variables.new(), driver.variables.new()
    weight.name, bend.name, bend.type = "weight", "bend", "ROTATION_DIFF"
    weight.targets[0].id, weight.targets[0].data_path = dumbbell, '["Weight"]'
    for target, bone in zip(bend.targets, ("Upper", "Lower"), strict=True):
        target.id, target.bone_target = rig, bone
    arm, force = HAND - ELBOW, 1e6 * PEAK_STRESS * math.pi * max(RADII) ** 2  # [m], [N]
    load = f"{GRAVITY} * ({arm:.3f} * weight + {0.45 * arm * FOREARM:.3f}) * sin(bend)"  # [N m]
    driver.expression = f"{load} / {force * LEVER:.2f}"
