# SPDX-License-Identifier: GPL-3.0-or-later
"""A ball of steel flies through a window that stands loosely in its frame, in slow motion."""

from __future__ import annotations

import math

import bpy

import stage
import swept

FRAMES, FPS = 54, 192  # eight times slower than it is
SIDE, THICK = 0.40, 0.008  # of the pane [m]
CELLS = 32
TETS = 1200  # about: the glass is a quarter of a tet thick
RIM = 0.012  # how far it reaches into the frame [m]
BAR, DEEP, SLOT = 0.045, 0.06, 0.002  # how wide and deep the frame's bars are, and the gap beside the pane [m]
MIDDLE = BAR + 0.5 * SIDE + 0.001  # height of the pane's middle [m]
BALL, STEEL = 0.036, 7850.0  # radius [m]; [kg/m³]
START, SPEED = -0.14, (0.4, 20.0, 0.6)  # y of the ball's middle at first [m]; [m/s]
AT = (0.02, 0.01)  # where it meets the pane, off its middle [m]
GLASS, CLARITY, INSIDE = (0.70, 0.88, 0.90), 0.30, (0.80, 0.95, 0.97)
WOOD, RED = (0.62, 0.60, 0.55), (0.50, 0.035, 0.03)
PLACE, TARGET = (0.37, 1.16, 0.43), (0.035, 0.05, 0.225)


def build() -> None:
    """Builds the scene in a new file."""
    stage.empty_scene(FRAMES, FPS)
    pane = _pane()
    stage.select(pane)
    bpy.ops.sinew.make_body()
    pane.sinew.preset = "GLASS"
    pane.sinew.tet_count = TETS
    pane.sinew.broken_material = _clear(stage.loose_material("Broken Glass", INSIDE, 0.1), 0.6)
    stage.make_collider(_frame())
    ball = _ball()
    stage.make_rigid(ball, STEEL)
    ball.sinew.initial_velocity, ball.sinew.initial_spin = SPEED, (-30.0, 0.0, 12.0)
    stage.add_ground()
    stage.light_and_camera(PLACE, TARGET, lens=38.0)


def _pane() -> bpy.types.Object:
    """Returns an upright plate across y."""
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=CELLS, y_subdivisions=CELLS, size=SIDE)
    pane = bpy.context.object
    pane.name = pane.data.name = "Pane"
    solid = pane.modifiers.new("Thickness", "SOLIDIFY")
    solid.thickness, solid.offset = THICK, 0.0
    bpy.ops.object.modifier_apply(modifier=solid.name)
    pane.rotation_euler.x = math.radians(90)
    bpy.ops.object.transform_apply(rotation=True)
    pane.location.z = MIDDLE
    stage.paint(pane, GLASS, 0.03)
    _clear(pane.data.materials[0], CLARITY)
    return pane


def _clear(material: bpy.types.Material, share: float) -> bpy.types.Material:
    """Lets one see through a material, and returns it."""
    material.node_tree.nodes["Principled BSDF"].inputs["Alpha"].default_value = share
    return material


def _frame() -> bpy.types.Object:
    """Returns four bars with a slot that the pane stands in, without touching it."""
    half, slot = 0.5 * SIDE, 0.5 * THICK + SLOT
    # across a bar: distance from the pane's edge outwards, and depth
    section = [
        (BAR, -0.5 * DEEP), (BAR, 0.5 * DEEP), (-RIM, 0.5 * DEEP), (-RIM, slot), (SLOT, slot), (SLOT, -slot),
        (-RIM, -slot), (-RIM, -0.5 * DEEP),
    ]  # fmt: skip
    turns = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
    vertices = [(a * (half + off), deep, b * (half + off)) for a, b in turns for off, deep in section]
    count = len(section)
    faces = [
        (count * c + k, count * c + (k + 1) % count, count * d + (k + 1) % count, count * d + k)
        for c, d in ((0, 1), (1, 2), (2, 3), (3, 0))
        for k in range(count)
    ]
    frame = swept.mesh_object("Frame", vertices, faces)
    frame.data.polygons.foreach_set("use_smooth", [False] * len(frame.data.polygons))
    frame.location.z = MIDDLE
    stage.paint(frame, WOOD, 0.5)
    return frame


def _ball() -> bpy.types.Object:
    """Returns a red ball in front of the pane."""
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=4, radius=BALL)
    ball = bpy.context.object
    ball.name = ball.data.name = "Ball"
    time = -START / SPEED[1]
    x, z = (place - speed * time for place, speed in zip(AT, SPEED[::2], strict=True))
    ball.location = (x, START, MIDDLE + z)
    stage.smooth(ball)
    stage.paint(ball, RED, 0.4)
    return ball
