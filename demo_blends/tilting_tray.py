# SPDX-License-Identifier: GPL-3.0-or-later
"""A ball of rubber, a cube of jelly and a ring of flesh land on a tray that tilts to and fro."""

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
    stage.light_and_camera((3.0, -6.0, 4.9), (0.0, 0.0, 0.8))


def _bodies() -> None:
    """Side by side, each with room to slide along the tray: bodies do not feel each other."""
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=3, radius=0.3, location=(-0.5, -0.8, 1.7))
    ball = _named("Rubber ball", (0.10, 0.35, 0.75))
    stage.make_body(ball, "RUBBER", divisions=9)
    stage.preview(ball, 300)

    bpy.ops.mesh.primitive_cube_add(size=0.55, location=(0.0, 0.0, 1.6), rotation=(0.35, 0.3, 0.2))
    cube = _named("Jelly cube", (0.75, 0.10, 0.16))
    dense = cube.modifiers.new("Faces", "SUBSURF")
    dense.subdivision_type, dense.levels, dense.render_levels = "SIMPLE", 3, 3
    stage.make_body(cube, "JELLY", divisions=8)
    stage.preview(cube, 300)
    cube.sinew.youngs_modulus = 3.0e4

    bpy.ops.mesh.primitive_torus_add(
        major_radius=0.28, minor_radius=0.13, major_segments=36, minor_segments=14, location=(0.3, 0.8, 1.8)
    )
    ring = _named("Flesh ring", (0.85, 0.42, 0.12))
    ring.rotation_euler = (0.3, 0.25, 0.0)
    stage.make_body(ring, "FLESH", divisions=11)
    stage.preview(ring, 300)
    ring.sinew.youngs_modulus = 6.0e4


def _named(name: str, colour: stage.Colour) -> bpy.types.Object:
    obj = bpy.context.object
    obj.name = name
    stage.smooth(obj)
    stage.paint(obj, colour, roughness=0.3)
    return obj


def _tray() -> None:
    """A flat box that tilts to one side, turns, and tilts to the other."""
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=(0.0, 0.0, 0.9))
    tray = bpy.context.object
    tray.name = "Tray"
    tray.scale = (3.0, 2.6, 0.12)
    stage.paint(tray, (0.45, 0.47, 0.5))
    stage.make_collider(tray)
    tray.sinew.friction = 0.4
    for frame, tilt, turn in ((1, 0, 0), (20, 0, 0), (36, 16, 6), (56, -22, -6), (84, -28, 0)):
        tray.rotation_euler = (0.0, math.radians(tilt), math.radians(turn))
        tray.keyframe_insert("rotation_euler", frame=frame)
