# SPDX-License-Identifier: GPL-3.0-or-later
"""Sixty jellies fall into a bowl of glass: by Exact contact none of them is ever in another one."""

from __future__ import annotations

import math

import bpy
import numpy as np

import stage
import swept

FRAMES = 48
LAYERS, OUTER, MIDDLE = 6, (8, 0.113), (2, 0.037)  # of jellies; how many a layer has on two circles, and radii [m]
TET_SIZE, RING_TET_SIZE = 0.025, 0.019  # of what is thick, and of rings [m]
STIFFNESS = 3.0e4  # [Pa]: firm enough to lie on each other without being pressed flat
STEP = 0.074  # from one layer to the next [m]
INNER, HIGH, WALL = 0.165, 0.15, 0.012  # the bowl's radius, depth and thickness [m]
FIRST = 0.17  # height of the lowest layer over the bowl's lowest inner point [m]
COLOURS = (
    (0.80, 0.03, 0.06), (0.85, 0.33, 0.02), (0.85, 0.65, 0.04), (0.12, 0.50, 0.08), (0.05, 0.28, 0.72),
    (0.42, 0.08, 0.55), (0.80, 0.16, 0.38),
)  # fmt: skip
# frame, place of the camera, and what it looks at [m]: all that falls, and then the bowl
VIEWS = ((4, (0.46, -1.22, 0.86), (0.0, 0.0, 0.285)), (30, (0.30, -0.80, 0.56), (0.0, 0.0, 0.10)))
GLASS, CLARITY = (0.75, 0.90, 0.95), 0.22


def build() -> None:
    """Builds the scene in a new file."""
    stage.empty_scene(FRAMES)
    bpy.context.scene.sinew.contact = "EXACT"
    _jellies()
    stage.make_collider(_bowl())
    stage.add_ground()
    (_, place, target), _ = VIEWS
    stage.light_and_camera(place, target, lens=40.0)
    stage.key_views(bpy.context.scene.camera, *VIEWS)


def _bowl() -> bpy.types.Object:
    """Returns a bowl that one sees through."""
    bowl = swept.bowl("Bowl", INNER, HIGH, WALL, 13, 40)
    bowl.location.z = WALL + 0.001
    stage.paint(bowl, GLASS, 0.05)
    bowl.data.materials[0].node_tree.nodes["Principled BSDF"].inputs["Alpha"].default_value = CLARITY
    return bowl


def _jellies() -> None:
    """Adds layers of jellies above the bowl, each layer turned against the one below, all in one preset."""
    makers = (_flan, _cube, _berry, _ring, _drop)
    rng = np.random.default_rng(1)
    places = [(radius, k / count) for count, radius in (OUTER, MIDDLE) for k in range(count)]
    for number in range(LAYERS * len(places)):
        layer, place = divmod(number, len(places))
        radius, turn = places[place]
        make = makers[(number + layer) % len(makers)]
        jelly = make()
        jelly.name = f"Jelly {number + 1}"
        angle = 2.0 * math.pi * turn + 0.6 * layer
        jelly.location = (radius * math.cos(angle), radius * math.sin(angle), FIRST + STEP * layer)
        jelly.rotation_euler = rng.uniform(-math.pi, math.pi, 3)
        stage.smooth(jelly)
        stage.paint(jelly, COLOURS[number % len(COLOURS)], roughness=0.16)
        _triangulate(jelly)
        stage.make_body(jelly, "JELLY", tet_size=RING_TET_SIZE if make == _ring else TET_SIZE)
        jelly.sinew.youngs_modulus = STIFFNESS
        stage.preview(jelly, 60)
        jelly.sinew.self_collision = True


def _triangulate(jelly: bpy.types.Object) -> None:
    """Makes the mesh what is drawn, of triangles: quads are drawn along their other diagonal once they are folded."""
    jelly.modifiers.new("Triangles", "TRIANGULATE")
    mesh = bpy.data.meshes.new_from_object(jelly.evaluated_get(bpy.context.evaluated_depsgraph_get()))
    jelly.modifiers.clear()
    jelly.data = mesh


def _flan() -> bpy.types.Object:
    side = [(0.034, -0.019), (0.0345, -0.014), (0.030, 0.004), (0.026, 0.018), (0.024, 0.021)]
    return swept.lathe("Flan", [(0, -0.021), (0.018, -0.021), *side, (0.012, 0.021), (0, 0.021)], 20, 5, 0.05)


def _cube() -> bpy.types.Object:
    bpy.ops.mesh.primitive_cube_add(size=0.046)
    cube = bpy.context.object
    cube.name = "Cube"
    rounder = cube.modifiers.new("Rounder", "BEVEL")
    rounder.width, rounder.segments = 0.009, 3
    dense = cube.modifiers.new("Faces", "SUBSURF")
    dense.subdivision_type, dense.levels, dense.render_levels = "SIMPLE", 1, 1
    return cube


def _berry() -> bpy.types.Object:
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=3, radius=0.029)
    bpy.context.object.name = "Berry"
    return bpy.context.object


def _ring() -> bpy.types.Object:
    angle = 2.0 * math.pi * np.arange(10) / 10
    profile = np.column_stack([0.0225 + 0.0115 * np.cos(angle), 0.0115 * np.sin(angle)])
    return swept.lathe("Ring", profile, 22, closed=True)


def _drop() -> bpy.types.Object:
    """Returns a drop with a blunt tip."""
    angle = np.linspace(0.0, math.pi, 11)
    radius, height = 0.027 * np.sin(angle), -0.027 * np.cos(angle)
    above = np.maximum(height, 0.0) / 0.027
    profile = np.column_stack([radius * (1.0 - 0.25 * above), height + 0.010 * above**2])
    return swept.lathe("Drop", profile, 20)
