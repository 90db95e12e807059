# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of what activates a muscle beside its keys: its heads, its strength, and sources of activation."""

from __future__ import annotations

from ..serialisation.schema_constraints import at_least, closed_range
from .muscle_settings import MUSCLE
from .setting import (
    FILE,
    OBJECT,
    TABLE,
    TEXT,
    Choice,
    Setting,
    When,
    menu,
    weight_group,
)

NO_SOURCE, BY_LENGTH, BY_POSE, FROM_DATA = "NONE", "LENGTH", "POSE", "DATA"
SOURCES = (BY_LENGTH, BY_POSE, FROM_DATA)
FROM_LENGTH = (*MUSCLE, When("activation_source", (BY_LENGTH,)))
FROM_POSE = (*MUSCLE, When("activation_source", (BY_POSE,)))
FROM_FILE = (*MUSCLE, When("activation_source", (FROM_DATA,)))
HAS_SOURCE = (*MUSCLE, When("activation_source", SOURCES))

MUSCLE_STRENGTH = Setting(
    "muscle_strength",
    "Strength",
    "Multiplies the activation of the muscle and of all its heads: 0.5 is half as strong",
    default=1.0,
    limits=closed_range(0.0, 1.0, "Strength"),
    is_share=True,
    when=MUSCLE,
    field="Muscle.strength",
    is_animated=True,
    since="0.3",
)
MUSCLE_HEADS = Setting(
    "muscle_heads",
    "Heads",
    "Parts of the muscle that contract each on its own, as the two heads of the biceps. Tets belong to the head that "
    "is painted most there; unpainted ones follow Activation alone",
    TABLE,
    when=MUSCLE,
    field="Muscle.heads",
    since="0.3",
)
# of one head
HEAD_GROUP = weight_group("group", "Head Group", "Where the head is: the vertex group or attribute with its weights")
HEAD_ACTIVATION = Setting(
    "activation",
    "Head Activation",
    "How strongly this head contracts beside what Activation asks of the whole muscle. Their sum counts, at most 1",
    default=0.0,
    term="Activation a",
    limits=closed_range(0.0, 1.0, "Head Activation"),
    is_share=True,
    is_animated=True,
)
HEAD_SETTINGS = (HEAD_GROUP, HEAD_ACTIVATION)

ACTIVATION_SOURCE = menu(
    "activation_source",
    "Source",
    "What activates the muscle beside its keys. It is computed anew at every bake, and added to Activation",
    (
        Choice(NO_SOURCE, "None", "Keys and drivers alone", 0),
        Choice(BY_LENGTH, "By Length", "As its path from origin to insertion shortens, which bones bring about", 1),
        Choice(BY_POSE, "By Pose", "As stored for poses of the rig, and smoothly between them", 2),
        Choice(FROM_DATA, "From Data", "A column of a .csv file, or of a .sto or .mot file of OpenSim", 3),
    ),
    NO_SOURCE,
    when=MUSCLE,
    since="0.3",
)

FLEXED_SHAPE = Setting(
    "flexed_shape",
    "Flexed Shape",
    "Shape key that is the shape without stress where Activation is 1, with value 0 itself. Fibres pull all the same: "
    "lower Peak Stress if the muscle gets too short",
    TEXT,
    "",
    when=(*MUSCLE, When("rest_from_keys", (False,))),
    since="0.3",
)


def _time_constant(name: str, label: str, tooltip: str, default: float, symbol: str) -> Setting:
    """Returns a time constant of activation dynamics [s]."""
    return Setting(
        name,
        label,
        tooltip,
        default=default,
        term=f"Time constant {symbol}",
        unit="s",
        limits=at_least(0.0, label, "s"),
        soft=(None, 1.0),
        when=HAS_SOURCE,
        since="0.3",
    )


RISE_TIME = _time_constant(
    "rise_time", "Rise", "How long the source takes to 63 % of a higher activation that it jumps to", 0.05, "τ_act"
)
FALL_TIME = _time_constant(
    "fall_time", "Fall", "How long the source takes for 63 % of the way down when it drops", 0.10, "τ_deact"
)


def _shortening(name: str, label: str, tooltip: str, default: float) -> Setting:
    """Returns an end of the range of By Length."""
    return Setting(
        name,
        label,
        tooltip,
        default=default,
        term="Shortening 1 − L/L₀",
        limits=closed_range(-10.0, 1.0, label),
        soft=(-0.5, 0.5),
        when=FROM_LENGTH,
        since="0.3",
    )


SHORTENING_START = _shortening(
    "shortening_start",
    "Start",
    "Share of its length at rest by which the path has shortened where activation begins. Below 0, it is stretched",
    0.0,
)
SHORTENING_FULL = _shortening(
    "shortening_full",
    "Full",
    "Share by which the path has shortened where activation is 1. Below Start, stretching activates",
    0.25,
)
LENGTH_RESPONSE = Setting(
    "length_response",
    "Response",
    "Curve of activation over the range. 1: even, above 1: late, as 2 is a parabola, below 1: early. Points replace it",
    default=1.0,
    term="Exponent p of sᵖ",
    limits=closed_range(0.05, 20.0, "Response"),
    soft=(0.25, 4.0),
    precision=2,
    when=FROM_LENGTH,
    since="0.3",
)
RESPONSE_POINTS = Setting(
    "response_points",
    "Response Points",
    "Points of a curve in place of Response: shares of the range from Start to Full, and the activation there",
    TABLE,
    when=FROM_LENGTH,
    since="0.3",
)
# of one point
POINT_SHARE = Setting(
    "share",
    "Share",
    "Share of the range from Start to Full",
    default=0.5,
    limits=closed_range(0.0, 1.0, "Share"),
    is_share=True,
)
POINT_ACTIVATION = Setting(
    "activation",
    "Activation",
    "Activation at this share of the range",
    default=0.5,
    term="Activation a",
    limits=closed_range(0.0, 1.0, "Activation"),
    is_share=True,
)
POINT_SETTINGS = (POINT_SHARE, POINT_ACTIVATION)
STRETCH_REFLEX = Setting(
    "stretch_reflex",
    "Stretch Reflex",
    "Activation while the path gets longer, for a stretch of its length at rest in a second. It brakes fast joints",
    default=0.0,
    unit="s",
    limits=at_least(0.0, "Stretch Reflex", "s"),
    soft=(None, 1.0),
    when=FROM_LENGTH,
    since="0.3",
)
VIA_POINTS = Setting(
    "via_points",
    "Via Points",
    "Objects that the path runs through from origin to insertion, such as the empties that Make Muscle finds",
    TABLE,
    when=FROM_LENGTH,
    since="0.3",
)
# of one via point
VIA_OBJECT = Setting("object", "Via Point", "The path runs through the origin of this object", OBJECT, None)
VIA_SETTINGS = (VIA_OBJECT,)

POSE_RIG = Setting(
    "pose_rig",
    "Rig",
    "Armature whose poses are stored. None: that of the muscle's first Armature modifier, or of its hooks",
    OBJECT,
    None,
    when=FROM_POSE,
    since="0.3",
)
ACTIVATION_POSES = Setting(
    "activation_poses",
    "Poses",
    "Activations at poses of the rig. Turns of its bones decide which poses are near",
    TABLE,
    when=FROM_POSE,
    since="0.3",
)
# of one pose
POSE_ACTIVATION = Setting(
    "activation",
    "Pose Activation",
    "Activation of the muscle in this pose",
    default=1.0,
    term="Activation a",
    limits=closed_range(0.0, 1.0, "Pose Activation"),
    is_share=True,
)
POSE_SETTINGS = (POSE_ACTIVATION,)

ACTIVATION_FILE = Setting(
    "activation_file",
    "File",
    "A .csv, .sto or .mot file: a line of names, then rows of numbers. Times are in the column time, or in the first",
    FILE,
    "",
    when=FROM_FILE,
    since="0.3",
)
ACTIVATION_COLUMN = Setting(
    "activation_column",
    "Column",
    "Name of the column with the activation of this muscle",
    TEXT,
    "",
    when=FROM_FILE,
    since="0.3",
)
DATA_OFFSET = Setting(
    "data_offset",
    "Time Offset",
    "Time after the first frame at which the time 0 of the file is",
    default=0.0,
    unit="s",
    limits=closed_range(-1.0e6, 1.0e6, "Time Offset"),
    soft=(-10.0, 10.0),
    when=FROM_FILE,
    since="0.3",
)
DATA_SCALE = Setting(
    "data_scale",
    "Scale",
    "Multiplies the values of the column: 0.01 for per cent. What is below 0 or above 1 counts as 0 or 1",
    default=1.0,
    limits=at_least(0.0, "Scale"),
    soft=(None, 10.0),
    precision=4,
    when=FROM_FILE,
    since="0.3",
)
ACTIVATION_SETTINGS = (
    MUSCLE_STRENGTH,
    MUSCLE_HEADS,
    FLEXED_SHAPE,
    ACTIVATION_SOURCE,
    SHORTENING_START,
    SHORTENING_FULL,
    LENGTH_RESPONSE,
    RESPONSE_POINTS,
    STRETCH_REFLEX,
    VIA_POINTS,
    POSE_RIG,
    ACTIVATION_POSES,
    ACTIVATION_FILE,
    ACTIVATION_COLUMN,
    DATA_OFFSET,
    DATA_SCALE,
    RISE_TIME,
    FALL_TIME,
)
