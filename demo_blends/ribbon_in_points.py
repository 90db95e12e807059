# SPDX-License-Identifier: GPL-3.0-or-later
"""Two ribbons are swung and twisted at one end: the left one by itself, the right one carried by points scattered
around it (Sifakis 2007, figure 6.6)."""

from __future__ import annotations

import bmesh
import bpy
import numpy as np

import stage

FRAMES = 60
LENGTH, WIDTH, CELLS = 0.56, 0.07, (40, 5)  # of a ribbon [m], and its quads
APART, HEIGHT = 0.30, 0.62  # from one to the other, and of their held ends [m]
HELD = 0.016  # how far from its end a ribbon is held [m]
SWING, TWIST = 0.09, 2.6  # to either side [m], and there and back [rad]
RED, BLUE, GOLD = (0.60, 0.08, 0.06), (0.06, 0.20, 0.45), (0.85, 0.60, 0.20)


def build() -> None:
    """Builds the scene in a new file."""
    stage.empty_scene(FRAMES)
    for name, sign, colour, is_carried in (("By Itself", -1.0, RED, False), ("Carried", 1.0, BLUE, True)):
        ribbon = _ribbon(name)
        stage.paint(ribbon, colour, 0.45)
        stage.add_material(ribbon, f"{name} Stripe", GOLD, 0.35)
        _stripe(ribbon)
        stage.smooth(ribbon)
        rig = stage.hold(ribbon, **{f"{name} End": lambda points: points[:, 2] > -HELD})
        ribbon.location = rig.location = (0.5 * sign * APART, 0.0, HEIGHT)
        _key(rig, f"{name} End")
        _make_body(ribbon, is_carried)
    stage.light_and_camera((0.0, -1.75, 0.55), (0.0, 0.0, 0.36), lens=50.0)


def _ribbon(name: str) -> bpy.types.Object:
    """Returns a ribbon that hangs down from the origin."""
    made = bmesh.new()
    rows = [
        [made.verts.new((x, 0.0, z)) for x in np.linspace(-0.5, 0.5, CELLS[1] + 1) * WIDTH]
        for z in np.linspace(0.0, -LENGTH, CELLS[0] + 1)
    ]
    for one, other in zip(rows, rows[1:], strict=False):
        for k in range(CELLS[1]):
            made.faces.new((one[k], other[k], other[k + 1], one[k + 1]))
    return stage.add_object(made, name)


def _stripe(ribbon: bpy.types.Object) -> None:
    """Gives the middle column of faces the second material, so that twists are seen."""
    columns = np.arange(len(ribbon.data.polygons), dtype=np.int32) % CELLS[1]
    ribbon.data.polygons.foreach_set("material_index", (columns == CELLS[1] // 2).astype(np.int32))


def _key(rig: bpy.types.Object, bone: str) -> None:
    """Swings the held end to and fro, and twists it once there and back."""
    frames = ((1, 0.0, 0.0), (10, 1.0, 0.5), (20, -1.0, 1.0), (30, 1.0, 0.5), (40, 0.0, 0.0))
    stage.key_bone(
        rig, bone, *((frame, (swing * SWING, 0.0, 0.0), (0.0, 0.0, twist * TWIST)) for frame, swing, twist in frames)
    )


def _make_body(ribbon: bpy.types.Object, is_carried: bool) -> None:
    """Makes it a sheet, which the bone holds."""
    stage.select(ribbon)
    bpy.ops.sinew.make_body()
    settings = ribbon.sinew
    settings.method, settings.sheet_preset = "SHEET", "LEATHER"
    settings.sheet_points = is_carried
    settings.pin_group, settings.self_collision = "Hold", False
