# SPDX-License-Identifier: GPL-3.0-or-later
"""Two sheets of rubber, one half of each finer, are stretched: one gapes at its T-junctions, the other has them closed
(Sifakis 2007, figure 6.5)."""

from __future__ import annotations

from collections.abc import Callable

import bmesh
import bpy
import numpy as np

import stage

FRAMES = 60
SIDE, CELLS = 0.50, 6  # of a sheet [m], and how many quads its coarse half has across
APART, HEIGHT = 0.62, 0.45  # from one sheet to the other, and of their middles [m]
PULLED = 0.16  # by which either side is drawn out [m]
STRETCHED, HELD, LET_BACK = 24, 40, 50  # frames
RED, BLUE, INK = (0.60, 0.10, 0.07), (0.07, 0.20, 0.45), (0.03, 0.03, 0.03)


def build() -> None:
    """Builds the scene in a new file."""
    stage.empty_scene(FRAMES)
    for name, place, colour, is_closed in (("Gaping", -0.5, RED, False), ("Closed", 0.5, BLUE, True)):
        sheet = _sheet(name)
        stage.paint(sheet, colour, 0.5)
        rig = stage.hold(sheet, **{f"{name} Left": _is_at(-1.0), f"{name} Right": _is_at(1.0)})
        _make_body(sheet, is_closed)
        sheet.location = rig.location = (0.0, 0.0, HEIGHT + APART * place)
        for sign, side in ((-1.0, "Left"), (1.0, "Right")):
            still, out = (0.0, 0.0, 0.0), (sign * PULLED, 0.0, 0.0)
            keys = ((1, still), (STRETCHED, out), (HELD, out), (LET_BACK, still))
            stage.key_bone(rig, f"{name} {side}", *((frame, place, still) for frame, place in keys))
    stage.light_and_camera((0.0, -3.4, HEIGHT), (0.0, 0.0, HEIGHT), lens=60.0)


def _is_at(sign: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda points: sign * points[:, 0] > 0.5 * SIDE - 1.0e-4


def _sheet(name: str) -> bpy.types.Object:
    """Returns an upright sheet whose right half has edges half as long; both halves share every other vertex."""
    made, shared = bmesh.new(), {}
    for sign, cells in ((-1.0, CELLS), (1.0, 2 * CELLS)):
        across, along = np.linspace(-0.5, 0.5, cells + 1) * SIDE, np.linspace(0.0, 0.5, cells // 2 + 1) * SIDE
        verts = [[_vertex(made, shared, sign * x, z) for z in across] for x in along]
        for i in range(len(along) - 1):
            for k in range(cells):
                made.faces.new((verts[i][k], verts[i + 1][k], verts[i + 1][k + 1], verts[i][k + 1]))
    bmesh.ops.recalc_face_normals(made, faces=made.faces)
    return stage.add_object(made, name)


def _vertex(
    made: bmesh.types.BMesh, shared: dict[tuple[int, int], bmesh.types.BMVert], x: float, z: float
) -> bmesh.types.BMVert:
    """Returns the vertex at a place, which is one for both halves."""
    key = round(1.0e6 * x), round(1.0e6 * z)
    if key not in shared:
        shared[key] = made.verts.new((x, 0.0, z))
    return shared[key]


def _make_body(sheet: bpy.types.Object, is_closed: bool) -> None:
    """Makes it a sheet of rubber, which the bones hold."""
    stage.select(sheet)
    bpy.ops.sinew.make_body()
    settings = sheet.sinew
    settings.sheet_preset, settings.sheet_t_junctions = "RUBBER", is_closed
    settings.pin_group, settings.self_collision = "Hold", False
    stage.add_material(sheet, "Edges", INK)
    wires = sheet.modifiers.new("Edges", "WIREFRAME")
    wires.thickness, wires.use_replace, wires.material_offset = 0.005, False, 1
