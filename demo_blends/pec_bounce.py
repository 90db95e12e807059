# SPDX-License-Identifier: GPL-3.0-or-later
"""Two pectorals on a rib cage, drawn as fans: keys tense one after the other, then both, while the arms stand still."""

from __future__ import annotations

import bpy

import fused
import rigged
import stage

FRAMES = 60
STERNUM, SHOULDER, ELBOW = (0.0, -0.125, 0.30), 0.19, 0.36  # z of the sternum's middle; x of shoulder and elbow [m]
# from the edge of the sternum over the ribs to the upper arm, of the left side [m]
PATH = ((0.022, -0.128, 0.27), (0.085, -0.130, 0.285), (0.150, -0.085, 0.325), (0.222, -0.020, 0.345))
WIDTH, THICKNESS = 0.16, 0.030  # [m]
TENDON = 0.03  # at the arm [m]
TET_SIZE = 0.011  # [m]
# frame, activation: left, right, left, right, and both
LEFT = ((1, 0.0), (6, 0.0), (10, 1.0), (15, 0.0), (27, 0.0), (31, 1.0), (36, 0.0), (44, 0.0), (48, 1.0), (54, 0.0))
RIGHT = ((1, 0.0), (16, 0.0), (20, 1.0), (25, 0.0), (44, 0.0), (48, 1.0), (54, 0.0))
MUSCLE, BONE = (0.48, 0.09, 0.08), (0.85, 0.80, 0.68)


def build() -> None:
    """Builds the scene in a new file."""
    stage.empty_scene(FRAMES)
    bones = {"Chest": ((0.0, 0.0, 0.10), (0.0, 0.0, 0.45), "")}
    for side, sign in ((".L", 1.0), (".R", -1.0)):
        bones["Upper Arm" + side] = ((sign * SHOULDER, -0.01, 0.38), (sign * ELBOW, 0.0, 0.16), "Chest")
    rig = rigged.armature("Rig", bones)
    cage = fused.fuse("Rib Cage", [fused.ball((0.0, 0.0, 0.26), (0.145, 0.105, 0.19))], 0.008, 1_600, 2)
    stage.paint(cage, BONE, 0.5)
    stage.ride(cage, rig, "Chest")
    stage.make_collider(cage)
    for side, sign in ((".L", 1.0), (".R", -1.0)):
        path = [(sign * SHOULDER, -0.01, 0.38), (sign * ELBOW, 0.0, 0.16)]
        arm = fused.fuse("Humerus" + side, [fused.tube(path, [0.022, 0.014, 0.013, 0.018])], 0.005, 700, 3)
        stage.paint(arm, BONE, 0.5)
        stage.ride(arm, rig, "Upper Arm" + side)
        stage.make_collider(arm)
    left, right = _draw_pectorals()
    for obj, keys in ((left, LEFT), (right, RIGHT)):
        stage.paint(obj, MUSCLE, 0.35)
        for frame, activation in keys:
            obj.sinew.activation = activation
            obj.sinew.keyframe_insert("activation", frame=frame)
    stage.light_and_camera((0.30, -1.35, 0.50), (0.0, 0.0, 0.28), lens=52.0)


def _draw_pectorals() -> list[bpy.types.Object]:
    """Returns the left pectoral, drawn as an artist draws it, and its mirror image."""
    ends = {"origin": "Rig", "origin_bone": "Chest", "insertion": "Rig", "insertion_bone": "Upper Arm.L"}
    places = [{"name": "", "location": place} for place in PATH]
    bpy.ops.sinew.draw_muscle("EXEC_DEFAULT", points=places, profile="FAN", width=WIDTH, **ends)
    left = bpy.context.object
    left.name, left.sinew.muscle_thickness = "Pectoral.L", THICKNESS
    left.sinew.origin_tendon, left.sinew.insertion_tendon = 0.0, TENDON
    left.sinew.tet_size, left.sinew.method = TET_SIZE, "SMOOTH"  # fine enough for its tendons
    stage.select(left)
    bpy.ops.sinew.mirror_muscle()
    return [left, bpy.data.objects["Pectoral.R"]]
