# SPDX-License-Identifier: GPL-3.0-or-later
"""Planks on two straps of leather make a bridge, on which a roller falls and rolls (Sifakis 2007, figure 6.14)."""

from __future__ import annotations

import bmesh
import bpy
import numpy as np

import stage

FRAMES = 72
SPAN, SAG, HEIGHT = 1.20, 0.12, 0.50  # of the bridge [m]
PLANKS = 9
PLANK = (0.10, 0.34, 0.014)  # [m]
STRAPS, STRAP_WIDTH, CELL = (-0.11, 0.11), 0.05, 0.025  # places across, width and quads [m]
GAP = 0.002  # between strap and plank [m]
ROLLER, ROLLER_WIDTH = 0.06, 0.20  # its radius and length [m]
ROLLER_AT, DROP = -0.38, 0.08  # where it is along the bridge, and how far above that [m]
WOOD, LEATHER, RED, STONE = (0.40, 0.24, 0.11), (0.13, 0.07, 0.04), (0.55, 0.06, 0.05), (0.50, 0.49, 0.46)
OAK, PINE = 700.0, 500.0  # [kg/m³]


def build() -> None:
    """Builds the scene in a new file."""
    stage.empty_scene(FRAMES)
    straps = _straps()
    planks = [_plank(x) for x in SPAN * ((np.arange(PLANKS) + 0.5) / PLANKS - 0.5)]
    for plank in planks:
        stage.select(straps)
        plank.select_set(True)
        bpy.context.view_layer.objects.active = plank
        bpy.ops.sinew.attach(kind="FIXED", reach=2.0 * GAP)
    _roller()
    _posts()
    stage.light_and_camera((0.75, -1.75, 1.05), (0.0, 0.0, 0.46), lens=44.0)


def _height(x: float) -> float:
    """Returns how high the straps are at a place along the bridge [m]."""
    return HEIGHT - SAG * (1.0 - (2.0 * x / SPAN) ** 2)


def _slope(x: float) -> float:
    return 8.0 * SAG * x / SPAN**2


def _straps() -> bpy.types.Object:
    """Returns both straps, one mesh, held at their ends."""
    made = bmesh.new()
    columns, rows = round(SPAN / CELL), round(STRAP_WIDTH / CELL)
    for middle in STRAPS:
        places = [
            [made.verts.new((x, middle + y, _height(x))) for y in np.linspace(-0.5, 0.5, rows + 1) * STRAP_WIDTH]
            for x in np.linspace(-0.5, 0.5, columns + 1) * SPAN
        ]
        for one, other in zip(places, places[1:], strict=False):
            for k in range(rows):
                made.faces.new((one[k], other[k], other[k + 1], one[k + 1]))
    straps = stage.add_object(made, "Straps")
    stage.smooth(straps)
    stage.paint(straps, LEATHER, 0.7)
    stage.select(straps)
    bpy.ops.sinew.make_body()
    straps.sinew.method, straps.sinew.sheet_preset = "SHEET", "LEATHER"
    ends = straps.vertex_groups.new(name="Ends")
    ends.add([v.index for v in straps.data.vertices if abs(v.co.x) > 0.5 * SPAN - 1.0e-4], 1.0, "REPLACE")
    straps.sinew.pin_group = ends.name
    return straps


def _plank(x: float) -> bpy.types.Object:
    """Returns a plank on the straps."""
    angle = -np.arctan(_slope(x))
    above = GAP + 0.5 * PLANK[2]
    bpy.ops.mesh.primitive_cube_add(
        size=1.0, location=(x + above * np.sin(angle), 0.0, _height(x) + above * np.cos(angle)), scale=PLANK,
        rotation=(0.0, angle, 0.0),
    )  # fmt: skip
    plank = bpy.context.object
    plank.name = "Plank"
    stage.paint(plank, WOOD, 0.6)
    stage.make_rigid(plank, OAK)
    return plank


def _roller() -> None:
    """Adds the roller over one end of the bridge."""
    bpy.ops.mesh.primitive_cylinder_add(
        vertices=32, radius=ROLLER, depth=ROLLER_WIDTH, rotation=(0.5 * np.pi, 0.0, 0.0),
        location=(ROLLER_AT, 0.0, _height(ROLLER_AT) + DROP + ROLLER),
    )  # fmt: skip
    roller = bpy.context.object
    roller.name = "Roller"
    stage.smooth(roller)
    stage.paint(roller, RED, 0.35)
    stage.make_rigid(roller, PINE)


def _posts() -> None:
    """Adds the walls that the straps end at, and the ground, which nothing touches."""
    for sign in (-1.0, 1.0):
        bpy.ops.mesh.primitive_cube_add(
            size=1.0, location=(sign * (0.5 * SPAN + 0.08), 0.0, 0.5 * HEIGHT), scale=(0.14, 0.44, HEIGHT)
        )
        post = bpy.context.object
        post.name = "Post"
        stage.paint(post, STONE, 0.9)
    bpy.ops.mesh.primitive_plane_add(size=8.0)
    stage.paint(bpy.context.object, STONE, 0.9)
