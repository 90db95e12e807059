# SPDX-License-Identifier: GPL-3.0-or-later
"""The wrestler of belly.py without bones in his flesh: a goal holds him on his rig, and lets the belly go.

The goal is painted: 1 follows the armature and the shape key exactly, and the belly's front is nearly free.
"""

from __future__ import annotations

import bpy
import numpy as np

import belly
import stage

FRAMES = 60
LEAST_GOAL = 0.25  # at the navel


def build() -> None:
    """Builds the scene in a new file."""
    stage.empty_scene(FRAMES)
    body = belly.wrestler()
    belly.breathe(body)
    rig = belly.rig_of_wrestler()
    belly.weigh(body)
    _paint_goal(body)
    body.modifiers.new("Armature", "ARMATURE").object = rig
    stage.make_body(body, "FAT", tet_size=0.045)
    own = body.sinew
    own.youngs_modulus = 5.0e3
    own.use_goal, own.goal_strength, own.goal_group = True, 1.0, "Goal"
    own.goal_stiffness, own.goal_damping = 150.0, 0.05
    rounder = body.modifiers.new("Subdivision", "SUBSURF")
    rounder.levels, rounder.render_levels = 1, 1
    belly.hop(rig)
    belly.floor()
    stage.light_and_camera((2.45, -1.75, 0.75), (0.02, 0.0, 0.545), lens=49.0)


def _paint_goal(body: bpy.types.Object) -> None:
    """Gives every vertex a goal: 1 away from the belly, little at its front."""
    soft = np.zeros(len(body.data.vertices))
    group = body.vertex_groups["Belly"].index
    for vertex in body.data.vertices:
        soft[vertex.index] = next((each.weight for each in vertex.groups if each.group == group), 0.0)
    goal = body.vertex_groups.new(name="Goal")
    for i, weight in enumerate(1.0 - (1.0 - LEAST_GOAL) * soft):
        goal.add([i], float(weight), "REPLACE")
