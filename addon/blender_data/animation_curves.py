# SPDX-License-Identifier: GPL-3.0-or-later
"""F-curves of a data-block's action, and whether one of its properties is keyframed or driven."""

from __future__ import annotations

from collections.abc import Iterator

import bpy

SAME_FRAME = 0.01  # keys nearer to each other are one to Blender
# Blender's icons of the dot beside a field
DRIVEN, KEYED_NOW, KEYED, NOT_KEYED = "DECORATE_DRIVER", "DECORATE_KEYFRAME", "DECORATE_ANIMATE", "DECORATE"


def action_curves(action: bpy.types.Action | None, slot: bpy.types.ActionSlot | None) -> Iterator[bpy.types.FCurve]:
    """Yields the F-curves of a slot of an action."""
    for layer in action.layers if action is not None and slot is not None else ():
        for strip in layer.strips:
            bag = strip.channelbag(slot)
            yield from bag.fcurves if bag is not None else ()


def keyframe_icon(owner: bpy.types.ID, path: str, frame: float) -> str:
    """Returns the icon of the dot that Blender would draw beside a property of a data-block."""
    data = owner.animation_data
    if data is None:
        return NOT_KEYED
    if any(driver.data_path == path for driver in data.drivers):
        return DRIVEN
    curves = [curve for curve in action_curves(data.action, data.action_slot) if curve.data_path == path]
    if any(abs(point.co.x - frame) < SAME_FRAME for curve in curves for point in curve.keyframe_points):
        return KEYED_NOW
    return KEYED if curves else NOT_KEYED
