# SPDX-License-Identifier: GPL-3.0-or-later
"""How the whole scene is simulated and where its cache lies."""

from __future__ import annotations

import bpy
from bpy.props import BoolProperty, FloatProperty, IntProperty, StringProperty

from .property_options import ANIMATED_OPTIONS, FIXED_OPTIONS


def _place_changed(settings: SinewScene, _context: bpy.types.Context) -> None:
    from ..baking import attach_bake
    from ..cache import cache_paths, cache_status

    if not cache_paths.is_attaching_paused:
        cache_status.invalidate()
        attach_bake.attach(settings.id_data)


class SinewScene(bpy.types.PropertyGroup):
    """How the whole scene is simulated and where its cache lies."""

    use_scene_range: BoolProperty(
        name="Scene Frame Range",
        description="Bake the frames of the scene; the first one is the start state",
        default=True,
        **FIXED_OPTIONS,
    )
    frame_start: IntProperty(
        name="Start",
        description="First frame of the bake: the start state",
        default=1,
        min=-1048574,
        max=1048574,
        **FIXED_OPTIONS,
    )
    frame_end: IntProperty(
        name="End", description="Last frame of the bake", default=250, min=-1048574, max=1048574, **FIXED_OPTIONS
    )
    substeps: IntProperty(
        name="Substeps per Frame",
        description="Steps of time per frame: more are slower, livelier, and catch faster collisions",
        default=4,
        min=1,
        soft_max=20,
        max=1000,
        **FIXED_OPTIONS,
    )
    samples_per_frame: IntProperty(
        name="Samples per Frame",
        description=(
            "Shapes written per frame, for motion blur of what turns fast; "
            "more take more disk. Has to divide the Substeps per Frame"
        ),
        default=1,
        min=1,
        soft_max=8,
        max=64,
        **FIXED_OPTIONS,
    )
    air_temperature: FloatProperty(
        name="Air Temperature",
        description=("What bodies with Heat cool down or warm up to, through their surface [°C]. Can be keyframed"),
        default=20.0,
        min=-273.15,
        soft_min=-50.0,
        soft_max=500.0,
        precision=1,
        step=100,
        **ANIMATED_OPTIONS,
    )
    use_rest_frame: BoolProperty(
        name="Rest Frame",
        description=(
            "Bodies have no stress in the pose of a frame that you choose; off: in that of the first frame of the bake"
        ),
        default=False,
        **FIXED_OPTIONS,
    )
    rest_frame: IntProperty(
        name="Rest Frame",
        description=(
            "The frame whose pose has no stress, such as a T-pose. Where it is before the first frame of the bake, "
            "what is between them is simulated too, and not written"
        ),
        default=0,
        min=-1048574,
        max=1048574,
        **FIXED_OPTIONS,
    )
    preroll: IntProperty(
        name="Pre-Roll",
        description=(
            "Frames that are simulated before the first one and not written: everything moves from the rest pose to "
            "that of the first frame, and settles. A Rest Frame before the first frame has its own"
        ),
        default=0,
        min=0,
        soft_max=100,
        max=10000,
        **FIXED_OPTIONS,
    )
    pose_tolerance: FloatProperty(
        name="Pose Tolerance",
        description=(
            "Force that may be left over where Follow Pose is content with a frame, as a part of what holds the body"
        ),
        default=1.0e-3,
        min=1.0e-10,
        max=0.1,
        precision=6,
        step=0.1,
        **FIXED_OPTIONS,
    )
    pose_iterations: IntProperty(
        name="Pose Iterations",
        description=(
            "How many Newton iterations Follow Pose may take for a frame; "
            "one that reaches this is reported, and marked on the timeline"
        ),
        default=100,
        min=1,
        soft_max=500,
        max=10000,
        **FIXED_OPTIONS,
    )
    tolerance: FloatProperty(
        name="Tolerance",
        description="Relative residual ‖b − A v‖ / ‖b‖ at which the solver is content with a step",
        default=1.0e-4,
        min=1.0e-12,
        max=0.1,
        precision=6,
        step=0.01,
        **FIXED_OPTIONS,
    )
    max_iterations: IntProperty(
        name="Max Iterations",
        description="Cap of the solver's iterations per step; a step that reaches it is reported",
        default=400,
        min=1,
        soft_max=2000,
        max=100000,
        **FIXED_OPTIONS,
    )
    take: StringProperty(
        name="Take",
        description="Name of this attempt: each take has a cache of its own, so that a good one can be kept",
        update=_place_changed,
        **FIXED_OPTIONS,
    )
    cache_path: StringProperty(
        name="Cache",
        description="Folder of the cache; empty: beside the .blend file, by its name and the take",
        subtype="DIR_PATH",
        options={"PATH_SUPPORTS_BLEND_RELATIVE"},
        override={"LIBRARY_OVERRIDABLE"},
        update=_place_changed,
    )
    protect: BoolProperty(
        name="Protect",
        description="Keep this bake: Simulate and Delete Bake are refused until this is off",
        default=False,
        **FIXED_OPTIONS,
    )

    show_contacts: BoolProperty(
        name="Contacts",
        description=(
            "Draw in the viewport where bodies touch at this frame, as the bake has it: a dot and the normal at each "
            "contact, and an arrow for the force that the body feels there. The longest arrow is the largest force"
        ),
        default=False,
        **FIXED_OPTIONS,
    )

    # where the present bake lies: written by cache_place.py only
    baked_path: StringProperty(options={"HIDDEN", "PATH_SUPPORTS_BLEND_RELATIVE"}, subtype="DIR_PATH")
    baked_for: StringProperty(options={"HIDDEN"})
    baked_scene: StringProperty(options={"HIDDEN"})
    borrowed: BoolProperty(options={"HIDDEN"})
