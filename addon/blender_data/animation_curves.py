# SPDX-License-Identifier: GPL-3.0-or-later
"""F-curves and drivers of a data-block: which properties have them, and writing them."""

from __future__ import annotations

import re
from collections.abc import Iterator

import bpy
import numpy as np

INTERPOLATIONS = CONSTANT, LINEAR = "CONSTANT", "LINEAR"  # of keys, in the order of Blender's numbers for them
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


def driven_paths(owner: bpy.types.ID) -> set[str]:
    """Returns the data paths of a data-block that drivers set."""
    data = owner.animation_data
    return {driver.data_path for driver in data.drivers} if data is not None else set()


def own_copy_of_action(owner: bpy.types.ID, name: str) -> None:
    """Gives a data-block an action of its own with what its action has, which stays in the file; or an empty one."""
    data = owner.animation_data or owner.animation_data_create()
    before, slot = data.action, data.action_slot
    if before is None:
        data.action = bpy.data.actions.new(name)
        data.action_slot = data.action.slots.new(id_type=owner.id_type, name=owner.name)
        return
    before.use_fake_user = True
    data.action = before.copy()
    data.action.name = name
    data.action.use_fake_user = False
    if slot is not None:
        data.action_slot = next(each for each in data.action.slots if each.identifier == slot.identifier)


def write_curve(owner: bpy.types.ID, path: str, frames: np.ndarray, values: np.ndarray) -> None:
    """Writes linear keys into the action of a data-block, in place of those that the property has there, (k,) each."""
    write_curves(owner, path, frames, values)


def write_curves(
    owner: bpy.types.ID, path: str, frames: np.ndarray, values: np.ndarray, interpolation: str = LINEAR
) -> None:
    """Writes keys into the action of a data-block, in place of those that the property has there.

    Args:
        owner: It, with an action.
        path: Data path of a property: a number, or several.
        frames: Of the keys, (k,).
        values: At these, (k,), or (k, c) for c numbers.
        interpolation: `LINEAR` or `CONSTANT`.
    """
    data = owner.animation_data
    layers = data.action.layers
    layer = layers[0] if len(layers) else layers.new("Layer")
    strip = layer.strips[0] if len(layer.strips) else layer.strips.new(type="KEYFRAME")
    curves = strip.channelbag(data.action_slot, ensure=True).fcurves
    for old in [curve for curve in curves if curve.data_path == path]:
        curves.remove(old)
    columns = values[:, None] if values.ndim == 1 else values
    for index in range(columns.shape[1]):
        fill_curve(curves.new(path, index=index), frames, columns[:, index], interpolation)


def fill_curve(curve: bpy.types.FCurve, frames: np.ndarray, values: np.ndarray, interpolation: str = LINEAR) -> None:
    """Gives an empty F-curve keys at frames, (k,) each."""
    curve.keyframe_points.add(len(frames))
    curve.keyframe_points.foreach_set("co", np.column_stack([frames, values]).astype(np.float32).ravel())
    curve.keyframe_points.foreach_set("interpolation", [INTERPOLATIONS.index(interpolation)] * len(frames))
    curve.update()


def shift_row_curves(owner: bpy.types.ID, table: str, removed: int) -> None:
    """Lets curves and drivers of the rows of a table follow them after one was removed, whose own ones go.

    Args:
        owner: The data-block.
        table: Data path of the table.
        removed: Which row is not there any more.
    """
    data = owner.animation_data
    if data is None:
        return
    collections = [data.drivers]
    for layer in data.action.layers if data.action is not None and data.action_slot is not None else ():
        collections += [bag.fcurves for strip in layer.strips if (bag := strip.channelbag(data.action_slot))]
    row_of = re.compile(re.escape(table) + r"\[(\d+)\](.*)")
    for curves in collections:
        found = [(curve, match) for curve in curves if (match := row_of.fullmatch(curve.data_path))]
        for curve, match in sorted(found, key=lambda each: int(each[1][1])):
            row = int(match[1])
            if row == removed:
                curves.remove(curve)
            elif row > removed:
                curve.data_path = f"{table}[{row - 1}]{match[2]}"
