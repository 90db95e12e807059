# SPDX-License-Identifier: GPL-3.0-or-later
"""The brush that the artist holds on bodies that run live; the child does to them what it does."""

from __future__ import annotations

from typing import Any

import bpy

from ...solver.runtime.arrays import Floats
from ..baking.live_state import HeldBrush, LiveRun
from ..blender_data.scene_by_session_uid import find_scene
from ..objects.heat_transfer_coefficient import heat_transfer_coefficient

HEAT, COOL, SOFTEN, HARDEN, PUSH = "HEAT", "COOL", "SOFTEN", "HARDEN", "PUSH"
OPPOSITES = {HEAT: COOL, SOFTEN: HARDEN}  # what a brush does with Ctrl
NUMBER = 1  # one is held at a time
GRAB_RADIUS, HEAT_RADIUS, STIFFNESS_RADIUS = "grab_radius", "heat_gun_radius", "stiffness_brush_radius"
# the setting of the scene that is the radius of each: that of the tool in use
RADIUS_SETTINGS = {
    HEAT: HEAT_RADIUS,
    COOL: HEAT_RADIUS,
    SOFTEN: STIFFNESS_RADIUS,
    HARDEN: STIFFNESS_RADIUS,
    PUSH: GRAB_RADIUS,
}
RADIUS_SHARE = 0.15  # of the longest side of a body, where the radius is 0
# Heat reaches through a body, of whose shortest side this is so many times, up to so much of the longest side: a ball
# of 0.15 melts the side of a candle that is seen, and leaves it standing on the other one.
THROUGH_SHORTEST, MOST_OF_LONGEST = 1.2, 0.5


def hold(run: LiveRun, kind: str, place: Floats, radius: float, pressure: float = 1.0, body: str | None = None) -> None:
    """Holds the brush at a place.

    Args:
        run: It.
        kind: What it does.
        place: World [Blender units], (3,).
        radius: The same units, above 0.
        pressure: Of the pen, above 0 to 1: softening and hardening are so many times as fast, and what the gun blows
            is so much of the way from the temperature of the air to its own.
        body: Key of the body that was pressed on, which the gun warms within a second; None: any.
    """
    scene = find_scene(run.scene_uid)
    if scene is None:
        return
    unit = float(scene.unit_settings.scale_length)
    run.brush = HeldBrush(kind, place, radius)
    where = {"brush": NUMBER, "place": [float(value) * unit for value in place], "radius": radius * unit}
    exchange = _exchange(run, body, radius * unit) if kind in (HEAT, COOL) else {}
    run.send({"command": kind.lower(), **where, **_strength(scene.sinew, kind, pressure), **exchange})


def lift(run: LiveRun) -> None:
    """Takes the brush away."""
    if run.brush is not None:
        run.brush = None
        run.send({"command": "lift", "brush": NUMBER})


def radius_on(settings: bpy.types.PropertyGroup, kind: str, obj: bpy.types.Object) -> float:
    """Returns a brush's radius on a body [Blender units]: that of the scene's settings, or a share of its size."""
    setting = RADIUS_SETTINGS[kind]
    return float(getattr(settings, setting)) or automatic_radius(setting, obj)


def automatic_radius(setting: str, obj: bpy.types.Object) -> float:
    """Returns the radius of a brush on a body where its setting is 0 [Blender units]."""
    shortest, longest = min(obj.dimensions), max(obj.dimensions)
    least = RADIUS_SHARE * longest
    return max(least, min(THROUGH_SHORTEST * shortest, MOST_OF_LONGEST * longest)) if setting == HEAT_RADIUS else least


def _exchange(run: LiveRun, body: str | None, radius: float) -> dict[str, float]:
    obj = run.bodies[body].find() if body in run.bodies else None
    return {} if obj is None or not obj.sinew.use_heat else {"exchange": heat_transfer_coefficient(obj, radius)}


def _strength(settings: bpy.types.PropertyGroup, kind: str, pressure: float) -> dict[str, Any]:
    if kind in (HEAT, COOL):
        blown = settings.heat_gun_temperature if kind == HEAT else settings.cool_gun_temperature
        return {"temperature": blown * pressure + settings.air_temperature * (1.0 - pressure)}
    if kind in (SOFTEN, HARDEN):
        return {"strength": max(settings.stiffness_brush_strength * pressure, 1.0e-3)}
    return {}
