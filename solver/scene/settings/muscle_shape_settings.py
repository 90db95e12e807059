# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of the shape of muscles that Draw Muscle has made: a change rebuilds the mesh, which is what bakes read."""

from __future__ import annotations

from ..serialisation.schema_constraints import closed_range, greater_than
from .muscle_settings import MUSCLE
from .setting import METRE, RADIAN, Choice, Setting, integer, length, menu

HALF_TURN = 3.141592653589793  # [rad]
MOST_HEADS = 4

PROFILE = menu(
    "muscle_profile",
    "Profile",
    "How wide and thick the muscle is along its length",
    (
        Choice("BELLY", "Belly", "Thickest in the middle, round tendons at both ends: biceps", 0),
        Choice("FAN", "Fan", "A wide thin origin that runs together to a tendon: pectoral, deltoid", 1),
        Choice("STRAP", "Strap", "As wide all along, with flat ends: sartorius, rectus abdominis", 2),
    ),
    "BELLY",
    when=MUSCLE,
    changes_bake=False,
    since="0.3",
)
ORIGIN_COUNT = integer(
    "origin_count",
    "Heads",
    "Number of origins side by side, which run together to one muscle. Each has a vertex group, Head 1 and so on",
    1,
    closed_range(1, MOST_HEADS, "Heads"),
    when=MUSCLE,
    changes_bake=False,
    since="0.3",
)
WIDTH = length(
    "muscle_width",
    "Width",
    "Of the muscle where it is widest",
    0.1,
    limits=greater_than(0.0, "Width", METRE),
    soft=(0.005, 1.0),
    precision=4,
    when=MUSCLE,
    changes_bake=False,
    since="0.3",
)
SHAPE_THICKNESS = length(
    "muscle_thickness",
    "Thickness",
    "Of the muscle where it is thickest, across its width",
    0.08,
    limits=greater_than(0.0, "Thickness", METRE),
    soft=(0.005, 1.0),
    precision=4,
    when=MUSCLE,
    changes_bake=False,
    since="0.3",
)
ROLL = Setting(
    "muscle_roll",
    "Roll",
    "Turns the width of the muscle about its length",
    default=0.0,
    unit=RADIAN,
    limits=closed_range(-HALF_TURN, HALF_TURN, "Roll"),
    precision=1,
    step=100,
    when=MUSCLE,
    changes_bake=False,
    since="0.3",
)
SHAPE_GAP = length(
    "muscle_gap",
    "Gap",
    "Distance that the surface keeps from bone meshes and from other muscles, which it is kept out of",
    soft=(None, 0.05),
    precision=4,
    when=MUSCLE,
    changes_bake=False,
    since="0.3",
)
MUSCLE_SHAPE_SETTINGS = (PROFILE, ORIGIN_COUNT, WIDTH, SHAPE_THICKNESS, ROLL, SHAPE_GAP)
