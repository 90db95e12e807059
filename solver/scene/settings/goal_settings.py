# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of the goal of a body: how strongly it is pulled towards its animated mesh."""

from __future__ import annotations

from ..serialisation.schema_constraints import at_least, closed_range
from .setting import Setting, When, paint, switch
from .size_and_start_settings import FOLLOWS_NO_POSE

HAS_GOAL = When("use_goal", (True,))

USE_GOAL = switch(
    "use_goal",
    "Goal",
    "Pull the body towards its animated mesh (armature, shape keys), as the goal of Blender's soft bodies does",
    when=(FOLLOWS_NO_POSE,),
    since="0.3",
)
GOAL_STRENGTH = Setting(
    "goal_strength",
    "Strength",
    "1 follows the animation exactly, 0 leaves the body free, and between them the body lags and wobbles",
    default=0.7,
    limits=closed_range(0.0, 1.0, "Strength"),
    is_share=True,
    when=(FOLLOWS_NO_POSE, HAS_GOAL),
    field="Goal.strength",
    is_animated=True,
    since="0.3",
)
GOAL_GROUP = paint(
    "goal_group",
    "Goal Group",
    "the Strength of the goal",
    when=(FOLLOWS_NO_POSE, HAS_GOAL),
    field="Goal.paint",
    since="0.3",
)
GOAL_STIFFNESS = Setting(
    "goal_stiffness",
    "Goal Stiffness",
    "How hard the goal pulls at a Strength of 0.5. At 0.9 it is nine times as much. With 1000, a body sags by 1 cm",
    default=1000.0,
    term="Spring stiffness per mass",
    unit="1/s²",
    limits=at_least(0.0, "Goal Stiffness", "1/s²"),
    soft=(None, 100000.0),
    precision=1,
    step=1000,
    when=(FOLLOWS_NO_POSE, HAS_GOAL),
    field="Goal.stiffness",
    since="0.3",
)
GOAL_DAMPING = Setting(
    "goal_damping",
    "Goal Damping",
    "How soon a wobble about the animation ends: 0 goes on, 1 comes back without a swing",
    default=0.1,
    term="Damping ratio ζ",
    limits=at_least(0.0, "Goal Damping"),
    soft=(None, 1.0),
    when=(FOLLOWS_NO_POSE, HAS_GOAL),
    field="Goal.damping",
    since="0.3",
)
GOAL_SETTINGS = (USE_GOAL, GOAL_STRENGTH, GOAL_GROUP, GOAL_STIFFNESS, GOAL_DAMPING)
