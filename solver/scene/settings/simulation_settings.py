# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of the whole scene: frames, steps, accuracy, and where the cache lies."""

from __future__ import annotations

from ..serialisation.field_constraints import at_least, closed_range, open_range
from .setting import FOLDER, TEXT, Setting, When, integer, switch, temperature

MAX_FRAME_NUMBER = 1_048_574  # Blender's largest frame number of a Mesh Cache modifier
FRAME_LIMITS = closed_range(-MAX_FRAME_NUMBER, MAX_FRAME_NUMBER, "The frame range")
OWN_RANGE, HAS_REST_FRAME = When("use_scene_range", (False,)), When("use_rest_frame", (True,))

SUBSTEPS = integer(
    "substeps",
    "Substeps per Frame",
    "Time steps per frame. More are slower, damp less and catch faster collisions",
    4,
    closed_range(1, 100_000, "Substeps per Frame"),
    maximum=1000,
    soft=(None, 20),
    field="Settings.substeps",
)
SAMPLES_PER_FRAME = integer(
    "samples_per_frame",
    "Samples per Frame",
    "Shapes written per frame, for motion blur of fast rotation. Has to divide the Substeps per Frame",
    1,
    closed_range(1, 100, "Samples per Frame"),
    maximum=64,
    soft=(None, 8),
    field="Settings.samples_per_frame",
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
    "Frames simulated before the first one and not written: everything moves from the rest pose to that of the first "
    "frame, and settles",
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
    "Unbalanced force, relative to the force that holds the body, at which Follow Pose stops",
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
    "Pose Iterations",
    "Newton iterations that Follow Pose may take for a frame. A frame that reaches this is marked on the timeline",
    100,
    at_least(1, "Pose Iterations"),
    maximum=10000,
    soft=(None, 500),
    field="Settings.pose_iterations",
)
TOLERANCE = Setting(
    "tolerance",
    "Tolerance",
    "The linear solver of a step stops there",
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
    "Iterations of the linear solver per step. A step that reaches this is reported",
    400,
    at_least(1, "Max Iterations"),
    maximum=100000,
    soft=(None, 2000),
    field="Settings.max_iterations",
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
)  # fmt: skip
STEP_SETTINGS = (SUBSTEPS, SAMPLES_PER_FRAME)
REST_SETTINGS = (
    switch(
        "use_rest_frame",
        "Rest Frame",
        "Bodies have no stress in the pose of a frame that you choose. Off: in that of the first frame of the bake",
    ),
    integer(
        "rest_frame",
        "Rest Frame",
        "Frame whose pose has no stress, such as a T-pose. "
        "The frames between it and the first one are simulated and not written",
        0,
        FRAME_LIMITS,
        when=(HAS_REST_FRAME,),
    ),
    PREROLL,
)
SOLVER_SETTINGS = (POSE_TOLERANCE, POSE_ITERATIONS, TOLERANCE, MAX_ITERATIONS)
CACHE_SETTINGS = (
    Setting(
        "take",
        "Take",
        "Name of this attempt. Each take has a cache of its own, so that a good one can be kept",
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
    switch(
        "protect",
        "Protect",
        "Keep this bake: Simulate and Delete Bake are refused until this is off",
        changes_bake=False,
    ),
    switch(
        "show_contacts",
        "Contacts",
        "Draw contacts of this frame in the viewport: a dot, the normal, and an arrow for the force on the body",
        changes_bake=False,
    ),
)
