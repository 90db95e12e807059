# SPDX-License-Identifier: GPL-3.0-or-later
"""Suzanne, of jelly, is dropped on the ground."""

from __future__ import annotations

import math

import bpy

import stage

FRAMES = 48
HEIGHT = 2.0
# two metres of real jelly (5 kPa) would be a puddle; this is what it takes to wobble at that size
STIFFNESS = 2.0e5


def build() -> None:
    """Builds the scene in a new file."""
    stage.empty_scene(FRAMES)
    bpy.ops.mesh.primitive_monkey_add(size=2.0, location=(0.0, 0.0, HEIGHT))
    suzanne = bpy.context.object
    suzanne.rotation_euler = (math.radians(-12), math.radians(6), math.radians(20))
    stage.smooth(suzanne)
    stage.paint(suzanne, (0.75, 0.10, 0.16), roughness=0.25)
    stage.make_body(suzanne, "JELLY", divisions=20)
    stage.preview(suzanne, 3000)
    suzanne.sinew.youngs_modulus = STIFFNESS
    rounder = suzanne.modifiers.new("Subdivision", "SUBSURF")
    rounder.levels, rounder.render_levels = 1, 2
    stage.add_ground()
    stage.light_and_camera((4.4, -5.6, 2.2), (0.0, 0.0, 1.45), lens=40.0)
