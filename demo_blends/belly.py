# SPDX-License-Identifier: GPL-3.0-or-later
"""A wrestler hops and his belly jiggles: held by the armature's own bones, growing by a shape key, smooth by a
Subdivision below, and alive only where the Affect group says so."""

from __future__ import annotations

import bpy
import numpy as np

import fused
import stage

FRAMES = 60
VOXEL = 0.026
NAVEL = np.array([0.215, 0.0, 0.43])  # he looks along x
SKIN, HAIR, BELT = (0.66, 0.40, 0.29), (0.025, 0.02, 0.02), (0.10, 0.07, 0.22)
# frame → height of the hips over where they stand [m]
HOPS = (
    (1, 0.0),
    (5, 0.0),
    (9, -0.05),
    (14, 0.17),
    (19, -0.05),
    (22, 0.0),
    (26, -0.05),
    (31, 0.17),
    (36, -0.05),
    (40, 0.0),
)
BREATH = ((1, 0.0), (42, 0.0), (53, 1.0))


def build() -> None:
    """Builds the scene in a new file."""
    stage.empty_scene(FRAMES)
    body = _body()
    _breathe(body)
    rig = _rig()
    _weigh(body)
    follow = body.modifiers.new("Armature", "ARMATURE")
    follow.object = rig
    stage.make_flesh(body, "JIGGLE", "FAT", tet_size=0.045)
    settings = body.sinew
    settings.youngs_modulus = 6.0e3
    settings.affect_group = "Belly"
    settings.use_armature_bones = True
    settings.rest_from_keys = True
    rounder = body.modifiers.new("Subdivision", "SUBSURF")
    rounder.levels, rounder.render_levels = 1, 1
    _hop(rig)
    stage.light_and_camera((2.3, -1.5, 0.85), (0.02, 0.0, 0.60), lens=48.0)


def _body() -> bpy.types.Object:
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


def _breathe(body: bpy.types.Object) -> None:
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


def _rig() -> bpy.types.Object:
    """Returns an armature with hips and a spine."""
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(rig)
    stage.select(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    hips, spine = rig.data.edit_bones.new("Hips"), rig.data.edit_bones.new("Spine")
    hips.head, hips.tail = (-0.04, 0.0, 0.22), (-0.04, 0.0, 0.40)
    spine.head, spine.tail = hips.tail, (-0.02, 0.0, 0.88)
    spine.parent, spine.use_connect = hips, True
    bpy.ops.object.mode_set(mode="OBJECT")
    rig.hide_render = True
    return rig


def _weigh(body: bpy.types.Object) -> None:
    """Gives the vertices to the bones by height, and the belly to the simulation."""
    hips, spine = body.vertex_groups.new(name="Hips"), body.vertex_groups.new(name="Spine")
    belly = body.vertex_groups.new(name="Belly")
    points = _points(body)
    soft = np.clip(1.5 * _belly(points), 0.0, 1.0)
    # hands are lower than the spine begins, and hang on it all the same
    share = np.where(np.abs(points[:, 1]) > 0.225, points[:, 2] > 0.3, np.clip((points[:, 2] - 0.33) / 0.16, 0.0, 1.0))
    for i in range(len(points)):
        hips.add([i], 1.0 - float(share[i]), "REPLACE")
        spine.add([i], float(share[i]), "REPLACE")
        if soft[i] > 0.02:
            belly.add([i], float(soft[i]), "REPLACE")


def _hop(rig: bpy.types.Object) -> None:
    """Keys two hops of the whole body, with a bow of the back when it lands."""
    hips, spine = rig.pose.bones["Hips"], rig.pose.bones["Spine"]
    spine.rotation_mode = "XYZ"
    for frame, height in HOPS:
        hips.location = (0.0, height, 0.0)  # the bone points upwards
        hips.keyframe_insert("location", frame=frame)
        spine.rotation_euler = (0.0, 0.0, min(0.0, height) * 3.0)
        spine.keyframe_insert("rotation_euler", frame=frame)
