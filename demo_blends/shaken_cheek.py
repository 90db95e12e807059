# SPDX-License-Identifier: GPL-3.0-or-later
"""A bulldog shakes its head: cheeks of flesh on a rigid skull."""

from __future__ import annotations

import math
from collections.abc import Callable

import bpy
import numpy as np

import fused
import stage

FRAMES = 60
PREROLL = 20  # frames in which cheeks and ears come to hang before the first
VOXEL = 0.009
TRIANGLES = 8_500
FUR, MUZZLE, DARK, BONE = (0.45, 0.25, 0.12), (0.72, 0.60, 0.48), (0.03, 0.025, 0.025), (0.85, 0.80, 0.68)
SMALL_EAR = [(-0.05, 0.095, 0.135), (-0.06, 0.155, 0.125), (-0.045, 0.185, 0.06)]
# frame → how far the head is turned [degrees] about the axis of the neck
SHAKE = ((1, 0), (4, 0), (8, 38), (13, -40), (18, 40), (23, -40), (28, 36), (33, -20), (38, 0), (60, 0))


def build() -> None:
    """Builds the scene in a new file; the dog looks along x."""
    stage.empty_scene(FRAMES)
    head, skull = head_of_dog(), skull_of_dog()
    neck = bpy.data.objects.new("Neck", None)
    bpy.context.scene.collection.objects.link(neck)
    skull.parent = neck
    for feature in face():
        feature.parent = neck
    stage.make_bone(skull, 0.006)
    stage.make_flesh(head, "JIGGLE", tet_size=0.030)
    head.sinew.youngs_modulus = 8.0e3
    bpy.context.scene.sinew.preroll = PREROLL
    _shake(neck)
    stage.light_and_camera((1.15, -0.62, 0.20), (0.02, 0.0, -0.03), lens=55.0)


def head_of_dog(ear: Callable[[], bpy.types.Object] | None = None) -> bpy.types.Object:
    """Returns the flesh of a head with hanging cheeks and ears; `ear` makes the left one, where it is another."""
    middle = [
        fused.ball((0.0, 0, 0.05), (0.155, 0.135, 0.13)),
        fused.ball((-0.10, 0, -0.04), (0.11, 0.11, 0.14)),
        fused.ball((0.13, 0, 0.0), (0.085, 0.085, 0.062)),
        fused.ball((0.12, 0, -0.075), (0.085, 0.065, 0.042)),
    ]
    one_side = [
        fused.ball((0.125, 0.066, -0.045), (0.072, 0.042, 0.064)),
        fused.tube([(0.105, 0.082, -0.05), (0.10, 0.092, -0.105), (0.095, 0.088, -0.155)], [0.044, 0.042, 0.030]),
        ear() if ear else fused.tube(SMALL_EAR, [0.036, 0.034, 0.022], 0.7),
        fused.ball((0.085, 0.055, 0.105), (0.038, 0.036, 0.024)),
    ]
    head = fused.fuse("Head", [*middle, *fused.mirrored(one_side)], VOXEL, TRIANGLES, 5)
    fused.colour(head, _fur, 0.55, "Fur")
    return head


def skull_of_dog() -> bpy.types.Object:
    """Returns the skull inside: what it is of the head follows it, the rest hangs on it."""
    parts = [
        fused.ball((-0.005, 0, 0.055), (0.125, 0.105, 0.10)),
        fused.ball((-0.09, 0, -0.03), (0.075, 0.07, 0.10)),
        fused.ball((0.12, 0, 0.005), (0.065, 0.055, 0.042)),
        fused.ball((0.11, 0, -0.07), (0.060, 0.042, 0.022)),
    ]
    skull = fused.fuse("Skull", parts, 0.012, 800, 3)
    stage.paint(skull, BONE, 0.6)
    skull.hide_render = True
    return skull


def face() -> list[bpy.types.Object]:
    """Returns eyes and a nose, which are rigid."""
    nose = fused.ball((0.212, 0, 0.025), (0.022, 0.034, 0.022))
    eyes = fused.mirrored([fused.ball((0.128, 0.062, 0.088), (0.022, 0.022, 0.022))])
    for number, part in enumerate((nose, *eyes)):
        part.name = "Nose" if part is nose else f"Eye {number}"
        stage.smooth(part)
        stage.paint(part, DARK, 0.12)
    return [nose, *eyes]


def _fur(points: np.ndarray) -> np.ndarray:
    """Brown, with a light muzzle."""
    x, y, z = points.T
    colours = np.array(FUR) * (1.0 + 0.25 * fused.spots(points, 0.06, 5)[:, None].clip(-1, 1))
    colours[(x > 0.07) & (z < 0.035)] = MUZZLE
    colours[(abs(y) < 0.014) & (z > 0.02) & (x > 0.0)] = MUZZLE
    return colours


def _shake(neck: bpy.types.Object) -> None:
    """Keys the shaking of the head, tilted a little to the side that it turns to."""
    for frame, degrees in SHAKE:
        angle = math.radians(degrees)
        neck.rotation_euler = (0.6 * angle, 0.0, 0.8 * angle)
        neck.keyframe_insert("rotation_euler", frame=frame)
