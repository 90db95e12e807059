# SPDX-License-Identifier: GPL-3.0-or-later
"""Eight jellies drop into a bowl that a waddling penguin carries: bodies on bodies, in a bowl that its wings move."""

from __future__ import annotations

import math

import bpy
import numpy as np
from mathutils import Matrix

import fused
import rigged
import stage
import swept

FRAMES = 96
VOXEL = 0.018
SIZE = 1.3  # of the jellies, against what their functions say
BOWL = (0.0, -0.372, 0.345)  # its lowest inner point [m]
INNER, HIGH, WALL = 0.165, 0.125, 0.014
COAT, FRONT, BEAK = (0.03, 0.05, 0.11), (0.86, 0.86, 0.83), (0.9, 0.36, 0.03)
EYE, CHINA = (0.01, 0.01, 0.01), (0.80, 0.78, 0.74)
# frame → to the side [m], towards the camera [m], lean [degrees] of a waddle, two frames after its feet came down
WADDLE = (
    (1, 0.0, 0.0, 0.0), (28, 0.0, 0.0, 0.0), (34, 0.02, 0.0, 7.0), (42, -0.02, 0.06, -7.0), (50, 0.02, 0.12, 7.0),
    (58, -0.02, 0.18, -7.0), (66, 0.02, 0.24, 7.0), (73, 0.0, 0.26, 0.0),
)  # fmt: skip
BONES = {
    "Body": ((0, 0, 0.08), (0, 0, 0.50), ""),
    "Head": ((0, 0, 0.58), (0, -0.02, 0.74), "Body"),
    "Wing.L": ((0.20, -0.03, 0.47), (0.17, -0.33, 0.37), "Body"),
    "Wing.R": ((-0.20, -0.03, 0.47), (-0.17, -0.33, 0.37), "Body"),
    "Foot.L": ((0.10, 0.02, 0.03), (0.11, -0.12, 0.03), ""),
    "Foot.R": ((-0.10, 0.02, 0.03), (-0.11, -0.12, 0.03), ""),
}


def build() -> None:
    """Builds the scene in a new file."""
    stage.empty_scene(FRAMES)
    penguin, bowl = _penguin(), _bowl()
    rig = rigged.armature("Rig", BONES)
    rigged.follow(penguin, rig, BONES)
    stage.ride(bowl, rig, "Body")
    _eyes(rig)
    for collider in (penguin, bowl):
        stage.make_collider(collider)
        collider.sinew.friction = 0.3
    _waddle(rig)
    _jellies()
    stage.add_ground()
    stage.light_and_camera((0.70, -1.88, 1.22), (0.0, -0.34, 0.46), lens=38.0)


def _penguin() -> bpy.types.Object:
    """Returns a penguin that looks along −y and holds its wings forward."""
    middle = [
        fused.ball((0, 0, 0.30), (0.215, 0.19, 0.27)),
        fused.ball((0, -0.005, 0.63), (0.145, 0.135, 0.135)),
        fused.ball((0, 0, 0.48), (0.16, 0.145, 0.14)),
        fused.tube([(0, -0.10, 0.62), (0, -0.17, 0.61), (0, -0.215, 0.595)], [0.042, 0.03, 0.012], 0.7),
        fused.tube([(0, 0.14, 0.14), (0, 0.22, 0.08), (0, 0.26, 0.07)], [0.07, 0.045, 0.02], 0.6),
    ]
    one_side = [
        fused.tube([(0.17, 0.0, 0.47), (0.24, -0.11, 0.45), (0.235, -0.25, 0.405), (0.152, -0.352, 0.375)],
                   [0.055, 0.048, 0.044, 0.036]),
        fused.tube([(0.09, 0.03, 0.06), (0.10, -0.05, 0.035), (0.115, -0.15, 0.028)], [0.045, 0.05, 0.055], 0.5),
    ]  # fmt: skip
    penguin = fused.fuse("Penguin", [*middle, *fused.mirrored(one_side, 0)], VOXEL, 0, 4)
    fused.colour(penguin, _feathers, 0.5, "Feathers")
    return penguin


def _eyes(rig: bpy.types.Object) -> None:
    """Adds two eyes that ride on the head, and are only seen."""
    for name, side in (("Left Eye", 1.0), ("Right Eye", -1.0)):
        bpy.ops.mesh.primitive_uv_sphere_add(
            segments=20, ring_count=12, radius=0.019, location=(0.058 * side, -0.113, 0.668)
        )
        eye = bpy.context.object
        eye.name = name
        stage.smooth(eye)
        stage.paint(eye, EYE, 0.1)
        stage.ride(eye, rig, "Head")


def _feathers(points: np.ndarray) -> np.ndarray:
    """A dark coat, a white front and face, an orange beak and feet."""
    x, y, z = points.T
    colours = np.tile(COAT, (len(points), 1))
    front = (np.hypot(x / 0.155, (z - 0.31) / 0.235) < 1.0) & (y < -0.03)
    face = (np.hypot((np.abs(x) - 0.055) / 0.07, (z - 0.645) / 0.075) < 1.0) & (y < -0.05)
    colours[front | face] = FRONT
    colours[(y < -0.128) & (np.abs(x) < 0.055) & (z > 0.56)] = BEAK
    colours[(z < 0.062) & (y < 0.12)] = BEAK
    return colours


def _bowl() -> bpy.types.Object:
    """Returns a bowl between the wings, of china."""
    bowl = swept.bowl("Bowl", INNER, HIGH, WALL, 11, 48)
    bowl.location = BOWL
    stage.paint(bowl, CHINA, 0.15)
    return bowl


def _waddle(rig: bpy.types.Object) -> None:
    """Keys five steps: the body leans over one foot while the other one is put forward."""
    for frame, aside, along, lean in WADDLE:
        dip = -0.012 if lean else 0.0
        rigged.pose(rig, "Body", (frame, (aside, -along, dip), (0.6 * abs(lean), lean, 0.8 * lean)))
        rigged.turn(rig, "Head", (0, 1, 0), (frame, -0.8 * lean))
    for name, side in (("Foot.L", 1.0), ("Foot.R", -1.0)):
        place = 0.0
        for before, now in zip(WADDLE[:-1], WADDLE[1:], strict=True):
            start, end = before[0], now[0]
            rigged.pose(rig, name, (start, (0, -place, 0), (0, 0, 0)))
            if now[2] > place and before[3] * side < 0 or now is WADDLE[-1]:
                middle = 0.5 * (place + now[2])
                rigged.pose(rig, name, ((start + end) // 2, (0, -middle, 0.035), (0, 0, 0)))
                place = now[2]
        rigged.pose(rig, name, (WADDLE[-1][0], (0, -place, 0), (0, 0, 0)))


def _jellies() -> None:
    """Eight jellies of several shapes and stiffness over the bowl."""
    x, y, z = BOWL
    made = (
        (make_flan(), (-0.070, 0.01, 0.10), (0.1, 0.0, 0.0), 1.2e4, (0.80, 0.46, 0.06)),
        (_ring(), (0.072, 0.0, 0.11), (0.5, 0.3, 0.0), 2.0e4, (0.85, 0.20, 0.03)),
        (_bear("Red Bear"), (0.0, 0.060, 0.23), (1.2, 0.3, 0.4), 3.0e4, (0.72, 0.03, 0.06)),
        (_cube(), (0.01, -0.068, 0.23), (0.4, 0.3, 0.7), 1.6e4, (0.05, 0.28, 0.72)),
        (_star(), (-0.070, 0.0, 0.35), (0.5, -0.3, 0.2), 4.0e4, (0.85, 0.68, 0.05)),
        (_bear("Green Bear"), (0.065, 0.01, 0.36), (-0.6, 0.9, 0.9), 2.0e4, (0.08, 0.45, 0.10)),
        (_suzanne(), (0.0, -0.058, 0.48), (0.2, -0.2, 0.2), 2.5e4, (0.42, 0.10, 0.55)),
        (_berry(), (-0.01, 0.050, 0.50), (0.0, 0.0, 0.0), 6.0e4, (0.55, 0.02, 0.16)),
    )
    for jelly, at, turned, stiffness, colour in made:
        jelly.data.transform(Matrix.Scale(SIZE, 4))
        jelly.location = (x + at[0], y + at[1], z + at[2])
        jelly.rotation_euler = turned
        stage.smooth(jelly)
        stage.paint(jelly, colour, roughness=0.16)
        stage.make_body(jelly, "JELLY", tet_size=0.0145)
        stage.preview(jelly, 100)
        jelly.sinew.youngs_modulus = stiffness
        jelly.sinew.body_friction = 0.3


def make_flan() -> bpy.types.Object:
    side = [(0.040, -0.026), (0.044, -0.021), (0.039, 0.0), (0.033, 0.019), (0.029, 0.025)]
    side = swept.smooth_path([(r, 0.0, z) for r, z in side], 13)[:, [0, 2]]
    profile = [(0, -0.026), (0.014, -0.026), (0.028, -0.026), *side, (0.020, 0.026), (0.010, 0.026), (0, 0.026)]
    return swept.lathe("Flan", profile, 50, flutes=10, deep=0.05)


def _ring() -> bpy.types.Object:
    angle = 2.0 * math.pi * np.arange(14) / 14
    return swept.lathe(
        "Ring", np.column_stack([0.030 + 0.0155 * np.cos(angle), 0.0155 * np.sin(angle)]), 36, closed=True
    )


def _cube() -> bpy.types.Object:
    bpy.ops.mesh.primitive_cube_add(size=0.056)
    cube = bpy.context.object
    cube.name = "Cube"
    rounder = cube.modifiers.new("Rounder", "BEVEL")
    rounder.width, rounder.segments = 0.010, 3
    dense = cube.modifiers.new("Faces", "SUBSURF")
    dense.subdivision_type, dense.levels, dense.render_levels = "SIMPLE", 3, 3
    return cube


def _bear(name: str) -> bpy.types.Object:
    """Returns a gummy bear, 7 cm high."""
    middle = [fused.ball((0, 0, 0), (0.019, 0.016, 0.023)), fused.ball((0, 0, 0.028), (0.0155, 0.0145, 0.014))]
    middle += [fused.ball((0, -0.014, 0.025), (0.007, 0.006, 0.006))]
    one_side = [
        fused.ball((0.012, 0, 0.040), (0.0065, 0.005, 0.0065)),
        fused.tube([(0.014, 0, 0.012), (0.019, -0.010, 0.008), (0.015, -0.017, 0.006)], [0.0075, 0.0075, 0.006]),
        fused.tube([(0.011, 0, -0.016), (0.014, -0.010, -0.024), (0.014, -0.020, -0.024)], [0.010, 0.0095, 0.008]),
    ]
    return fused.fuse(name, [*middle, *fused.mirrored(one_side, 0)], 0.0042, 0, 2)


def _star() -> bpy.types.Object:
    angles = 2.0 * math.pi * np.arange(10) / 10
    radii = np.where(np.arange(10) % 2 == 0, 0.045, 0.022)
    outline = np.column_stack([radii * np.sin(angles), np.zeros(10), radii * np.cos(angles)])
    return fused.fuse("Star", [fused.blade(outline, 0.024)], 0.0044, 0, 5)


def _suzanne() -> bpy.types.Object:
    bpy.ops.mesh.primitive_monkey_add(size=0.072)
    return bpy.context.object


def _berry() -> bpy.types.Object:
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=3, radius=0.027)
    bpy.context.object.name = "Berry"
    return bpy.context.object
