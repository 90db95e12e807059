# SPDX-License-Identifier: GPL-3.0-or-later
"""A swan of glass falls on the floor and breaks."""

from __future__ import annotations

import math

import bpy
import numpy as np

import fused
import stage

FRAMES = 36
SUBSTEPS = 16
VOXEL = 0.0056
HEIGHT = 0.80
# the camera, and what it looks at in the first frame and after the fall [m], until this frame
CAMERA, FIRST_TARGET, LAST_TARGET, LANDED = (0.66, -1.40, 0.46), (0.05, 0.0, 0.68), (0.08, 0.0, 0.17), 12
SOFTER = 700.0  # than glass: what is as stiff as glass is through with a blow in less than a step
TINT, INSIDE = (0.22, 0.52, 0.62), (0.62, 0.86, 0.90)


def build() -> None:
    """Builds the scene in a new file."""
    stage.empty_scene(FRAMES)
    swan = _swan()
    swan.location.z = HEIGHT
    swan.rotation_euler = (math.radians(14), math.radians(-20), math.radians(-25))
    stage.make_body(swan, "GLASS", divisions=14)
    swan.sinew.motion, swan.sinew.use_fracture = "ELASTIC", True  # it breaks by how it deforms
    stage.preview(swan, 500)
    settings = swan.sinew
    settings.method = "ROBUST"
    # a blow makes stresses of ρ c v, which grow with √E: so what is softer and as much weaker breaks in the same fall
    settings.youngs_modulus = 7.0e10 / SOFTER
    # glass that has been scratched, a millimetre deep: K_c / √(π a)
    settings.breaking_stress, settings.toughness = 1.2e7 / math.sqrt(SOFTER), 7.0e5 / math.sqrt(SOFTER)
    settings.seed, settings.scatter, settings.most_splits, settings.most_pieces = 1, 0.2, 300, 24
    settings.broken_material = stage.loose_material("Broken Glass", INSIDE, 0.12)
    bpy.context.scene.sinew.substeps = SUBSTEPS
    bpy.context.scene.sinew.max_iterations = 1000  # so stiff, splinters take more than others
    stage.add_ground()
    stage.light_and_camera(CAMERA, FIRST_TARGET, lens=36.0)
    # the camera turns down with the swan
    stage.key_views(bpy.context.scene.camera, (1, CAMERA, FIRST_TARGET), (LANDED, CAMERA, LAST_TARGET))


def _swan() -> bpy.types.Object:
    """Returns a swan of 0.25 m that looks along x, on a round foot."""
    neck = [
        (0.055, 0, 0.055),
        (0.095, 0, 0.085),
        (0.088, 0, 0.125),
        (0.062, 0, 0.155),
        (0.075, 0, 0.188),
        (0.105, 0, 0.190),
    ]
    feathers = []
    for k in range(4):
        s = k / 3
        a, b = (0.03 - 0.03 * s, 0.062, 0.062 + 0.02 * s), (-0.05 - 0.035 * s, 0.064 - 0.01 * s, 0.075 + 0.035 * s)
        feathers.append(fused.tube([a, np.add(a, b) / 2 + [0, 0.006, 0.008], b], [0.016, 0.019, 0.007]))
    swan = fused.fuse(
        "Swan",
        [
            fused.ball((0.0, 0.0, 0.055), (0.095, 0.062, 0.048)),
            fused.tube([(-0.06, 0, 0.065), (-0.10, 0, 0.082), (-0.135, 0, 0.108)], [0.042, 0.028, 0.008]),
            fused.tube(neck, [0.036, 0.028, 0.020, 0.017, 0.017, 0.019]),
            fused.ball((0.104, 0, 0.190), (0.026, 0.020, 0.021)),
            fused.tube([(0.120, 0, 0.187), (0.142, 0, 0.178), (0.158, 0, 0.174)], [0.013, 0.010, 0.006]),
            fused.tube([(0.0, 0, 0.03), (0.002, 0, 0.012), (0.0, 0, 0.0)], [0.045, 0.036, 0.058]),
            *fused.mirrored(feathers),
        ],
        VOXEL,
        smoothing=2,
    )
    stage.paint(swan, TINT, roughness=0.04)
    return swan
