# SPDX-License-Identifier: GPL-3.0-or-later
"""Two pectorals on a rib cage, drawn as fans, while the arms stand still: keys tense one after the other, then both.
The upper head of each is ahead of the lower one."""

from __future__ import annotations

import bpy
import numpy as np

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
# each head, and by how many frames it is behind the other
HEADS = {"Clavicular": 0, "Sternal": 4}
DIVISION = ((0.022, 0.285), (0.222, 0.346))  # x and z where the clavicular head, above, meets the sternal one [m]
BEAT = ((0, 0.0), (4, 1.0), (6, 1.0), (11, 0.0))  # frame from the start of a bounce, activation
STARTS = {".L": (4, 24, 42), ".R": (14, 42)}  # left, right, left, and both
STERNAL, CLAVICULAR, BONE = (0.44, 0.07, 0.07), (0.62, 0.17, 0.12), (0.85, 0.80, 0.68)
SEAM = 0.012  # over which their colors change [m]


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
    for obj, starts in zip(_draw_pectorals(), STARTS.values(), strict=True):
        _key_heads(obj, starts)
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
    _paint_heads(left)
    bpy.ops.sinew.mirror_muscle()
    return [left, bpy.data.objects["Pectoral.R"]]


def _paint_heads(obj: bpy.types.Object) -> None:
    """Gives the left pectoral a head on each side of a line from the sternum to the arm, in colors that meet there."""
    points = np.array([obj.matrix_world @ vertex.co for vertex in obj.data.vertices])
    above = points[:, 2] - np.interp(points[:, 0], *zip(*DIVISION, strict=True))
    stage.select(obj)
    for name, is_in in zip(HEADS, (above > 0.0, above <= 0.0), strict=True):
        obj.vertex_groups.new(name=name).add(np.flatnonzero(is_in).tolist(), 1.0, "REPLACE")
        bpy.ops.sinew.add_table_row(table="muscle_heads")
        obj.sinew.muscle_heads[-1].group = name
    share = np.clip(0.5 + above / SEAM, 0.0, 1.0)[:, None]
    colors = share * (*CLAVICULAR, 1.0) + (1.0 - share) * (*STERNAL, 1.0)
    obj.data.color_attributes.new("Head", "FLOAT_COLOR", "POINT").data.foreach_set("color", colors.ravel())
    stage.paint(obj, STERNAL, 0.35)
    tree = obj.data.materials[0].node_tree
    read = tree.nodes.new("ShaderNodeVertexColor")
    read.layer_name = "Head"
    tree.links.new(read.outputs["Color"], tree.nodes["Principled BSDF"].inputs["Base Color"])


def _key_heads(obj: bpy.types.Object, starts: tuple[int, ...]) -> None:
    """Keys the bounces of a pectoral: one head begins later than the other."""
    for head, delay in zip(obj.sinew.muscle_heads, HEADS.values(), strict=True):
        for frame, activation in ((1, 0.0), *((start + delay + f, a) for start in starts for f, a in BEAT)):
            head.activation = activation
            head.keyframe_insert("activation", frame=frame)
