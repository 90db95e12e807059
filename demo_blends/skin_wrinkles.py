# SPDX-License-Identifier: GPL-3.0-or-later
"""A forehead of flesh under a skin sheet: a shape key raises the brow, and the skin wrinkles."""

from __future__ import annotations

import bpy
import numpy as np

import stage

FRAMES = 24
ROUND, TILT = 0.085, 0.35  # radius of the head across, and how far the hairline lies back over the height [m]
WIDTH, HEIGHT, DEPTH = 0.15, 0.075, 0.010  # of the forehead [m], along the skin, upwards, inwards
FLESH_CELL, SKIN_CELL = 0.006, 0.0024  # edges of faces [m]
GAP = 0.0018  # between skin and flesh [m], which wrinkles sink into
RAISED = 0.017  # by which the brow is raised [m]
REST, UP = 4, 16  # frames
SKIN_STIFFNESS, SKIN_THICKNESS = 4.0e5, 0.0007  # [Pa], [m]
FLESH_STIFFNESS = 6.0e3  # [Pa]
SKIN, FAT = (0.80, 0.50, 0.38), (0.75, 0.25, 0.20)


def build() -> None:
    """Builds the scene in a new file."""
    stage.empty_scene(FRAMES)
    flesh = _flesh()
    skin = _skin()
    stage.select(flesh)
    skin.select_set(True)
    bpy.ops.sinew.attach(kind="SPRING", reach=0.006)
    skin.sinew.attachments[0].collides = True  # or it would fold into the flesh
    stage.light_and_camera((0.15, -0.36, 0.14), (0.0, 0.015, 0.040), lens=92.0)


def _places(u: np.ndarray, v: np.ndarray, depth: np.ndarray | float) -> np.ndarray:
    """Returns places of the forehead [m], (n, 3): along the skin, upwards, and inwards [m]."""
    angle, radius = u / ROUND, ROUND - depth
    lean = TILT * v * v / HEIGHT
    return np.stack([radius * np.sin(angle), ROUND - radius * np.cos(angle) + lean, v], axis=1)


def _grid(cell: float, depth: float) -> tuple[np.ndarray, np.ndarray]:
    """Returns places on a layer of the forehead [m], and its quads, which look outward."""
    count_u, count_v = round(WIDTH / cell), round(HEIGHT / cell)
    u, v = np.meshgrid(
        WIDTH * (np.arange(count_u + 1) / count_u - 0.5), HEIGHT * np.arange(count_v + 1) / count_v, indexing="ij"
    )
    number = np.arange(u.size).reshape(u.shape)
    corners = (number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:])
    return _places(u.ravel(), v.ravel(), depth), np.stack([c.ravel() for c in corners], axis=1)


def _object(name: str, places: np.ndarray, faces: list[list[int]]) -> bpy.types.Object:
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(places.tolist(), [], faces)
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    stage.smooth(obj)
    return obj


def _flesh() -> bpy.types.Object:
    """Returns the flesh, whose back a shape key raises at the brow and leaves at the hairline."""
    front, quads = _grid(FLESH_CELL, 0.0)
    back, _ = _grid(FLESH_CELL, DEPTH)
    count = len(front)
    sides = np.stack([quads, np.roll(quads, -1, axis=1)], axis=2).reshape(-1, 2)
    one_way = {tuple(side) for side in sides.tolist()}
    border = [side for side in sides.tolist() if (side[1], side[0]) not in one_way]
    faces = [*quads.tolist(), *(quads[:, ::-1] + count).tolist()]
    faces += [[b, a, a + count, b + count] for a, b in border]
    places = np.concatenate([front, back])
    flesh = _object("Flesh", places, faces)
    stage.paint(flesh, FAT, 0.5)
    stage.make_body(flesh, "JELLY", tet_size=FLESH_CELL)
    flesh.sinew.youngs_modulus, flesh.sinew.density = FLESH_STIFFNESS, 950.0
    flesh.sinew.poisson_ratio = 0.45
    held = flesh.vertex_groups.new(name="Skull")
    held.add(list(range(count, 2 * count)), 1.0, "REPLACE")
    flesh.sinew.pin_group = held.name
    _raise_brow(flesh, places, np.repeat([0.0, DEPTH], count))
    return flesh


def _raise_brow(obj: bpy.types.Object, places: np.ndarray, depth: np.ndarray | float) -> None:
    """Keys a shape that moves places [m], so far inside [m], up: most at the brow, and not at the hairline."""
    obj.shape_key_add(name="Basis")
    raised = obj.shape_key_add(name="Brow Raised")
    v = places[:, 2]
    u = np.arctan2(places[:, 0], ROUND - places[:, 1] + TILT * v**2 / HEIGHT) * ROUND
    moved = _places(u, v + RAISED * (1.0 - v / HEIGHT), depth)
    raised.data.foreach_set("co", moved.astype(np.float32).ravel())
    for frame, value in ((REST, 0.0), (UP, 1.0)):
        raised.value = value
        raised.keyframe_insert("value", frame=frame)


def _skin() -> bpy.types.Object:
    """Returns the skin over it, whose borders at brow and hairline are led."""
    places, quads = _grid(SKIN_CELL, -GAP)
    skin = _object("Skin", places, quads.tolist())
    stage.paint(skin, SKIN, 0.45)
    stage.select(skin)
    bpy.ops.sinew.make_body()
    bpy.ops.sinew.make_sheet()
    own = skin.sinew
    own.sheet_preset = "SKIN"
    own.youngs_modulus, own.sheet_thickness = SKIN_STIFFNESS, SKIN_THICKNESS
    own.body_thickness = SKIN_THICKNESS  # the distance that it keeps from the flesh
    ends = skin.vertex_groups.new(name="Brow and Hairline")
    height = places[:, 2]
    ends.add(np.flatnonzero((height < 1e-6) | (height > HEIGHT - 1e-6)).tolist(), 1.0, "REPLACE")
    own.pin_group = ends.name
    _raise_brow(skin, places, -GAP)
    return skin
