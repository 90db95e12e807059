# SPDX-License-Identifier: GPL-3.0-or-later
"""Small fast balls hit two soft spheres whose faces are larger than they are (Sifakis 2007, figures 6.3 and 6.7).

The left one is touched at corners of its faces and at points a tet apart: its ball slips in between, and stays inside.
The right one has Surface Detail, whose particles lie close on its faces, and is knocked away.
"""

from __future__ import annotations

import bmesh
import bpy
from mathutils import Matrix, Vector

import stage

FRAMES = 40
RADIUS, TETS = 0.20, 4  # of the spheres [m], and how many tets are across
HEIGHT = 0.1887  # of their middles: they lie on a face [m]
APART = 0.27  # of their middles from that of the scene [m]
BALL = 0.02  # radius of the balls [m]
# where the balls hit a sphere, right of its middle and above that: as far as can be from what is touched of it [m]
ASIDE = (-0.030, -0.066)
START, SPEED = -0.60, 1.0  # of the balls along x [m], [m/s]
LAST = 26  # frame at which the balls stop
YELLOW, BLUE, RED = (0.72, 0.45, 0.08), (0.10, 0.28, 0.55), (0.62, 0.06, 0.05)


def build() -> None:
    """Builds the scene in a new file."""
    stage.empty_scene(FRAMES)
    _sphere("Without Detail", APART, YELLOW)
    detailed = _sphere("With Detail", -APART, BLUE).sinew
    detailed.use_surface_detail, detailed.detail_particles = True, 8
    detailed.detail_yield = 1.0  # rubber keeps no dents
    end = START + SPEED * (LAST - 1) / stage.FPS
    for name, y in (("Left Ball", APART), ("Right Ball", -APART)):
        ball = _ball(name)
        places = [(x, y + ASIDE[0], HEIGHT + ASIDE[1]) for x in (START, end)]
        stage.key_places(ball, (1, places[0]), (LAST, places[1]))
        data = ball.animation_data
        for curve in data.action.layers[0].strips[0].channelbag(data.action_slot).fcurves:
            for key in curve.keyframe_points:
                key.interpolation = "LINEAR"
    stage.add_ground()
    stage.light_and_camera((-1.35, 0.0, 0.85), (0.05, 0.0, 0.17), lens=42.0)


def _sphere(name: str, y: float, colour: stage.Colour) -> bpy.types.Object:
    """Returns a light soft sphere of few faces, on the ground."""
    bm = bmesh.new()
    bmesh.ops.create_icosphere(bm, subdivisions=2, radius=RADIUS)
    lowest = min(bm.faces, key=lambda face: face.normal.z)
    turn = lowest.normal.rotation_difference(Vector((0.0, 0.0, -1.0))).to_matrix().to_4x4()
    bm.transform(Matrix.Translation((0.0, y, HEIGHT)) @ turn)
    sphere = stage.add_object(bm, name)
    stage.paint(sphere, colour, 0.6)
    stage.make_body(sphere, "RUBBER", divisions=TETS)
    sphere.sinew.youngs_modulus, sphere.sinew.density, sphere.sinew.friction = 3.0e5, 60.0, 0.5
    return sphere


def _ball(name: str) -> bpy.types.Object:
    bm = bmesh.new()
    bmesh.ops.create_icosphere(bm, subdivisions=3, radius=BALL)
    ball = stage.add_object(bm, name)
    stage.paint(ball, RED, 0.3)
    stage.smooth(ball)
    stage.make_collider(ball)
    return ball
