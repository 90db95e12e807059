# SPDX-License-Identifier: GPL-3.0-or-later
"""A table of things to play with live: a jelly, a clay head, a wax candle, a bar of chocolate and a rubber duck.

Press Live, and take Grab Live or the Heat Gun from the toolbar. The text "Playground" in the file says what to try.
"""

from __future__ import annotations

import math

import bpy
import numpy as np
from mathutils import Matrix

import chocolate_bar
import clay_head
import fused
import jelly_bowl
import stage
import swept

FRAMES = 120
TABLE, TOP, HIGH = (1.16, 0.56), 0.035, 0.70  # its sides, how thick it is, and the height of its upper side [m]
LEG = 0.05
PREVIEW, FINAL = 400, 4000  # tets of each body
FPS = 30  # two steps a frame are live ones, of a sixtieth of a second
BLOCK, BAR_AT = (0.03, 0.09, 0.03), 0.42  # sides of the blocks below the bar, and where it lies [m]
WOOD, LETTERS = (0.34, 0.17, 0.075), (0.92, 0.90, 0.84)
RED, IVORY = (0.78, 0.03, 0.06), (0.88, 0.83, 0.70)
YELLOW, ORANGE, BLACK = (0.95, 0.66, 0.03), (0.9, 0.28, 0.02), (0.02, 0.02, 0.02)
NOTE = """Press Live below Simulate in the sidebar (N, Sinew), then take a tool from the toolbar (T).

Jelly       Grab Live: pull it and let go. Ctrl: push it with a ball. Turn Stiffness while it wobbles.
Clay head   Grab Live with Ctrl: press a dent into its cheek, and it stays. Keep makes a take of it.
Candle      Heat Gun: hold it on the wax until it runs. Ctrl cools it.
Chocolate   Grab Live with Ctrl: press the bar down between its blocks until it snaps.
Duck        Grab Live: lift it by its beak; Shift leaves it hanging. Soften Live makes its neck limp.

Esc ends the run, and all is as it was. Bodies have Preview Tets here, so that they run in real time;
Simulate bakes them with more.
"""


def build() -> None:
    """Builds the scene in a new file."""
    stage.empty_scene(FRAMES, FPS)
    _table()
    for make, x in ((_duck, -0.42), (_jelly, -0.19), (_head, 0.04), (_candle, 0.225), (_chocolate, BAR_AT)):
        _place(make(), x)
    for word, x in (("lift", -0.42), ("pull", -0.19), ("dent", 0.04), ("melt", 0.225), ("snap", BAR_AT)):
        _label(word, x)
    stage.add_ground()
    bpy.data.texts.new("Playground").write(NOTE)
    stage.light_and_camera((0.06, -1.30, 1.34), (0.0, 0.0, HIGH + 0.03), lens=40.0)


def _place(obj: bpy.types.Object, x: float) -> None:
    """Puts a body on the table, with fewer tets live than in a final bake."""
    obj.location.x, obj.location.z = x, obj.location.z + HIGH
    settings = obj.sinew
    settings.use_stretch_limit = True  # as for every new body
    settings.sizing, settings.tet_count = "COUNT", FINAL
    settings.use_preview_tets, settings.preview_tets = True, PREVIEW
    if obj.name in ("Duck", "Clay Head"):  # contacts are those of the mesh below, so it is no finer than they need
        obj.modifiers.new("Subdivision", "SUBSURF")


def _jelly() -> bpy.types.Object:
    jelly = jelly_bowl.make_flan()
    jelly.data.transform(Matrix.Scale(2.0, 4))
    jelly.name = "Jelly"
    jelly.location.z = 0.053
    stage.smooth(jelly)
    stage.paint(jelly, RED, roughness=0.12)
    stage.make_body(jelly, "JELLY")
    return jelly


def _head() -> bpy.types.Object:
    head = clay_head.make_head(0.0125)
    head.data.transform(Matrix.Scale(0.55, 4))
    head.name, head.rotation_euler.z, head.location.z = "Clay Head", math.radians(70), 0.0015
    stage.make_body(head, "CLAY")
    return head


def _candle() -> bpy.types.Object:
    """Returns a candle of wax that holds at its foot."""
    side = [(0.024, 0.004), (0.0255, 0.02), (0.0245, 0.07), (0.025, 0.125), (0.023, 0.136), (0.016, 0.139)]
    side = swept.smooth_path([(r, 0.0, z) for r, z in side], 26)[:, [0, 2]]
    candle = swept.lathe("Candle", [(0.0, 0.0), (0.021, 0.0), *side, (0.008, 0.137), (0.0, 0.136)], 28)
    stage.smooth(candle)
    stage.paint(candle, IVORY, roughness=0.35)
    candle.location.z = 0.0005
    foot = candle.vertex_groups.new(name="Foot")
    foot.add([v.index for v in candle.data.vertices if v.co.z < 0.006], 1.0, "REPLACE")
    stage.make_body(candle, "WAX")
    candle.sinew.pin_group, candle.sinew.use_heat = foot.name, True
    return candle


def _chocolate() -> bpy.types.Object:
    """Returns a bar of chocolate that lies on two blocks."""
    bar = chocolate_bar.make_bar()
    bar.location.z = BLOCK[2] - chocolate_bar.HIGH + 0.0005
    strength = bar.vertex_groups.new(name="Strength")
    for vertex in bar.data.vertices:
        groove = abs(vertex.co.x) < 0.15 * chocolate_bar.SIDE
        strength.add([vertex.index], chocolate_bar.WEAK if groove else 1.0, "REPLACE")
    stage.make_body(bar, "CHOCOLATE")
    bar.sinew.use_fracture, bar.sinew.strength_group = True, strength.name
    bar.sinew.broken_material = stage.loose_material("Inside", chocolate_bar.INSIDE, 0.75)
    return bar


def _duck() -> bpy.types.Object:
    """Returns a rubber duck that looks towards −y, 12 cm long."""
    eyes = [fused.ball((-0.046, 0.013, 0.097), (0.005, 0.005, 0.006))]
    wings = [fused.ball((0.012, 0.038, 0.046), (0.030, 0.012, 0.020), (0.3, 0.25, 0.0))]
    parts = [
        fused.ball((0.0, 0.0, 0.034), (0.058, 0.044, 0.034)),
        fused.ball((0.0, 0.0, 0.022), (0.044, 0.034, 0.0221)),
        fused.ball((-0.024, 0.0, 0.088), (0.030, 0.028, 0.028)),
        fused.ball((-0.018, 0.0, 0.062), (0.024, 0.024, 0.020)),
        fused.tube([(0.03, 0, 0.045), (0.055, 0, 0.058), (0.07, 0, 0.074)], [0.030, 0.020, 0.006], 0.8),
        fused.tube([(-0.045, 0, 0.083), (-0.060, 0, 0.082), (-0.072, 0, 0.084)], [0.014, 0.013, 0.008], 0.5),
    ]
    duck = fused.fuse("Duck", parts + fused.mirrored(eyes + wings), 0.0048, smoothing=1)
    fused.colour(duck, _plastic, 0.25, "Rubber")
    duck.rotation_euler.z = math.radians(55)
    duck.location.z = 0.002
    stage.make_body(duck, "RUBBER")
    return duck


def _plastic(points: np.ndarray) -> np.ndarray:
    """Yellow, with an orange beak and black eyes."""
    x, y, z = points.T
    colours = np.tile(YELLOW, (len(points), 1))
    colours[(x < -0.051) & (np.abs(z - 0.083) < 0.009) & (np.abs(y) < 0.016)] = ORANGE
    colours[np.hypot(np.hypot(x + 0.047, np.abs(y) - 0.014), z - 0.098) < 0.0065] = BLACK
    return colours


def _table() -> None:
    """Adds a table that bodies lie on, with the blocks of the bar, as one object."""
    wide, deep = TABLE
    boxes = [((0.0, 0.0, HIGH - 0.5 * TOP), (wide, deep, TOP))]
    for side in (-1.0, 1.0):
        boxes.append(((BAR_AT + side * 0.062, 0.0, HIGH + 0.5 * BLOCK[2]), BLOCK))
        for y in (-1.0, 1.0):
            place = (side * (0.5 * wide - LEG), y * (0.5 * deep - LEG), 0.5 * (HIGH - TOP))
            boxes.append((place, (LEG, LEG, HIGH - TOP)))
    parts = []
    for place, sides in boxes:
        bpy.ops.mesh.primitive_cube_add(size=1.0)
        parts.append(bpy.context.object)
        parts[-1].data.transform(Matrix.Translation(place) @ Matrix.Diagonal((*sides, 1.0)))
    stage.select(parts[0])
    for part in parts:
        part.location = (0.0, 0.0, 0.0)
        part.select_set(True)
    bpy.ops.object.join()
    parts[0].name = "Table"
    stage.paint(parts[0], WOOD, 0.5)
    stage.make_collider(parts[0])


def _label(word: str, x: float) -> None:
    """Writes a word on the table."""
    curve = bpy.data.curves.new(word, "FONT")
    curve.body, curve.size, curve.align_x, curve.extrude = word, 0.045, "CENTER", 0.0004
    label = bpy.data.objects.new(word, curve)
    label.location = (x, -0.5 * TABLE[1] + 0.04, HIGH + 0.0004)
    bpy.context.scene.collection.objects.link(label)
    curve.materials.append(stage.loose_material(word, LETTERS, 0.6))
