# SPDX-License-Identifier: GPL-3.0-or-later
"""A ball of rubber, a cube of jelly and a ring of flesh land on a tray that tilts and turns."""

from __future__ import annotations

import math

import bpy

import stage

FRAMES = 84


def build() -> None:
    """Builds the scene in a new file."""
    stage.empty_scene(FRAMES)
    bpy.context.scene.sinew.substeps = 5
    _bodies()
    _tray()
    stage.add_ground()
    stage.light_and_camera((4.2, -5.8, 3.6), (0.0, 0.0, 0.75))


def _bodies() -> None:
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=3, radius=0.35, location=(-0.75, -0.25, 1.9))
    ball = _named("Rubber ball", (0.10, 0.35, 0.75))
    stage.make_body(ball, "RUBBER", divisions=10)

    bpy.ops.mesh.primitive_cube_add(size=0.65, location=(0.1, 0.35, 1.7), rotation=(0.4, 0.3, 0.2))
    cube = _named("Jelly cube", (0.75, 0.10, 0.16))
    dense = cube.modifiers.new("Faces", "SUBSURF")
    dense.subdivision_type, dense.levels, dense.render_levels = "SIMPLE", 3, 3
    stage.make_body(cube, "JELLY", divisions=9)
    cube.sinew.youngs_modulus = 3.0e4

    bpy.ops.mesh.primitive_torus_add(
        major_radius=0.38, minor_radius=0.15, major_segments=40, minor_segments=16, location=(0.75, -0.2, 2.1)
    )
    ring = _named("Flesh ring", (0.85, 0.42, 0.12))
    ring.rotation_euler = (0.9, 0.2, 0.0)
    stage.make_body(ring, "FLESH", divisions=14)
    ring.sinew.youngs_modulus = 6.0e4


def _named(name: str, colour: stage.Colour) -> bpy.types.Object:
    obj = bpy.context.object
    obj.name = name
    stage.smooth(obj)
    stage.paint(obj, colour, roughness=0.3)
    return obj


def _tray() -> None:
    """A flat box that tilts to one side, turns, and tilts to the other."""
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=(0.0, 0.0, 0.7))
    tray = bpy.context.object
    tray.name = "Tray"
    tray.scale = (2.8, 2.0, 0.12)
    stage.paint(tray, (0.45, 0.47, 0.5))
    stage.make_collider(tray)
    tray.sinew.friction = 0.4
    for frame, tilt, turn in ((1, 0, 0), (20, 0, 0), (38, 14, 20), (58, -16, 50), (84, -24, 60)):
        tray.rotation_euler = (0.0, math.radians(tilt), math.radians(turn))
        tray.keyframe_insert("rotation_euler", frame=frame)
