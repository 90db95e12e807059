# SPDX-License-Identifier: GPL-3.0-or-later
"""A snake falls over a branch: the elastic body of Müller and Gross 2004, table 1."""

from __future__ import annotations

import math

import bpy
import numpy as np

import stage
import swept

FPS = 25  # four steps a frame are the paper's 10 ms
FRAMES = 60
LENGTH = 3.2
THICK = 0.135
RINGS = 86
SIDES = 8
HEIGHT = 1.75
BRANCH = 1.0


def build() -> None:
    """Builds the scene in a new file."""
    stage.empty_scene(FRAMES, FPS)
    snake = _snake()
    stage.make_body(snake, "JELLY", tet_size=0.1535)
    stage.of_table_1(snake, 1.0e5)
    _branch()
    stage.add_ground()
    stage.light_and_camera((2.6, -4.4, 2.3), (0.0, 0.0, 0.75), lens=42.0)


def _snake() -> bpy.types.Object:
    s = np.linspace(0.0, 1.0, 13)
    wave = 0.34 * np.sin(2.0 * math.pi * 1.75 * s) * (0.45 + 0.55 * s)
    path = swept.smooth_path(np.column_stack([2.5 * (s - 0.5), wave, HEIGHT + 0.1 * np.cos(9.0 * s)]), RINGS)
    snake = swept.sweep("Snake", path, lambda s: THICK * _body(s), lambda s: THICK * 0.92 * _body(s, 0.8), SIDES)
    _skin(snake)
    finer = snake.modifiers.new("Subdivision", "SUBSURF")
    finer.levels, finer.render_levels = 2, 2
    return snake


def _body(s: float, head: float = 1.0) -> float:
    """Returns the thickness at s from the snout, 0, to the end of the tail, 1."""
    snout = math.sqrt(max(0.0, min(1.0, (s + 0.004) / 0.05)))
    skull = 0.34 * head * math.exp(-(((s - 0.055) / 0.03) ** 2))
    neck = -0.26 * math.exp(-(((s - 0.125) / 0.04) ** 2))
    tail = 1.0 - max(0.0, (s - 0.5) / 0.5) ** 1.6 * 0.9
    return snout * (0.85 + 0.15 * math.sin(math.pi * s) + skull + neck) * tail


def _skin(snake: bpy.types.Object) -> None:
    """Rings of yellow and black on glossy green."""
    stage.paint(snake, (0.10, 0.36, 0.09), roughness=0.22)
    for colour in ((0.85, 0.62, 0.05), (0.02, 0.03, 0.02)):
        stage.add_material(snake, f"Snake {len(snake.data.materials)}", colour, roughness=0.22)
    for face in snake.data.polygons:
        ring = face.index // SIDES
        face.material_index = 0 if ring < 6 or ring >= RINGS - 1 else (0, 0, 0, 2, 1, 2)[ring % 6]


def _branch() -> None:
    bpy.ops.mesh.primitive_cylinder_add(
        vertices=32, radius=0.16, depth=3.0, location=(0.1, 0.0, BRANCH), rotation=(math.radians(90), 0.0, 0.12)
    )
    branch = bpy.context.object
    branch.name = "Branch"
    stage.smooth(branch)
    stage.paint(branch, (0.33, 0.20, 0.11), roughness=0.8)
    stage.make_collider(branch)
    branch.sinew.friction = 0.35
