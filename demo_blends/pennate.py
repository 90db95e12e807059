# SPDX-License-Identifier: GPL-3.0-or-later
"""A pennate muscle: the calf, whose fibres run obliquely to an aponeurosis, lifts the heel by a long tendon."""

from __future__ import annotations

import math

import bpy
import numpy as np
from mathutils import Matrix

import fused
import rigged
import stage

FRAMES = 48
KNEE, ANKLE, TOES = (0.0, 0.0, 0.40), (0.0, 0.0, 0.02), (0.18, 0.0, -0.03)  # [m]
# behind the shank, from below the knee to the heel [m]
PATH = ((-0.020, 0.0, 0.375), (-0.055, 0.0, 0.28), (-0.055, 0.0, 0.14), (-0.062, 0.0, 0.0))
WIDTH, THICKNESS = 0.085, 0.058  # [m]
ORIGIN_TENDON, INSERTION_TENDON = 0.02, 0.15  # [m]
PENNATION = 20.0  # [degrees]
TET_SIZE = 0.011  # [m]; a third of the belly would be too coarse for the tendon
LIFT = 30.0  # [degrees]
# frame, turn of the foot in degrees, activation: twice on tiptoe
STEPS = (
    (1, 0.0, 0.0),
    (5, 0.0, 0.1),
    (14, LIFT, 1.0),
    (20, LIFT, 0.9),
    (28, 0.0, 0.1),
    (37, LIFT, 1.0),
    (46, 0.0, 0.0),
)
MUSCLE, TENDON, BONE = (0.48, 0.09, 0.08), (0.82, 0.66, 0.55), (0.85, 0.80, 0.68)


def build() -> None:
    """Builds the scene in a new file."""
    stage.empty_scene(FRAMES)
    rig = rigged.armature("Rig", {"Shank": (KNEE, ANKLE, ""), "Foot": (ANKLE, TOES, "Shank")})
    shank = _bone("Tibia", [KNEE, (0.0, 0.0, 0.06)], [0.017, 0.014], [(KNEE, 0.028), ((0.0, 0.0, 0.06), 0.020)])
    heel, arch = (-0.045, 0.0, -0.015), (0.05, 0.0, 0.005)
    foot = _bone("Foot", [heel, arch, TOES], [0.017, 0.016, 0.012], [(heel, 0.024), (TOES, 0.018)])
    for bone, name in ((shank, "Shank"), (foot, "Foot")):
        stage.ride(bone, rig, name)
        stage.make_collider(bone)
    calf = _draw_calf()
    stage.paint(calf, MUSCLE, 0.35)
    stage.add_material(calf, "Tendon", TENDON, 0.35)
    for polygon in calf.data.polygons:
        if (calf.matrix_world @ polygon.center).z < INSERTION_TENDON:
            polygon.material_index = 1
    _step(rig, calf)
    stage.light_and_camera((-0.72, -1.10, 0.30), (0.02, 0.0, 0.165), lens=47.0)


def _bone(name: str, points: list, radii: list[float], knobs: list) -> bpy.types.Object:
    """Returns a bone through points, with a knob at each of some places."""
    shares = np.linspace(0.0, len(points) - 1.0, 4 * len(points) - 3)
    path = [tuple(np.interp(s, range(len(points)), np.array(points)[:, i]) for i in range(3)) for s in shares]
    shaft = fused.tube(path, [float(np.interp(s, range(len(radii)), radii)) for s in shares])
    balls = [fused.ball(place, (radius,) * 3) for place, radius in knobs]
    bone = fused.fuse(name, [shaft, *balls], 0.004, 900, 3)
    stage.paint(bone, BONE, 0.5)
    return bone


def _draw_calf() -> bpy.types.Object:
    """Returns the muscle, drawn as an artist draws it, with its settings."""
    ends = {"origin": "Rig", "origin_bone": "Shank", "insertion": "Rig", "insertion_bone": "Foot"}
    places = [{"name": "", "location": place} for place in PATH]
    bpy.ops.sinew.draw_muscle("EXEC_DEFAULT", points=places, width=WIDTH, **ends)
    calf = bpy.context.object
    calf.name, own = "Calf", calf.sinew
    own.muscle_thickness = THICKNESS
    own.origin_tendon, own.insertion_tendon = ORIGIN_TENDON, INSERTION_TENDON
    own.pennation_angle = math.radians(PENNATION)
    own.tet_size, own.method = TET_SIZE, "SMOOTH"  # fine enough for its tendons
    return calf


def _step(rig: bpy.types.Object, calf: bpy.types.Object) -> None:
    """Keys the ankle and the activation of the calf."""
    rest, foot = rig.data.bones["Foot"].matrix_local.to_3x3(), rig.pose.bones["Foot"]
    for frame, degrees, activation in STEPS:
        turn = Matrix.Rotation(math.radians(degrees), 3, "Y")
        foot.rotation_quaternion = (rest.inverted() @ turn @ rest).to_quaternion()
        foot.keyframe_insert("rotation_quaternion", frame=frame)
        calf.sinew.activation = activation
        calf.sinew.keyframe_insert("activation", frame=frame)
