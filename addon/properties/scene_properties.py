# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties of the whole scene: frames, steps, accuracy, and where its cache lies."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, StringProperty

from ...solver.scene.settings.simulation_settings import (
    AIR_TEMPERATURE,
    CACHE_SETTINGS,
    DETAIL,
    FRAME_SETTINGS,
    LOCK_BAKE,
    REST_SETTINGS,
    SHOW_CONTACTS,
    SOLVER_SETTINGS,
    STEP_SETTINGS,
)
from .property_factory import settings_group

WHOLE_RUN, LAST_SECONDS = "WHOLE", "LAST"


def _place_changed(settings: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    from ..baking import attach_bake
    from ..baking.addon_session import session
    from ..cache import cache_folder_status

    if not session.is_rebasing_paths:
        cache_folder_status.invalidate()
        attach_bake.attach(settings.id_data)


def _live_rate_changed(settings: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    from ..baking.addon_session import session

    if session.live is not None and session.live.scene_uid == settings.id_data.session_uid:
        session.live.send({"command": "rate", "rate": settings.live_rate})


_SceneProperties: Any = settings_group(
    "SceneProperties",
    "Frames, steps, accuracy and cache.",
    (
        *FRAME_SETTINGS,
        *STEP_SETTINGS,
        AIR_TEMPERATURE,
        *REST_SETTINGS,
        *SOLVER_SETTINGS,
        *CACHE_SETTINGS,
        DETAIL,
        LOCK_BAKE,
        SHOW_CONTACTS,
    ),
    dict.fromkeys(("take", "cache_path"), _place_changed),
)


class SinewScene(_SceneProperties, bpy.types.PropertyGroup):
    """How the whole scene is simulated and where its cache lies."""

    live_rate: FloatProperty(
        name="Live Speed",
        description="Seconds of the scene in a second of the clock in a live run: 1 is real time, 0.25 slow motion",
        default=1.0,
        min=0.01,
        max=4.0,
        soft_max=1.0,
        options={"HIDDEN"},  # of no bake
        update=_live_rate_changed,
    )
    live_kept: EnumProperty(
        name="Kept",
        description="What Keep makes a take of",
        items=(
            (WHOLE_RUN, "Whole Run", "Keep the live run from its beginning on"),
            (LAST_SECONDS, "Last Seconds", "Keep the end of the live run, from the frame on at which the run began"),
        ),
        default=WHOLE_RUN,
        options={"HIDDEN"},  # of no bake
    )
    live_kept_seconds: FloatProperty(
        name="Last Seconds",
        description="How many of the last seconds Keep makes a take of, to the next whole frame",
        default=5.0,
        min=0.1,
        soft_max=60.0,
        subtype="TIME_ABSOLUTE",
        options={"HIDDEN"},  # of no bake
    )
    grab_radius: FloatProperty(
        name="Radius",
        description="Up to where Grab takes what is around the place under the mouse, 0: that point alone; and of the "
        "ball that pushes with Ctrl, 0: a share of the size of the body",
        default=0.0,
        min=0.0,
        subtype="DISTANCE",
        options={"HIDDEN"},  # of no bake
    )
    grab_strength: FloatProperty(
        name="Strength",
        description="How stiff the spring of Grab is: 1 keeps the place near the mouse. A pen's pressure lessens it",
        default=1.0,
        min=0.01,
        max=10.0,
        soft_max=2.0,
        options={"HIDDEN"},  # of no bake
    )
    heat_gun_radius: FloatProperty(
        name="Radius",
        description="Radius in which the heat gun heats bodies that run live. 0: as far as goes through the body",
        default=0.0,
        min=0.0,
        subtype="DISTANCE",
        options={"HIDDEN"},  # of no bake
    )
    stiffness_brush_radius: FloatProperty(
        name="Radius",
        description="Radius in which the brush softens bodies that run live. 0: a share of the size of the body",
        default=0.0,
        min=0.0,
        subtype="DISTANCE",
        options={"HIDDEN"},  # of no bake
    )
    heat_gun_temperature: FloatProperty(
        name="Heat (°C)",
        description="Temperature of what the heat gun blows on bodies that run live",
        default=300.0,
        min=-273.0,
        soft_max=1500.0,
        options={"HIDDEN"},  # of no bake
    )
    cool_gun_temperature: FloatProperty(
        name="Cool (°C)",
        description="Temperature of what the heat gun blows with Ctrl",
        default=-50.0,
        min=-273.0,
        soft_max=20.0,
        options={"HIDDEN"},  # of no bake
    )
    stiffness_brush_strength: FloatProperty(
        name="Strength",
        description="How often in a second the brush halves the stiffness of bodies that run live, or doubles it",
        default=2.0,
        min=0.01,
        soft_max=10.0,
        options={"HIDDEN"},  # of no bake
    )
    # where the present bake lies: only addon/cache/cache_paths.py writes these
    baked_path: StringProperty(options={"HIDDEN", "PATH_SUPPORTS_BLEND_RELATIVE"}, subtype="DIR_PATH")
    baked_for: StringProperty(options={"HIDDEN"})
    baked_scene: StringProperty(options={"HIDDEN"})
    borrowed: BoolProperty(options={"HIDDEN"})
