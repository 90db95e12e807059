# SPDX-License-Identifier: GPL-3.0-or-later
"""Nine soft dolls fall into a crate: limbs lie on limbs, also of one doll, and friction keeps the pile together."""

from __future__ import annotations

import math

import bpy
import numpy as np

import fused
import stage
import swept

FRAMES = 60
VOXEL, TRIANGLES = 0.012, 900
TET_SIZE = 0.036
STIFFNESS = 2.5e4  # [Pa], of foam so soft that arms bend under the weight of a doll
FRICTION = 0.6
CRATE, HIGH, BOARD = (0.30, 0.24), 0.16, 0.02  # half of its inner sides, its height, and how thick it is [m]
FIRST, STEP = 0.16, 0.15  # height of the lowest doll, and from one to the next [m]
ASIDE = 0.05  # how far dolls begin from the middle [m]
COLOURS = ((0.72, 0.10, 0.08), (0.86, 0.62, 0.10), (0.10, 0.36, 0.60), (0.16, 0.45, 0.18), (0.62, 0.34, 0.58))
# frame, place of the camera, and what it looks at [m]: all that falls, and then the crate
VIEWS = ((6, (1.15, -2.50, 1.80), (0.0, 0.0, 0.66)), (34, (0.62, -1.40, 1.05), (0.0, 0.0, 0.14)))
WOOD = (0.36, 0.20, 0.09)


def build() -> None:
    """Builds the scene in a new file."""
    stage.empty_scene(FRAMES)
    bpy.context.scene.sinew.contact = "EXACT"
    _dolls()
    crate = _crate()
    stage.make_collider(crate)
    crate.sinew.friction = FRICTION
    stage.add_ground().sinew.friction = FRICTION
    (_, place, target), _ = VIEWS
    stage.light_and_camera(place, target, lens=36.0)
    stage.key_views(bpy.context.scene.camera, *VIEWS)


def _dolls() -> None:
    """Adds dolls above each other, turned at random, as bodies that may touch themselves."""
    pattern = _doll()
    rng = np.random.default_rng(3)
    for number in range(9):
        doll = pattern.copy()
        doll.data = pattern.data.copy()
        doll.name = f"Doll {number + 1}"
        bpy.context.scene.collection.objects.link(doll)
        doll.location = (*rng.uniform(-ASIDE, ASIDE, 2), FIRST + STEP * number)
        lying = rng.uniform(math.radians(78), math.radians(102))
        doll.rotation_euler = (lying, rng.uniform(-0.2, 0.2), rng.uniform(-math.pi, math.pi))
        stage.paint(doll, COLOURS[number % len(COLOURS)], 0.7)
        stage.make_body(doll, "FOAM", tet_size=TET_SIZE)
        stage.preview(doll, 100)
        doll.sinew.youngs_modulus, doll.sinew.body_friction = STIFFNESS, FRICTION
        doll.sinew.self_collision = True
    bpy.data.objects.remove(pattern)


def _doll() -> bpy.types.Object:
    """Returns a doll 0.36 m high, that looks along −y with spread arms and legs, its middle at the origin."""
    middle = [
        fused.ball((0, 0, 0.115), (0.062, 0.055, 0.062)),
        fused.ball((0, 0, 0.0), (0.056, 0.042, 0.075)),
    ]
    one_side = [
        fused.tube([(0.03, 0, 0.045), (0.095, 0, 0.045), (0.155, -0.01, 0.03)], [0.026, 0.023, 0.027]),
        fused.tube([(0.028, 0, -0.05), (0.05, 0, -0.11), (0.068, -0.008, -0.17)], [0.031, 0.026, 0.031]),
    ]
    return fused.fuse("Doll", [*middle, *fused.mirrored(one_side, 0)], VOXEL, TRIANGLES, 4)


def _crate() -> bpy.types.Object:
    """Returns a crate without a lid."""
    inner, outer = np.array(CRATE), np.array(CRATE) + BOARD
    turns = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
    rings = [(outer, 0.0), (outer, HIGH), (inner, HIGH), (inner, BOARD)]
    vertices = [(*(turn * half), z) for half, z in rings for turn in turns]
    faces = [(3, 2, 1, 0), (12, 13, 14, 15)]
    for ring in range(3):
        for side in range(4):
            a, b = 4 * ring + side, 4 * ring + (side + 1) % 4
            faces.append((a, b, b + 4, a + 4))
    crate = swept.mesh_object("Crate", vertices, faces)
    crate.data.polygons.foreach_set("use_smooth", [False] * len(crate.data.polygons))
    crate.location.z = 0.001
    stage.paint(crate, WOOD, 0.6)
    return crate
