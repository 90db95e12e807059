# SPDX-License-Identifier: GPL-3.0-or-later
"""Hides a body while another object replaces it, and restores its visibility afterwards.

If the artist animates the visibility, or if two objects swap at a frame, a driver sets it: this changes no keyframes
and plays without the add-on.
"""

from __future__ import annotations

import re

import bpy

from .animation_curves import action_curves
from .time_remapping import time_stretch

VISIBILITY_PROPERTIES = ("hide_viewport", "hide_render")
# names of the drivers that Sinew adds
OWN_EXPRESSION = re.compile(r"1|frame (>=|<) -?\d+(\.\d+)?")


def hide(obj: bpy.types.Object, from_frame: float | None = None) -> None:
    """Hides `obj` in the viewport and in renders, always or from a frame on, and stores its visibility."""
    restore_visibility(obj)
    obj.sinew.was_hidden_viewport, obj.sinew.was_hidden_render = obj.hide_viewport, obj.hide_render
    obj.sinew.is_replaced = True
    for path in VISIBILITY_PROPERTIES:
        if from_frame is not None:
            _add_driver(obj, path, f"frame >= {from_frame / time_stretch(obj):.9g}")
        elif _is_animated(obj, path):
            _add_driver(obj, path, "1")
        elif not getattr(obj, path):
            setattr(obj, path, True)


def hide_permanently(obj: bpy.types.Object) -> None:
    """Hides `obj` in the viewport and in renders until the artist shows it again or animates it."""
    remove_drivers(obj)
    if obj.sinew.is_replaced:
        obj.sinew.was_hidden_viewport = obj.sinew.was_hidden_render = True
    for path in VISIBILITY_PROPERTIES:
        setattr(obj, path, True)
    if obj.name in bpy.context.view_layer.objects:
        obj.hide_set(True)


def hidden_from(obj: bpy.types.Object) -> float | None:
    """Returns the frame from which on `hide` hides a body in the viewport, or None."""
    driver = _find_driver(obj, VISIBILITY_PROPERTIES[0])
    found = OWN_EXPRESSION.fullmatch(driver.driver.expression) if driver is not None else None
    if driver is None or found is None or found[1] != ">=":
        return None
    return float(driver.driver.expression.split()[-1]) * time_stretch(obj)


def show_always(obj: bpy.types.Object) -> None:
    """Takes back what `show_from` did.

    A driver leaves its last value behind, and what is hidden by the artist gets none: so a value of one is not theirs.
    """
    driven = [path for path in VISIBILITY_PROPERTIES if _is_own(_find_driver(obj, path))]
    remove_drivers(obj)
    for path in driven:
        setattr(obj, path, False)


def show_from(obj: bpy.types.Object, from_frame: float) -> None:
    """Hides `obj` in the viewport and in renders before a frame."""
    for path in VISIBILITY_PROPERTIES:
        _add_driver(obj, path, f"frame < {from_frame / time_stretch(obj):.9g}")


def restore_visibility(obj: bpy.types.Object) -> None:
    """Restores the visibility of `obj` from before `hide`, if it was hidden."""
    if not obj.sinew.is_replaced:
        return
    remove_drivers(obj)
    noted = (obj.sinew.was_hidden_viewport, obj.sinew.was_hidden_render)
    for path, value in zip(VISIBILITY_PROPERTIES, noted, strict=True):
        if getattr(obj, path) != value:
            setattr(obj, path, value)
    obj.sinew.is_replaced = False


def is_driven(obj: bpy.types.Object) -> bool:
    """Whether a driver of Sinew hides `obj` at some frames."""
    return any(_is_own(_find_driver(obj, path)) for path in VISIBILITY_PROPERTIES)


def remove_drivers(obj: bpy.types.Object) -> None:
    """Removes Sinew's drivers, and empty animation data."""
    for path in VISIBILITY_PROPERTIES:
        if _is_own(_find_driver(obj, path)):
            obj.driver_remove(path)
    data = obj.animation_data
    if data is not None and not (data.action or len(data.drivers) or len(data.nla_tracks)):
        obj.animation_data_clear()


def _add_driver(obj: bpy.types.Object, path: str, expression: str) -> None:
    """Adds a driver for a value, unless the artist has one or has hidden the object."""
    if _find_driver(obj, path) is None and (not getattr(obj, path) or _is_animated(obj, path)):
        obj.driver_add(path).driver.expression = expression


def _find_driver(obj: bpy.types.Object, path: str) -> bpy.types.FCurve | None:
    return obj.animation_data.drivers.find(path) if obj.animation_data else None


def _is_own(driver: bpy.types.FCurve | None) -> bool:
    return driver is not None and OWN_EXPRESSION.fullmatch(driver.driver.expression) is not None


def _is_animated(obj: bpy.types.Object, path: str) -> bool:
    """Whether keyframes or strips set a value, or may set it."""
    data = obj.animation_data
    if data is None:
        return False
    return bool(len(data.nla_tracks)) or any(
        curve.data_path == path for curve in action_curves(data.action, data.action_slot)
    )
