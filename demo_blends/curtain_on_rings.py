# SPDX-License-Identifier: GPL-3.0-or-later
"""Wind blows into a curtain that hangs on rings of steel, which turn and slide on a rod (Sifakis 2007, figure 6.15)."""

from __future__ import annotations

import bpy
import numpy as np

import stage

FRAMES = 72
WIDTH, DROP = 0.90, 0.70  # of the curtain [m]
COLUMNS, ROWS = 54, 42  # quads of its mesh
FOLDS, FOLD_DEPTH = 7, 0.022  # waves along the rod [m]
RINGS, RING_RADIUS, RING_WIRE = 8, 0.028, 0.005  # middle of the wire, and its half thickness [m]
ROD_RADIUS, ROD_LENGTH = 0.014, 1.5  # [m]
HEIGHT = 0.80  # of the rod [m]
HOOK = 0.009  # from ring to cloth [m]
GUSTS = ((1, 0.0), (8, 1.6), (22, 1.6), (30, 0.0), (40, 0.0), (46, 1.3), (54, 0.0))  # frames and strengths
STEEL = 7800.0  # [kg/m³]
LINEN, METAL, WOOD, WALL = (0.34, 0.10, 0.07), (0.55, 0.55, 0.58), (0.22, 0.12, 0.06), (0.70, 0.68, 0.62)


def build() -> None:
    """Builds the scene in a new file."""
    stage.empty_scene(FRAMES)
    rings = [_ring(number) for number in range(RINGS)]
    curtain = _curtain()
    _rod()
    _hang(curtain, rings)
    _blow()
    _wall()
    stage.light_and_camera((0.35, -2.1, 0.75), (0.0, 0.0, 0.48), lens=46.0)


def _wave(along: float) -> float:
    """Returns how far the curtain is before the rod [m] at a share of its width."""
    return FOLD_DEPTH * float(np.sin(2.0 * np.pi * FOLDS * along))


def _top() -> float:
    """Returns the height of the upper edge of the curtain [m]: rings hang on the rod, and it on them."""
    return HEIGHT + ROD_RADIUS - 2.0 * RING_RADIUS - HOOK


def _curtain() -> bpy.types.Object:
    """Returns the curtain, in folds, its upper edge straight under the rod."""
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=COLUMNS, y_subdivisions=ROWS, size=1.0)
    curtain = bpy.context.object
    curtain.name = "Curtain"
    for v in curtain.data.vertices:
        along, down = v.co.x + 0.5, 0.5 - v.co.y
        v.co = (WIDTH * v.co.x, min(down / 0.15, 1.0) * _wave(along), _top() - DROP * down)
    stage.smooth(curtain)
    stage.paint(curtain, LINEN, 0.85)
    stage.select(curtain)
    bpy.ops.sinew.make_body()
    curtain.sinew.self_collision = False
    return curtain


def _ring(number: int) -> bpy.types.Object:
    """Returns a ring of steel around the rod, above its place on the curtain."""
    x = WIDTH * ((number + 0.5) / RINGS - 0.5)
    z = HEIGHT + ROD_RADIUS - RING_RADIUS + RING_WIRE
    bpy.ops.mesh.primitive_torus_add(
        major_radius=RING_RADIUS, minor_radius=RING_WIRE, major_segments=24, minor_segments=8,
        location=(x, 0.0, z), rotation=(0.0, 0.5 * np.pi, 0.0),
    )  # fmt: skip
    ring = bpy.context.object
    ring.name = f"Ring {number + 1}"
    stage.smooth(ring)
    stage.paint(ring, METAL, 0.3)
    stage.make_rigid(ring, STEEL)
    return ring


def _rod() -> None:
    """Adds the rod, through the rings."""
    bpy.ops.mesh.primitive_cylinder_add(
        radius=ROD_RADIUS, depth=ROD_LENGTH, vertices=32, location=(0.0, 0.0, HEIGHT), rotation=(0.0, 0.5 * np.pi, 0.0)
    )
    rod = bpy.context.object
    rod.name = "Rod"
    stage.smooth(rod)
    stage.paint(rod, WOOD, 0.4)
    stage.make_collider(rod)
    rod.sinew.friction = 0.1


def _hang(curtain: bpy.types.Object, rings: list[bpy.types.Object]) -> None:
    """Attaches the upper edge of the curtain to every ring, where it is nearest."""
    edge = curtain.vertex_groups.new(name="Upper Edge")
    edge.add([v.index for v in curtain.data.vertices if v.co.z > _top() - 1.0e-4], 1.0, "REPLACE")
    for ring in rings:
        stage.select(curtain)
        ring.select_set(True)
        bpy.context.view_layer.objects.active = ring
        bpy.ops.sinew.attach(kind="FIXED", reach=HOOK + RING_WIRE)
    for row in curtain.sinew.attachments:
        row.group = edge.name


def _blow() -> None:
    """Adds a wind that blows from behind, in two gusts, and from the side."""
    bpy.ops.object.effector_add(type="WIND", location=(-0.3, 0.5, 0.45), rotation=(0.5 * np.pi, 0.0, -0.4))
    wind = bpy.context.object
    wind.name = "Wind"
    for frame, strength in GUSTS:
        wind.field.strength = strength
        wind.keyframe_insert("field.strength", frame=frame)


def _wall() -> None:
    """Adds the wall behind, which nothing touches."""
    bpy.ops.mesh.primitive_plane_add(size=6.0, location=(0.0, 0.6, 0.0), rotation=(0.5 * np.pi, 0.0, 0.0))
    wall = bpy.context.object
    wall.name = "Wall"
    stage.paint(wall, WALL, 0.9)
