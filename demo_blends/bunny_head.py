# SPDX-License-Identifier: GPL-3.0-or-later
"""A bunny's head on a hinge is pulled by a hand: a rigid skull, and soft skin and ears that follow it.

After Müller, Dorsey, McMillan, Jagnow and Cutler 2002, section 4.3 and figure 12: all bone tets are one rigid body that
turns about a fixed axis, and a spring attaches it to the mouse.
"""

from __future__ import annotations

import math

import bpy
import numpy as np

import fused
import stage

FPS = 25  # four steps a frame are the paper's 10 ms
FRAMES = 90
VOXEL = 0.011
TRIANGLES = 5_000
FUR, INNER, DARK, HAND = (0.55, 0.47, 0.40), (0.80, 0.52, 0.48), (0.02, 0.02, 0.02), (0.85, 0.12, 0.06)
EARS = 0.16  # they begin at this height [m]
NECK = (-0.03, 0.0, -0.13)
# frame → where the hand is [m]
WAY = (
    (1, (0.06, 0.0, 0.20)),
    (6, (0.06, 0.0, 0.20)),
    (14, (0.06, -0.20, 0.13)),
    (22, (0.06, 0.20, 0.13)),
    (30, (0.06, -0.20, 0.13)),
    (38, (0.06, 0.20, 0.13)),
    (46, (0.06, 0.0, 0.20)),
)


def build() -> None:
    """Builds the scene in a new file; the bunny looks along x."""
    stage.empty_scene(FRAMES, FPS)
    head = _head()
    stage.make_body(head, "FLESH", tet_size=0.0634)
    own = head.sinew
    own.youngs_modulus, own.poisson_ratio, own.density = 6.0e4, 0.33, 200.0
    own.stiffness_damping, own.mass_damping = 0.01, 0.0
    own.use_core, own.core_skin_thickness, own.core_group = True, 0.012, _skull(head)
    own.core_hinge, own.core_pull = _neck(), _hand()
    own.core_pull_stiffness, own.core_pull_damping = 2000.0, 40.0
    stage.light_and_camera((1.5, -0.5, 0.30), (0.0, 0.0, 0.14), lens=42.0)


def _skull(head: bpy.types.Object) -> str:
    """Returns the name of a group of all but the ears, under which the skull lies."""
    below = [v.index for v in head.data.vertices if v.co.z < EARS]
    head.vertex_groups.new(name="Skull").add(below, 1.0, "REPLACE")
    return "Skull"


def _neck() -> bpy.types.Object:
    """Returns what the head turns about: an axis from its back to its front."""
    neck = bpy.data.objects.new("Neck", None)
    neck.location, neck.rotation_euler = NECK, (0.0, math.radians(90), 0.0)
    neck.empty_display_type, neck.empty_display_size = "SINGLE_ARROW", 0.3
    bpy.context.scene.collection.objects.link(neck)
    return neck


def _hand() -> bpy.types.Object:
    """Returns a ball that takes hold of the forehead and goes from side to side."""
    hand = fused.ball(WAY[0][1], (0.028, 0.028, 0.028))
    hand.name = "Hand"
    stage.smooth(hand)
    stage.paint(hand, HAND, 0.3)
    stage.key_places(hand, *WAY)
    return hand


def _head() -> bpy.types.Object:
    """Returns the head, 0.6 m tall to the tips of its ears."""
    middle = [
        fused.ball((-0.02, 0, 0.03), (0.165, 0.135, 0.14)),
        fused.ball((0.10, 0, -0.02), (0.095, 0.085, 0.08)),
        fused.tube([(-0.03, 0, -0.02), (-0.05, 0, -0.12), (-0.06, 0, -0.17)], [0.10, 0.09, 0.095]),
    ]
    one_side = [
        fused.ball((0.085, 0.055, -0.055), (0.07, 0.06, 0.05)),
        fused.tube(
            [(-0.06, 0.055, 0.12), (-0.09, 0.085, 0.25), (-0.10, 0.105, 0.38), (-0.085, 0.11, 0.47)],
            [0.044, 0.056, 0.056, 0.044],
            0.7,
            (1, 0, 0),
        ),
        fused.ball((0.075, 0.095, 0.055), (0.026, 0.024, 0.026)),
    ]
    nose = fused.ball((0.186, 0, 0.0), (0.018, 0.022, 0.015))
    head = fused.fuse("Bunny", [*middle, nose, *fused.mirrored(one_side)], VOXEL, TRIANGLES, 4)
    fused.colour(head, _fur, 0.7, "Fur")
    return head


def _fur(points: np.ndarray) -> np.ndarray:
    """Grey brown, with rosy ears and nose and dark eyes."""
    x, y, z = points.T
    colours = np.array(FUR) * (1.0 + 0.2 * fused.spots(points, 0.05, 4)[:, None].clip(-1, 1))
    colours[(z > 0.22) & (x > -0.078) & (z < 0.43)] = INNER
    colours[(x > 0.185) & (np.abs(z) < 0.022)] = INNER
    colours[np.hypot(np.hypot(x - 0.08, np.abs(y) - 0.105), z - 0.06) < 0.024] = DARK
    return colours


if __name__ == "__main__":
    build()
