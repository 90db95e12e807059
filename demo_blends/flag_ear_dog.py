# SPDX-License-Identifier: GPL-3.0-or-later
"""A dog holds its head out of a car's window: Blender's wind flaps its long ears and its jowls."""

from __future__ import annotations

import math

import bpy

import fused
import shaken_cheek
import stage

FRAMES = 72
PREROLL = 20  # frames in which cheeks and ears come to hang before the first
# frame → how fast the car goes [m/s]
SPEED = ((1, 0.0), (8, 0.0), (24, 30.0), (56, 30.0), (66, 0.0))
NOISE = 10.0  # gusts [m/s]


def build() -> None:
    """Builds the scene in a new file; the dog looks along x, against the wind."""
    stage.empty_scene(FRAMES)
    head, skull = shaken_cheek.head_of_dog(_ear), shaken_cheek.skull_of_dog()
    shaken_cheek.face()
    stage.make_bone(skull, 0.006)
    stage.make_flesh(head, "JIGGLE", tet_size=0.028)
    stage.preview(head, 1000)
    head.sinew.youngs_modulus = 4.0e3
    bpy.context.scene.sinew.preroll = PREROLL
    _wind()
    stage.light_and_camera((1.05, -0.95, 0.25), (-0.06, 0.0, -0.03), lens=52.0)


def _ear() -> bpy.types.Object:
    """Returns the left ear: long, wide and thin as a flag."""
    hanging = [(-0.04, 0.10, 0.14), (-0.06, 0.165, 0.12), (-0.06, 0.195, 0.03), (-0.055, 0.20, -0.08)]
    return fused.tube(hanging, [0.038, 0.044, 0.050, 0.034], 0.42)


def _wind() -> None:
    """Adds a wind against the face whose speed is keyed."""
    bpy.ops.object.empty_add(location=(0.8, 0.0, 0.0), rotation=(0.0, math.radians(-90.0), 0.0))
    wind = bpy.context.object
    wind.name = "Wind"
    bpy.ops.object.forcefield_toggle()
    own = wind.field
    own.type, own.shape, own.flow, own.wind_factor, own.noise, own.seed = "WIND", "PLANE", 1.0, 1.0, NOISE, 3
    for frame, speed in SPEED:
        own.strength = speed
        own.keyframe_insert("strength", frame=frame)
