# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of the whole scene: frames, steps, accuracy, and where the cache lies."""

from __future__ import annotations

from ..serialisation.schema_constraints import at_least, closed_range, open_range
from .setting import FOLDER, TEXT, Choice, Setting, When, integer, menu, switch, temperature

MAX_FRAME_NUMBER = 1_048_574  # Blender's largest frame number of a Mesh Cache modifier
FRAME_LIMITS = closed_range(-MAX_FRAME_NUMBER, MAX_FRAME_NUMBER, "The frame range")
OWN_RANGE, HAS_REST_FRAME = When("use_scene_range", (False,)), When("use_rest_frame", (True,))

SUBSTEPS = integer(
    "substeps",
    "Substeps Per Frame",
    "Time steps per frame. More are slower, damp less and handle faster collisions",
    4,
    closed_range(1, 100_000, "Substeps Per Frame"),
    maximum=1000,
    soft=(None, 20),
    field="Settings.substeps",
)
SAMPLES_PER_FRAME = integer(
    "samples_per_frame",
    "Samples Per Frame",
    "Shapes stored per frame, for motion blur, and how often animated inputs are read. Must divide Substeps Per Frame",
    1,
    closed_range(1, 100, "Samples Per Frame"),
    maximum=64,
    soft=(None, 8),
    field="Settings.samples_per_frame",
)
SPEED = Setting(
    "speed",
    "Speed",
    "How fast time passes for all bodies: 0.25 is slow motion, 0 stands still. Animated objects keep to their frames",
    default=1.0,
    term="Speed Multiplier of Blender's cloth",
    limits=at_least(0.0, "Speed"),
    soft=(None, 2.0),
    step=10,
    field="Settings.speed",
    is_animated=True,
    since="0.3",
)
AIR_TEMPERATURE = temperature(
    "air_temperature",
    "Air Temperature",
    "Temperature of the air around bodies with Heat",
    20.0,
    soft=(-50.0, 500.0),
    field="Settings.air_temperature",
    is_animated=True,
)
PREROLL = integer(
    "preroll",
    "Pre-Roll",
    "Frames simulated before the first one and not stored, in which bodies settle and move into their pose",
    0,
    closed_range(0, MAX_FRAME_NUMBER, "Pre-roll"),
    maximum=10000,
    soft=(None, 100),
    when=(When("use_rest_frame", (False,)),),
    changes_bake=False,  # the number of frames that it comes to is in the digest
)
POSE_TOLERANCE = Setting(
    "pose_tolerance",
    "Pose Tolerance",
    "Accuracy of Follow Pose. Smaller is slower",
    default=1.0e-3,
    term="Relative residual of the equilibrium",
    limits=open_range(0.0, 1.0, "Pose Tolerance"),
    minimum=1.0e-10,
    maximum=0.1,
    precision=6,
    step=0.1,
    field="Settings.pose_tolerance",
)
POSE_ITERATIONS = integer(
    "pose_iterations",
    "Max Pose Iterations",
    "Most Newton iterations per frame of Follow Pose. A frame that reaches this is marked on the timeline",
    100,
    at_least(1, "Max Pose Iterations"),
    maximum=10000,
    soft=(None, 500),
    field="Settings.pose_iterations",
)
TOLERANCE = Setting(
    "tolerance",
    "Tolerance",
    "Accuracy of each step. Smaller is slower",
    default=1.0e-4,
    term="Relative residual ‖b − A v‖ / ‖b‖",
    limits=open_range(0.0, 1.0, "Tolerance"),
    minimum=1.0e-12,
    maximum=0.1,
    precision=6,
    step=0.01,
    field="Settings.tolerance",
)
MAX_ITERATIONS = integer(
    "max_iterations",
    "Max Iterations",
    "Most iterations of the linear solver per step. A step that reaches this is reported",
    400,
    at_least(1, "Max Iterations"),
    maximum=100000,
    soft=(None, 2000),
    field="Settings.max_iterations",
)

FOLLOW_BAKE = switch(
    "follow_bake",
    "Playhead Follows",
    "While a bake runs, the playhead goes along with its frames, until you move or play it yourself",
    True,
    changes_bake=False,
    since="0.3",
)

PLAY_SIMULATES = switch(
    "play_simulates",
    "Play Simulates",
    "Play bakes the frames that are missing or out of date, as Blender's own physics does. The playhead waits "
    "for them, and stopping keeps them. A bake that is up to date or protected only plays",
    False,
    changes_bake=False,
    since="0.3",
)

FINAL, PREVIEW = "FINAL", "PREVIEW"
DETAIL = menu(
    "bake_detail",
    "Detail",
    "How many tets bodies with Preview Tets get. Bakes without a window are final",
    (
        Choice(FINAL, "Final", "Bodies get the tets that their Size says", 0),
        Choice(PREVIEW, "Preview", "Bodies with Preview Tets get these: faster, and the motion differs", 1),
    ),
    FINAL,
    changes_bake=False,  # at Preview, the digest has the tets of each body
    since="0.3",
)

CONTACT = menu(
    "contact",
    "Contact",
    "How bodies are kept apart",
    (
        Choice("FAST", "Fast", "Bodies yield where they touch, and may overlap a little. For all kinds of bodies", 0),
        Choice(
            "EXACT",
            "Exact",
            "What does not intersect at the start never will, at any speed. Slower, and not yet for all bodies",
            1,
        ),
    ),
    "FAST",
    field="Settings.contact",
    since="0.3",
)

FRAME_SETTINGS = (
    switch(
        "use_scene_range",
        "Scene Frame Range",
        "Bake the frames of the scene. The first one is the start state",
        True,
        changes_bake=False,
    ),
    # the frames that these come to are in the digest
    integer(
        "frame_start", "Start", "First frame of the bake, its start state", 1, FRAME_LIMITS, when=(OWN_RANGE,),
        changes_bake=False,
    ),
    integer("frame_end", "End", "Last frame of the bake", 250, FRAME_LIMITS, when=(OWN_RANGE,), changes_bake=False),
    FOLLOW_BAKE,
    PLAY_SIMULATES,
)  # fmt: skip
STEP_SETTINGS = (SUBSTEPS, SAMPLES_PER_FRAME, SPEED, CONTACT)
REST_SETTINGS = (
    switch(
        "use_rest_frame",
        "Rest Frame",
        "Choose the frame at which bodies have no stress, such as a T-pose. Off: the first baked frame",
    ),
    integer(
        "rest_frame",
        "Rest Frame",
        "Frame at which bodies have no stress, such as a T-pose. "
        "If it is before the first, the frames between are simulated but not stored",
        0,
        FRAME_LIMITS,
        when=(HAS_REST_FRAME,),
    ),
    PREROLL,
)
SOLVER_SETTINGS = (POSE_TOLERANCE, POSE_ITERATIONS, TOLERANCE, MAX_ITERATIONS)
LOCK_BAKE = switch(
    "protect",
    "Lock Bake",
    "Keep this bake: Simulate and Delete Bake are refused until this is off",
    changes_bake=False,
)
SHOW_CONTACTS = switch(
    "show_contacts",
    "Show Contacts",
    "Show the contacts of this frame in the viewport: a dot, the normal, and an arrow for the force on the body",
    changes_bake=False,
)
CACHE_SETTINGS = (
    Setting(
        "take",
        "Take",
        "Name of this attempt. Each take has its own cache, so a good one can be kept",
        TEXT,
        "",
        changes_bake=False,
    ),
    Setting(
        "cache_path",
        "Cache",
        "Folder of the cache. Empty: beside the .blend file, by its name and the take",
        FOLDER,
        "",
        changes_bake=False,
    ),
)
