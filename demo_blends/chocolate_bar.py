# SPDX-License-Identifier: GPL-3.0-or-later
"""A bar of chocolate is bent at its ends until it snaps, at the groove that is painted weaker."""

from __future__ import annotations

import bpy
import numpy as np

import stage
import swept

FRAMES = 48
ROWS, COLUMNS = 3, 6
SIDE = 0.026  # of a square [m]
THICK, GROOVE, SLOPE = 0.011, 0.0062, 0.0042
HIGH = 0.03  # of the lower side
CELLS = 6  # quads along a square
WEAK = 0.35  # strength along the groove in the middle
BROWN, INSIDE = (0.105, 0.035, 0.014), (0.16, 0.06, 0.028)


def build() -> None:
    """Builds the scene in a new file."""
    stage.empty_scene(FRAMES)
    bar = make_bar()
    half = 0.5 * COLUMNS * SIDE
    rig = stage.hold(bar, Left=lambda p: p[:, 0] < 0.8 * SIDE - half, Right=lambda p: p[:, 0] > half - 0.8 * SIDE)
    strength = bar.vertex_groups.new(name="Strength")
    for vertex in bar.data.vertices:
        strength.add([vertex.index], WEAK if abs(vertex.co.x) < 0.15 * SIDE else 1.0, "REPLACE")
    stage.make_body(bar, "CHOCOLATE", divisions=17)
    settings = bar.sinew
    settings.method = "ROBUST"
    settings.pin_group = "Hold"
    settings.use_fracture, settings.use_plasticity = True, True
    settings.strength_group = "Strength"
    settings.broken_material = stage.loose_material("Inside", INSIDE, 0.75)
    _snap(rig)
    stage.add_ground()
    stage.light_and_camera((0.11, -0.26, 0.21), (0.0, 0.0, 0.02), lens=50.0)


def _height(u: np.ndarray, count: int) -> np.ndarray:
    """Returns the height of the upper side at u squares from the edge, from the groove to the top of a square."""
    from_groove = np.minimum(u % 1.0, 1.0 - u % 1.0) * SIDE
    from_groove = np.where((u < 0.5) | (u > count - 0.5), np.minimum(u, count - u) * SIDE + 0.0012, from_groove)
    return np.clip(from_groove / SLOPE, 0.0, 1.0)


def make_bar() -> bpy.types.Object:
    """Returns a bar of squares with grooves between them, lying in the air."""
    places = np.sort(np.concatenate([np.linspace(0, 1, CELLS + 1)[:-1], [SLOPE / SIDE, 1.0 - SLOPE / SIDE]]))
    u = np.append((np.arange(COLUMNS)[:, None] + places).ravel(), COLUMNS)
    v = np.append((np.arange(ROWS)[:, None] + places).ravel(), ROWS)
    x, y = (grid.ravel() for grid in np.meshgrid(u, v, indexing="ij"))
    rise = np.minimum(_height(x, COLUMNS), _height(y, ROWS))
    count, wide = len(x), len(v)
    flat = np.column_stack([(x - COLUMNS / 2) * SIDE, (y - ROWS / 2) * SIDE])
    top = np.column_stack([flat, GROOVE + (THICK - GROOVE) * rise])
    bottom = np.column_stack([flat, np.zeros(count)])
    first = (np.arange(len(u) - 1)[:, None] * wide + np.arange(wide - 1)).ravel()
    squares = np.column_stack([first, first + wide, first + wide + 1, first + 1])
    rim = _rim(len(u), wide)
    sides = [(a + count, b + count, b, a) for a, b in zip(rim, np.roll(rim, -1), strict=True)]
    faces = [*squares.tolist(), *(squares[:, ::-1] + count).tolist(), *sides]
    corners = np.vstack([top, bottom])
    uvs = [[(corners[i][0] / SIDE / COLUMNS + 0.5, corners[i][1] / SIDE / ROWS + 0.5) for i in face] for face in faces]
    bar = swept.mesh_object("Bar", corners + [0.0, 0.0, HIGH], faces, uvs)
    bar.data.polygons.foreach_set("use_smooth", [False] * len(faces))
    stage.paint(bar, BROWN, roughness=0.28)
    return bar


def _rim(long: int, wide: int) -> np.ndarray:
    """Returns the corners on the rim of a grid, once around."""
    rows = np.arange(long) * wide
    return np.concatenate(
        [rows[:-1], rows[-1] + np.arange(wide - 1), rows[:0:-1] + wide - 1, np.arange(wide - 1, 0, -1)]
    )


def _snap(rig: bpy.types.Object) -> None:
    """Bends the ends down, pulling a little, until the bar snaps, and takes the halves apart."""
    for name, side in (("Left", -1.0), ("Right", 1.0)):
        stage.key_bone(
            rig, name,
            (1, (0, 0, 0), (0, 0, 0)), (6, (0, 0, 0), (0, 0, 0)), (16, (0.0008 * side, 0, 0), (0, 0.10 * side, 0)),
            (24, (0.004 * side, 0, 0.001), (0, 0.12 * side, 0)), (42, (0.03 * side, 0, 0.01), (0, 0.30 * side, 0)),
        )  # fmt: skip
