# SPDX-License-Identifier: GPL-3.0-or-later
"""A vase of glass falls on a tile and shatters, in slow motion."""

from __future__ import annotations

import math

import bpy
import numpy as np
from mathutils import Matrix

import stage
import swept

FRAMES, FPS = 72, 96  # four times slower than it is
HIGH, WALL = 0.30, 0.006  # [m]
TETS = 1000  # about: walls are a fifth of a tet thick
# radius of the outside over height [m]: foot, belly, neck and lip
SHAPE = (
    (0.046, 0.000), (0.052, 0.012), (0.072, 0.060), (0.085, 0.110), (0.082, 0.160), (0.060, 0.210), (0.043, 0.245),
    (0.044, 0.270), (0.062, 0.300),
)  # fmt: skip
RINGS, SIDES = 44, 72
# how high its foot is [m], how it is turned about x and y, and how fast it falls and turns [m/s], [rad/s]: from a table
ABOVE, LEAN, SPEED, SPIN = 0.22, (math.radians(14), math.radians(58)), 4.4, (0.0, 1.0, 0.0)
ASIDE = -0.14  # [m]: it topples towards x
TILE, THICK = 0.62, 0.02  # side of the tile, and how thick it is [m]
BLUE, BAND, GOLD, INSIDE = (0.012, 0.075, 0.30), (0.75, 0.80, 0.82), (0.60, 0.36, 0.08), (0.55, 0.72, 0.85)
CLAY = (0.42, 0.20, 0.12)
VIEWS = ((1, (0.45, -1.15, 0.60), (0.0, 0.0, 0.19)), (16, (0.40, -1.08, 0.58), (0.06, 0.0, 0.09)))


def build() -> None:
    """Builds the scene in a new file."""
    stage.empty_scene(FRAMES, FPS)
    vase = _vase()
    vase.location = (ASIDE, 0.0, ABOVE + THICK)
    vase.rotation_euler = (*LEAN, 0.0)
    stage.select(vase)
    bpy.ops.sinew.make_body()
    vase.sinew.preset = "GLASS"
    vase.sinew.tet_count = TETS
    vase.sinew.initial_velocity, vase.sinew.initial_spin = (0.0, 0.0, -SPEED), SPIN
    vase.sinew.broken_material = stage.loose_material("Broken Glass", INSIDE, 0.12)
    stage.make_collider(_tile())
    stage.add_ground()
    stage.light_and_camera(*VIEWS[0][1:], lens=40.0)
    stage.key_views(bpy.context.scene.camera, *VIEWS)


def _vase() -> bpy.types.Object:
    """Returns a vase, open at its top, with two white bands and a golden lip, its foot at the origin."""
    radius, height = swept.smooth_path([(r, 0.0, z) for r, z in SHAPE], RINGS)[:, ::2].T
    slope = np.gradient(height), -np.gradient(radius)
    out = np.stack(slope, axis=1) / np.hypot(*slope)[:, None]
    outside = np.column_stack([radius, height])
    inside = outside - WALL * out
    inside = inside[inside[:, 1] > 1.5 * WALL][::-1]
    lip = outside[-1] + WALL * (0.35 * np.array([-out[-1, 1], out[-1, 0]]) - 0.5 * out[-1])
    profile = [(0.0, 0.0), *outside, lip, *inside, (0.0, inside[-1, 1])]
    vase = swept.lathe("Vase", profile, SIDES)
    stage.paint(vase, BLUE, 0.08)
    stage.add_material(vase, "Band", BAND, 0.15)
    stage.add_material(vase, "Gold", GOLD, 0.25)
    for face in vase.data.polygons:
        x, y, z = face.center
        is_outside = math.hypot(x, y) > np.interp(z, height, radius) - 0.3 * WALL
        if is_outside and min(abs(z - 0.075), abs(z - 0.150)) < 0.009:
            face.material_index = 1
        elif z > HIGH - 0.010:
            face.material_index = 2
    return vase


def _tile() -> bpy.types.Object:
    """Returns a square tile of fired clay on the ground, with bevelled edges."""
    bpy.ops.mesh.primitive_cube_add(size=1.0)
    tile = bpy.context.object
    tile.name = tile.data.name = "Tile"
    tile.data.transform(Matrix.Diagonal((TILE, TILE, THICK, 1.0)))
    tile.location.z = 0.5 * THICK + 0.0005
    tile.rotation_euler.z = math.radians(12)
    rounder = tile.modifiers.new("Rounder", "BEVEL")
    rounder.width, rounder.segments = 0.004, 2
    stage.paint(tile, CLAY, 0.45)
    return tile
