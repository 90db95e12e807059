# SPDX-License-Identifier: GPL-3.0-or-later
"""A cloth falls over a bust of Suzanne, drapes, and an empty grabs its middle and pulls it off."""

from __future__ import annotations

import bpy

import stage

FRAMES = 96
SIDE, CELLS = 1.15, 40  # of the cloth [m], and how many quads it has along a side
HEAD, HEIGHT = 0.24, 0.36  # size and place of Suzanne [m]
CLOTH_HEIGHT = 0.62  # over the ears [m]
GRIP_RADIUS = 0.05  # what the empty takes [m]
GRAB, GONE = 56, 84  # frames
PULLED_TO = (-0.40, 0.10, 1.28)  # [m]
VELVET, STONE = (0.42, 0.02, 0.05), (0.62, 0.60, 0.56)


def build() -> None:
    """Builds the scene in a new file."""
    stage.empty_scene(FRAMES)
    _bust()
    _hang_on_hand(_cloth())
    ground = stage.add_ground()
    ground.scale = (3.0, 3.0, 1.0)
    stage.light_and_camera((0.5, -2.3, 1.05), (-0.03, 0.0, 0.49), lens=41.0)


def _bust() -> None:
    """Adds Suzanne on a foot, of stone."""
    bpy.ops.mesh.primitive_monkey_add(size=2.0 * HEAD, location=(0.0, 0.0, HEIGHT))
    head = bpy.context.object
    head.name = "Suzanne"
    rounder = head.modifiers.new("Rounder", "SUBSURF")
    rounder.levels = rounder.render_levels = 1
    bpy.ops.mesh.primitive_cylinder_add(radius=0.09, depth=0.2, location=(0.0, 0.02, 0.1), vertices=32)
    foot = bpy.context.object
    foot.name = "Foot"
    for obj in (head, foot):
        stage.smooth(obj)
        stage.paint(obj, STONE, 0.6)
        stage.make_collider(obj)
        obj.sinew.friction = 0.25


def _cloth() -> bpy.types.Object:
    """Returns a square of cloth over the bust, a little turned."""
    bpy.ops.mesh.primitive_grid_add(
        x_subdivisions=CELLS, y_subdivisions=CELLS, size=SIDE, location=(0.0, 0.0, CLOTH_HEIGHT), rotation=(0, 0, 0.5)
    )
    cloth = bpy.context.object
    cloth.name = "Cloth"
    stage.smooth(cloth)
    stage.paint(cloth, VELVET, 0.8)
    stage.select(cloth)
    bpy.ops.sinew.make_body()
    cloth.sinew.body_friction = 0.25
    return cloth


def _hang_on_hand(cloth: bpy.types.Object) -> None:
    """Adds an empty that grabs the middle of the cloth and pulls it off."""
    hand = bpy.data.objects.new("Hand", None)
    hand.empty_display_size = 0.1
    bpy.context.scene.collection.objects.link(hand)
    top = (0.0, 0.0, CLOTH_HEIGHT)
    stage.key_places(hand, (1, top), (GRAB, top), (GONE, PULLED_TO))
    grip = cloth.vertex_groups.new(name="Grip")
    grip.add([v.index for v in cloth.data.vertices if v.co.length < GRIP_RADIUS], 1.0, "REPLACE")
    hand.select_set(True)
    bpy.ops.sinew.add_attachment()
    hand.select_set(False)
    row = cloth.sinew.attachments[0]
    row.group = grip.name
    for frame, is_on in ((1, False), (GRAB, True)):
        row.is_on = is_on
        row.keyframe_insert("is_on", frame=frame)
