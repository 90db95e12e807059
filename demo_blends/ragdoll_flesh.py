# SPDX-License-Identifier: GPL-3.0-or-later
"""A figure of flesh on the bones of an armature loses its footing and falls down stairs, limbs within their limits."""

from __future__ import annotations

import math

import bmesh
import bpy
import numpy as np
from mathutils import Matrix, Vector

import rigged
import stage

FRAMES = 60
STEP_HEIGHT, STEP_DEPTH, WIDTH, STEPS = 0.16, 0.26, 1.6, 4  # of the stairs [m]
TOP = STEP_HEIGHT * STEPS
# name → head, tail [m] above the top step, parent; the figure looks along −y, down the stairs
BONES: dict[str, tuple[tuple[float, float, float], tuple[float, float, float], str]] = {
    "Hips": ((0.0, 0.0, 0.50), (0.0, 0.0, 0.62), ""),
    "Chest": ((0.0, 0.0, 0.62), (0.0, 0.0, 0.80), "Hips"),
    "Head": ((0.0, 0.0, 0.84), (0.0, 0.0, 1.00), "Chest"),
    **{
        name: bone
        for side, sign in (("L", 1.0), ("R", -1.0))
        for name, bone in {
            f"Upper Arm {side}": ((sign * 0.13, 0.0, 0.78), (sign * 0.30, -0.02, 0.66), "Chest"),
            f"Forearm {side}": ((sign * 0.30, -0.02, 0.66), (sign * 0.42, -0.08, 0.52), f"Upper Arm {side}"),
            f"Thigh {side}": ((sign * 0.07, 0.0, 0.48), (sign * 0.09, -0.02, 0.26), "Hips"),
            f"Shin {side}": ((sign * 0.09, -0.02, 0.26), (sign * 0.10, 0.01, 0.05), f"Thigh {side}"),
        }.items()
    },
}
# radii of the flesh around heads and tails of bones [m]
FLESH_RADII = {
    "Hips": (0.105, 0.10),
    "Chest": (0.10, 0.105),
    "Head": (0.05, 0.088),
    "Upper Arm": (0.048, 0.045),
    "Forearm": (0.043, 0.038),
    "Thigh": (0.065, 0.052),
    "Shin": (0.05, 0.042),
}
# angles about x and z of bones, in degrees: least and largest
BEND_LIMITS = {
    "Chest": ((-25, 35), (-20, 20)),
    "Head": ((-35, 35), (-25, 25)),
    "Upper Arm": ((-80, 80), (-80, 80)),
    "Forearm": ((-5, 120), (-10, 10)),
    "Thigh": ((-70, 30), (-30, 30)),
    "Shin": ((-5, 110), (-5, 5)),
}
TWIST_LIMIT = 25  # about their own length
FLESH_STIFFNESS, TET_SIZE = 4.0e4, 0.055  # [Pa], [m]
PUSH, TIP = (0.0, -0.9, 0.0), (2.2, 0.0, 0.5)  # how it tips over its feet at first [m/s], [rad/s]
FRICTION = 0.15
SKIN, STONE = (0.72, 0.42, 0.30), (0.42, 0.40, 0.38)


def build() -> None:
    """Builds the scene in a new file."""
    stage.empty_scene(FRAMES)
    bpy.context.scene.sinew.substeps = 4
    _stairs()
    bones = {name: (_up(head), _up(tail), parent) for name, (head, tail, parent) in BONES.items()}
    rig = rigged.armature("Figure", bones)
    _limit(rig)
    _flesh(rig, bones)
    stage.select(rig)
    bpy.ops.sinew.make_ragdoll()
    for obj in bpy.context.scene.objects:
        if obj.parent_type == "BONE":
            head, tail, _ = BONES[obj.parent_bone]
            turning = np.cross(TIP, 0.5 * (np.array(head) + np.array(tail)))
            obj.sinew.initial_velocity, obj.sinew.initial_spin = np.array(PUSH) + turning, TIP
            obj.sinew.density = 1200.0
    stage.add_ground()
    stage.light_and_camera((2.9, -2.75, 1.85), (0.0, -0.55, 0.76), lens=36.0)


def _up(point: tuple[float, float, float]) -> tuple[float, float, float]:
    """Returns a point on the top step."""
    x, y, z = point
    return (x, y, z + TOP)


def _stairs() -> None:
    """Adds the stairs, which go down along −y, in one piece."""
    made = bmesh.new()
    for number in range(STEPS):
        height = TOP - number * STEP_HEIGHT
        depth = 0.9 if number == 0 else STEP_DEPTH
        back = 0.7 if number == 0 else -0.2 - (number - 1) * STEP_DEPTH
        place = Matrix.Translation((0.0, back - 0.5 * depth, 0.5 * height))
        bmesh.ops.create_cube(made, size=1.0, matrix=place @ Matrix.Diagonal((WIDTH, depth, height, 1.0)))
    stairs = stage.add_object(made, "Stairs")
    stage.paint(stairs, STONE, 0.8)
    stage.make_collider(stairs)
    stairs.sinew.friction = FRICTION


def _limit(rig: bpy.types.Object) -> None:
    """Gives the bones IK limits."""
    for bone in rig.pose.bones:
        kind = bone.name.removesuffix(" L").removesuffix(" R")
        if kind not in BEND_LIMITS:
            continue
        bends, leans = BEND_LIMITS[kind]
        for axis, (low, high) in (("x", bends), ("y", (-TWIST_LIMIT, TWIST_LIMIT)), ("z", leans)):
            setattr(bone, f"use_ik_limit_{axis}", True)
            setattr(bone, f"ik_min_{axis}", math.radians(low))
            setattr(bone, f"ik_max_{axis}", math.radians(high))


def _flesh(rig: bpy.types.Object, bones: rigged.Bones) -> None:
    """Adds the flesh: round limbs along all bones, grown together."""
    made = bmesh.new()
    for name, (head, tail, _) in BONES.items():
        radii = FLESH_RADII[name.removesuffix(" L").removesuffix(" R")]
        start, end = (np.array(_up(point)) for point in (head, tail))
        for share in np.linspace(0.0, 1.0, 5):
            radius = radii[0] + share * (radii[1] - radii[0])
            place = Matrix.Translation(Vector(start + share * (end - start)))
            bmesh.ops.create_icosphere(made, subdivisions=3, radius=radius, matrix=place)
    mesh = bpy.data.meshes.new("Figure Flesh")
    made.to_mesh(mesh)
    flesh = bpy.data.objects.new("Flesh", mesh)
    bpy.context.scene.collection.objects.link(flesh)
    remesh = flesh.modifiers.new("Remesh", "REMESH")
    remesh.mode, remesh.voxel_size = "VOXEL", 0.022
    rounded = flesh.modifiers.new("Smooth", "SMOOTH")
    rounded.factor, rounded.iterations = 0.5, 6
    evaluated = flesh.evaluated_get(bpy.context.evaluated_depsgraph_get())
    flesh.data = bpy.data.meshes.new_from_object(evaluated)  # weights are of its vertices
    flesh.data.name = "Flesh"
    bpy.data.meshes.remove(mesh)
    flesh.modifiers.clear()
    stage.smooth(flesh)
    stage.paint(flesh, SKIN, 0.55)
    rigged.follow(flesh, rig, bones)
    stage.make_body(flesh, "JELLY", tet_size=TET_SIZE)
    flesh.sinew.youngs_modulus, flesh.sinew.density = FLESH_STIFFNESS, 1000.0
