# SPDX-License-Identifier: GPL-3.0-or-later
"""A tail of flesh hangs from a bone that swings: pinned at the top, following the armature."""

from __future__ import annotations

import math

import bpy

import stage

FRAMES = 72
LENGTH = 2.0
RADIUS = 0.26
RINGS = 24
SIDES = 16
TOP = 3.0
# of this length [m], from the top: the first part is held exactly, then the hold fades away
HELD = 0.15
FADE = 0.15


def build() -> None:
    """Builds the scene in a new file."""
    stage.empty_scene(FRAMES)
    tail = _tail()
    rig = _rig()
    follow = tail.modifiers.new("Armature", "ARMATURE")
    follow.object = rig
    stage.make_body(tail, "FLESH", divisions=28)
    tail.sinew.youngs_modulus = 6.0e4
    tail.sinew.pin_group = "Hold"
    tail.sinew.pin_stiffness = 4000.0
    rounder = tail.modifiers.new("Subdivision", "SUBSURF")
    rounder.levels, rounder.render_levels = 1, 1
    _swing(rig)
    stage.light_and_camera((0.5, -6.4, 2.2), (0.0, 0.0, 1.9))


def _tail() -> bpy.types.Object:
    """Returns a closed tapering tube that hangs down from TOP, with the groups "Hold" and "Root"."""
    vertices, faces = [], []
    for ring in range(RINGS + 1):
        s = ring / RINGS
        radius = RADIUS * (1.0 - 0.55 * s)
        for side in range(SIDES):
            angle = 2.0 * math.pi * side / SIDES
            vertices.append((radius * math.cos(angle), radius * math.sin(angle), TOP - s * LENGTH))
    for ring in range(RINGS):
        for side in range(SIDES):
            a, b = ring * SIDES + side, ring * SIDES + (side + 1) % SIDES
            faces.append((a, a + SIDES, b + SIDES, b))
    faces += [tuple(range(SIDES)), tuple(reversed(range(RINGS * SIDES, (RINGS + 1) * SIDES)))]
    mesh = bpy.data.meshes.new("Tail")
    mesh.from_pydata(vertices, [], faces)
    tail = bpy.data.objects.new("Tail", mesh)
    bpy.context.scene.collection.objects.link(tail)
    stage.smooth(tail)
    stage.paint(tail, (0.85, 0.42, 0.12), roughness=0.35)
    hold, root = tail.vertex_groups.new(name="Hold"), tail.vertex_groups.new(name="Root")
    for index, (_, _, z) in enumerate(vertices):
        root.add([index], 1.0, "REPLACE")
        weight = min(1.0, 1.0 - (TOP - z - HELD) / FADE)
        if weight > 0.0:
            hold.add([index], weight, "REPLACE")
    return tail


def _rig() -> bpy.types.Object:
    """Returns an armature with the one bone "Root" at the top of the tail."""
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(rig)
    stage.select(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    bone = rig.data.edit_bones.new("Root")
    bone.head, bone.tail = (0.0, 0.0, TOP), (0.0, 0.0, TOP - 0.4)
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


def _swing(rig: bpy.types.Object) -> None:
    """Keys the bone: to the side, quickly to the other one, and to rest."""
    bone = rig.pose.bones["Root"]
    bone.rotation_mode = "XYZ"
    for frame, degrees, shift in ((1, 0, 0.0), (10, 32, 0.3), (22, -38, -0.45), (34, 30, 0.35), (46, 0, 0.0)):
        bone.rotation_euler = (0.0, 0.0, math.radians(degrees))
        bone.location = (shift, 0.0, 0.0)
        bone.keyframe_insert("rotation_euler", frame=frame)
        bone.keyframe_insert("location", frame=frame)
