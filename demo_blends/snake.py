# SPDX-License-Identifier: GPL-3.0-or-later
"""A snake is held by its tail and swung about: the elastic body of Müller and Gross 2004, table 1."""

from __future__ import annotations

import math

import bpy
import numpy as np

import stage
import swept

FPS = 25  # four steps a frame are the paper's 10 ms
FRAMES = 90
LENGTH = 1.25
THICK = 0.0675
RINGS = 86
SIDES = 8
HEIGHT = 2.0


def build() -> None:
    """Builds the scene in a new file."""
    stage.empty_scene(FRAMES, FPS)
    snake = _snake()
    rig = stage.hold(snake, Tail=lambda p: p[:, 0] > 0.36 * LENGTH)
    finer = snake.modifiers.new("Subdivision", "SUBSURF")
    finer.levels, finer.render_levels = 2, 2
    stage.make_body(snake, "JELLY", tet_size=0.0765)
    stage.of_table_1(snake, 1.0e5)
    snake.sinew.pin_group = "Hold"
    still = (0.0, 0.0, 0.0)
    places = ((0.0, 0.0, 0.0), (0.1, 0.0, 0.1), (-0.3, 0.1, 0.1), (0.1, -0.1, 0.1), (-0.3, 0.1, 0.1), (-0.2, 0.0, 0.0))
    turns = (still, still, (0.2, 0.3, 0.0), (-0.2, -0.3, 0.0), still, still)
    keys = zip((1, 14, 34, 54, 72, 86), places, turns, strict=True)
    stage.key_bone(rig, "Tail", *keys)
    stage.light_and_camera((0.9, -3.4, 2.0), (0.3, 0.0, 1.62), lens=50.0)


def _snake() -> bpy.types.Object:
    s = np.linspace(0.0, 1.0, 13)
    wave = 0.17 * np.sin(2.0 * math.pi * 1.75 * s) * (0.45 + 0.55 * s)
    path = swept.smooth_path(np.column_stack([LENGTH * (s - 0.5), wave, HEIGHT + 0.05 * np.cos(9.0 * s)]), RINGS)
    snake = swept.sweep("Snake", path, lambda s: THICK * _body(s), lambda s: THICK * 0.92 * _body(s, 0.8), SIDES)
    _skin(snake)
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
