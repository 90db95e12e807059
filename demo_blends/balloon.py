# SPDX-License-Identifier: GPL-3.0-or-later
"""A limp balloon is thrown: its keys carry it, let it go while it is blown up, and it bounces on its own air.

The stretch limit of its rubber bears a pressure that would burst it otherwise.
"""

from __future__ import annotations

import math

import bpy

import stage

FRAMES = 72
RADIUS, THICKNESS = 0.12, 0.012  # [m]
START, LET_GO = (-0.70, 0.0, 0.32), 10  # of its middle [m], frame
THROW, SLOWING = (1.15, 0.0, 2.1), -4.0  # velocity at the first frame [m/s], change of it upwards [m/s²]
TURN = 150.0  # about y, per second [degrees]
LIMP, FULL = 0.0, 9.0e3  # pressures [Pa]
STRETCH_LIMIT = 1.4
BLOWN_UP = 30  # frame
KNOT = 0.45  # how far the neck goes out of the ball, in radii
RED = (0.75, 0.03, 0.05)


def build() -> None:
    """Builds the scene in a new file."""
    stage.empty_scene(FRAMES)
    balloon = _balloon()
    stage.make_body(balloon, "RUBBER", tet_size=0.024)
    own = balloon.sinew
    own.method = "ROBUST"
    own.youngs_modulus, own.poisson_ratio, own.density, own.stiffness_damping = 1.0e5, 0.3, 300.0, 0.004
    _throw(balloon)
    _blow_up(balloon)
    ground = stage.add_ground()
    ground.scale = (6.0, 6.0, 1.0)
    stage.light_and_camera((-0.05, -2.1, 0.62), (-0.2, 0.0, 0.40), lens=38.0)


def _balloon() -> bpy.types.Object:
    """Returns a hollow ball with a neck below; Solidify makes its wall."""
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=4, radius=RADIUS, location=START)
    balloon = bpy.context.object
    balloon.name = "Balloon"
    for vertex in balloon.data.vertices:
        x, y, z = vertex.co / RADIUS
        down = max(0.0, -z - 0.75) / 0.25
        vertex.co.z -= KNOT * RADIUS * down**2
        vertex.co.x, vertex.co.y = (0.94 * RADIUS * each for each in (x, y))
    wall = balloon.modifiers.new("Wall", "SOLIDIFY")
    wall.thickness, wall.offset = THICKNESS, -1.0
    stage.smooth(balloon)
    stage.paint(balloon, RED, 0.15)
    return balloon


def _throw(balloon: bpy.types.Object) -> None:
    """Keys every frame of the throw, and lets the balloon go."""
    for frame in range(1, LET_GO + 1):
        time = (frame - 1) / stage.FPS
        rise = (0.0, 0.0, 0.5 * SLOWING * time**2)
        balloon.location = [a + v * time + b for a, v, b in zip(START, THROW, rise, strict=True)]
        balloon.rotation_euler = (0.0, math.radians(TURN) * time, 0.0)
        balloon.keyframe_insert("location", frame=frame)
        balloon.keyframe_insert("rotation_euler", frame=frame)
    for frame, is_animated in ((1, True), (LET_GO, False)):
        balloon.sinew.animated = is_animated
        balloon.sinew.keyframe_insert("animated", frame=frame)


def _blow_up(balloon: bpy.types.Object) -> None:
    """Keys the pressure from the let-go on, which the stretch limit bears."""
    balloon.sinew.use_stretch_limit, balloon.sinew.stretch_limit = True, STRETCH_LIMIT
    balloon.sinew.use_pressure = True
    for frame, pressure in ((LET_GO, LIMP), (BLOWN_UP, FULL)):
        balloon.sinew.pressure = pressure
        balloon.sinew.keyframe_insert("pressure", frame=frame)
