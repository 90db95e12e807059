# SPDX-License-Identifier: GPL-3.0-or-later
"""Forces and torques on a collider as custom properties with curves, for drivers, the Graph Editor and shaders.

The curves are a separate action in a track of the object's Nonlinear Animation, so the artist's action and its slots do
not change, and a render without this add-on has the values too. Values are in world axes; the torque is about the
object's origin.
"""

from __future__ import annotations

from collections.abc import Mapping

import bpy
import numpy as np

from ...solver.runtime.arrays import Floats
from .animation_curves import fill_curve

TRACK_NAME = "Sinew Forces"
# custom properties and their descriptions
FORCE_PROPERTY, TORQUE_PROPERTY = "sinew_force", "sinew_torque"
PROPERTY_DESCRIPTIONS = {
    FORCE_PROPERTY: "What bodies press and rub this collider with [N], world axes, as the bake has it",
    TORQUE_PROPERTY: "The torque of that about the object's origin [N m], world axes",
}
# on the action: the stamp of its values, and whether the object had no animation before
STAMP_KEY, ONLY_ANIMATION_KEY = "sinew_stamp", "sinew_alone"


def curves_stamp(obj: bpy.types.Object) -> str | None:
    """Returns the stamp of the values in an object's curves, or None without curves."""
    track = find_track(obj)
    return None if track is None else str(_actions(track)[0].get(STAMP_KEY, ""))


def find_track(obj: bpy.types.Object) -> bpy.types.NlaTrack | None:
    """Returns the track with the curves of an object."""
    data = obj.animation_data
    return next((track for track in data.nla_tracks if is_force_track(track)), None) if data is not None else None


def is_force_track(track: bpy.types.NlaTrack) -> bool:
    """Whether a track has such curves, also after it was renamed."""
    return any(STAMP_KEY in action for action in _actions(track))


def add_curves(obj: bpy.types.Object, frames: Floats, numbers: Floats, stamp: str) -> None:
    """Adds the curves to an object and replaces existing ones.

    Args:
        obj: The collider; unchanged if the artist has such properties on it.
        frames: Times in its animation [frames], (k,).
        numbers: Force [N] and torque [N m], (k, 6).
        stamp: Of these values.
    """
    remove_curves(obj)
    if not can_add_curves(obj):
        return
    is_alone = obj.animation_data is None
    action = bpy.data.actions.new(f"{TRACK_NAME} {obj.name}")
    action[STAMP_KEY], action[ONLY_ANIMATION_KEY] = stamp, is_alone
    slot = action.slots.new(id_type="OBJECT", name=obj.name)
    bag = action.layers.new(TRACK_NAME).strips.new(type="KEYFRAME").channelbag(slot, ensure=True)
    for number, (name, words) in enumerate(PROPERTY_DESCRIPTIONS.items()):
        obj[name] = [0.0, 0.0, 0.0]
        obj.id_properties_ui(name).update(description=words)
        for axis in range(3):
            fill_curve(bag.fcurves.new(f'["{name}"]', index=axis), frames, numbers[:, 3 * number + axis])
    track = obj.animation_data_create().nla_tracks.new()
    track.name, track.lock = TRACK_NAME, True
    strip = track.strips.new(TRACK_NAME, int(np.floor(frames[0])), action)
    strip.action_slot = slot
    strip.action_frame_start, strip.action_frame_end = frames[0], max(frames[-1], frames[0] + 1.0)
    strip.frame_start, strip.frame_end = strip.action_frame_start, strip.action_frame_end


def can_add_curves(obj: bpy.types.Object) -> bool:
    """Whether an object without curves may get them: it is not linked, and the artist has no such properties on it."""
    return obj.library is None and not any(name in obj for name in PROPERTY_DESCRIPTIONS)


def remove_curves(obj: bpy.types.Object) -> None:
    """Removes the curves and the properties from an object, except the artist's."""
    track = find_track(obj)
    if track is None:
        return
    actions = _actions(track)
    is_alone = any(action.get(ONLY_ANIMATION_KEY, False) for action in actions)
    data = obj.animation_data
    track.lock = False
    data.nla_tracks.remove(track)
    for action in actions:
        if action.users == 0:
            bpy.data.actions.remove(action)
    for name in PROPERTY_DESCRIPTIONS:
        if name in obj:
            del obj[name]
    if is_alone and data.action is None and not len(data.nla_tracks) and not len(data.drivers):
        obj.animation_data_clear()


def curve_samples(frames: Mapping[int, list[float]], stretch: float) -> tuple[Floats, Floats]:
    """Returns times in the animation, rising, (k,), and values, (k, 6).

    Args:
        frames: Six values by frame.
        stretch: Frames of the timeline per frame of the remapped time, which animation uses.
    """
    order = sorted(frames)
    times = np.array(order, np.float64) / stretch
    return times, np.array([frames[frame] for frame in order], np.float64).reshape(-1, 6)


def _actions(track: bpy.types.NlaTrack) -> list[bpy.types.Action]:
    return [strip.action for strip in track.strips if strip.action is not None]
