# SPDX-License-Identifier: GPL-3.0-or-later
"""A wrestler hops and his belly jiggles: held by the armature's own bones, growing by a shape key, smooth by a
Subdivision below, and alive only where the Simulated Group says so."""

from __future__ import annotations

import bpy
import numpy as np

import fused
import stage

FRAMES = 60
PREROLL = 20  # frames in which the belly comes to hang before the first
VOXEL = 0.026
NAVEL = np.array([0.215, 0.0, 0.43])  # he looks along x
SKIN, HAIR, BELT = (0.66, 0.40, 0.29), (0.025, 0.02, 0.02), (0.10, 0.07, 0.22)
# frame → height of the hips over where they stand [m]; the feet stay on the floor when it is below
HOPS = (
    (1, 0.0), (5, 0.0), (9, -0.05), (11, 0.0), (15, 0.16), (19, 0.0), (21, -0.05), (24, -0.01),
    (27, -0.05), (29, 0.0), (33, 0.16), (37, 0.0), (39, -0.05), (43, 0.0),
)  # fmt: skip
BREATH = ((1, 0.0), (44, 0.0), (55, 1.0))


def build() -> None:
    """Builds the scene in a new file."""
    stage.empty_scene(FRAMES)
    body = wrestler()
    breathe(body)
    rig = rig_of_wrestler()
    weigh(body)
    follow = body.modifiers.new("Armature", "ARMATURE")
    follow.object = rig
    stage.make_flesh(body, "JIGGLE", "FAT", tet_size=0.045)
    stage.preview(body, 1200)
    settings = body.sinew
    settings.youngs_modulus = 5.0e3
    settings.affect_group = "Belly"
    settings.use_armature_bones = True
    settings.rest_from_keys = True
    bpy.context.scene.sinew.preroll = PREROLL
    rounder = body.modifiers.new("Subdivision", "SUBSURF")
    rounder.levels, rounder.render_levels = 1, 1
    hop(rig)
    floor()
    stage.light_and_camera((2.45, -1.75, 0.75), (0.02, 0.0, 0.545), lens=49.0)


def wrestler() -> bpy.types.Object:
    """Returns a wrestler of quads, one metre high."""
    middle = [
        fused.ball((0.0, 0, 0.36), (0.17, 0.205, 0.13)),
        fused.ball((0.075, 0, 0.43), (0.155, 0.19, 0.15)),
        fused.ball((0.0, 0, 0.60), (0.135, 0.185, 0.15)),
        fused.ball((0.01, 0, 0.72), (0.075, 0.10, 0.06)),
        fused.ball((0.02, 0, 0.85), (0.10, 0.095, 0.11)),
        fused.ball((0.0, 0, 0.975), (0.032, 0.036, 0.036)),
    ]
    one_side = [
        fused.tube([(0.0, 0.09, 0.32), (0.02, 0.15, 0.17), (0.0, 0.15, 0.05)], [0.105, 0.085, 0.06]),
        fused.ball((0.035, 0.15, 0.035), (0.09, 0.055, 0.035)),
        fused.tube([(-0.01, 0.14, 0.67), (0.0, 0.27, 0.56), (0.10, 0.28, 0.44)], [0.07, 0.058, 0.045]),
        fused.ball((0.13, 0.275, 0.41), (0.05, 0.042, 0.045)),
        fused.ball((0.01, 0.095, 0.86), (0.018, 0.016, 0.028)),
    ]
    body = fused.fuse("Wrestler", [*middle, *fused.mirrored(one_side)], VOXEL, 0, 3)
    fused.colour(body, _paint, 0.45, "Skin")
    return body


def _paint(points: np.ndarray) -> np.ndarray:
    """Skin, a belt, and hair."""
    x, y, z = points.T
    colours = np.tile(SKIN, (len(points), 1))
    colours[(abs(z - 0.275 - 0.10 * np.abs(y)) < 0.035) & (abs(y) < 0.24)] = BELT
    colours[(z > 0.86) & (x + 0.5 * (0.93 - z) < 0.045)] = HAIR
    eyes = np.hypot(abs(y) - 0.038, z - 0.865) < 0.015
    colours[eyes & (x > 0.06)] = HAIR
    return colours


def _belly(points: np.ndarray) -> np.ndarray:
    """Returns 1 at the belly's front, falling to 0 towards its border, at points [m], (n, 3) → (n,)."""
    away = (points - NAVEL) / (0.22, 0.21, 0.145)
    return np.clip(1.6 - 1.6 * np.einsum("ni,ni->n", away, away), 0.0, 1.0)


def _points(body: bpy.types.Object) -> np.ndarray:
    points = np.empty((len(body.data.vertices), 3), np.float32)
    body.data.vertices.foreach_get("co", points.ravel())
    return points.astype(float)


def breathe(body: bpy.types.Object) -> None:
    """Gives the body a shape key that makes its belly rounder, keyed to grow towards the end."""
    points = _points(body)
    body.shape_key_add(name="Basis")
    full = body.shape_key_add(name="Full")
    away = points - (0.06, 0.0, NAVEL[2])
    grown = points + 0.22 * _belly(points)[:, None] * away
    full.data.foreach_set("co", grown.astype(np.float32).ravel())
    for frame, value in BREATH:
        full.value = value
        full.keyframe_insert("value", frame=frame)


def floor() -> None:
    """Adds a floor that is only seen: the feet are held by bones."""
    bpy.ops.mesh.primitive_plane_add(size=60.0)
    bpy.context.object.name = "Floor"
    stage.paint(bpy.context.object, stage.FLOOR_COLOUR)


def rig_of_wrestler() -> bpy.types.Object:
    """Returns an armature with hips, a spine, and feet that go ways of their own."""
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(rig)
    stage.select(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    ends = {"Hips": ((-0.04, 0.0, 0.22), (-0.04, 0.0, 0.40)), "Spine": ((-0.04, 0.0, 0.40), (-0.02, 0.0, 0.88))}
    ends.update({f"Foot.{side}": ((0.0, y, 0.03), (0.0, y, 0.14)) for side, y in (("L", 0.15), ("R", -0.15))})
    for name, (head, tail) in ends.items():
        bone = rig.data.edit_bones.new(name)
        bone.head, bone.tail = head, tail
    rig.data.edit_bones["Spine"].parent = rig.data.edit_bones["Hips"]
    bpy.ops.object.mode_set(mode="OBJECT")
    rig.hide_render = True
    return rig


def weigh(body: bpy.types.Object) -> None:
    """Gives the vertices to the bones by height, and the belly to the simulation."""
    points = _points(body)
    _, y, z = points.T
    # hands are lower than the spine begins, and hang on it all the same
    upper = np.where(np.abs(y) > 0.225, z > 0.3, np.clip((z - 0.33) / 0.16, 0.0, 1.0))
    lower = np.where(upper > 0, 0.0, np.clip((0.24 - z) / 0.16, 0.0, 1.0))
    shares = {
        "Hips": 1.0 - upper - lower,
        "Spine": upper,
        "Foot.L": np.where(y > 0, lower, 0.0),
        "Foot.R": np.where(y > 0, 0.0, lower),
        "Belly": np.clip(1.5 * _belly(points), 0.0, 1.0),
    }
    for name, share in shares.items():
        group = body.vertex_groups.new(name=name)
        for i in np.flatnonzero(share > 0.02).tolist():
            group.add([i], float(share[i]), "REPLACE")


def hop(rig: bpy.types.Object) -> None:
    """Keys two hops of the whole body, with bent knees and back before and after."""
    bones = rig.pose.bones
    bones["Spine"].rotation_mode = "XYZ"
    for frame, height in HOPS:
        for name, up in (("Hips", height), ("Foot.L", max(0.0, height)), ("Foot.R", max(0.0, height))):
            bones[name].location = (0.0, up, 0.0)  # the bones point upwards
            bones[name].keyframe_insert("location", frame=frame)
        bones["Spine"].rotation_euler = (0.0, 0.0, min(0.0, height) * 3.0)
        bones["Spine"].keyframe_insert("rotation_euler", frame=frame)
