# SPDX-License-Identifier: GPL-3.0-or-later
"""Baked motion of an object or of its bones as a strip of Blender's Nonlinear Animation, which plays without Sinew.

The strip is in a track of its own above all others, and has an action of its own. The artist's action is never
written. Blender evaluates an active action above all strips; one that sets what the strip sets is pushed down below it
as it is, and comes back with `remove_motion`. Blender writes what a strip sets into the properties of the object. So a
second strip, at the bottom, has the values of what nothing else animates, and muting gives these back, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ...solver.runtime.arrays import Floats
from . import held_transform
from .animation_curves import action_curves, fill_curve
from .collider_force_curves import is_force_track

TRACK_NAME, REST_TRACK_NAME = "Sinew Motion", "Sinew Rest Values"
# on the action of the motion: its stamp, the action that was pushed down, whether Sinew itself has muted the track,
# whether there was no animation before
STAMP_KEY, PUSHED_KEY, HIDDEN_KEY, ONLY_ANIMATION_KEY = (
    "sinew_motion",
    "sinew_pushed_down",
    "sinew_hidden",
    "sinew_alone",
)
REST_KEY = "sinew_rest_values"  # on the action of the values
# frames by which the strip of an action that was pushed down is longer than all that may play: as an active action,
# it goes on before its first key and after its last one
FRAMES_BEFORE, FRAMES_AFTER = 100, 10000


@dataclass(frozen=True)
class MotionChannel:
    """Values of a property over time.

    Attributes:
        path: Its data path.
        values: At the keys, (k, c) for c numbers.
    """

    path: str
    values: Floats


def find_track(owner: bpy.types.ID) -> bpy.types.NlaTrack | None:
    """Returns the track with the baked motion of an object."""
    data = owner.animation_data
    return next((track for track in data.nla_tracks if is_motion_track(track)), None) if data is not None else None


def is_motion_track(track: bpy.types.NlaTrack) -> bool:
    """Whether a track has baked motion, also after it was renamed."""
    return any(STAMP_KEY in action for action in _actions(track))


def is_own_track(track: bpy.types.NlaTrack) -> bool:
    """Whether a track is of a baked motion: that itself, or the values below it."""
    return any(STAMP_KEY in action or REST_KEY in action for action in _actions(track))


def pushed_track(data: bpy.types.AnimData) -> bpy.types.NlaTrack | None:
    """Returns the track with the artist's action that was pushed down below a baked motion."""
    for track in data.nla_tracks:
        if is_motion_track(track):
            pushed = _actions(track)[0].get(PUSHED_KEY)
            return None if pushed is None else next((t for t in data.nla_tracks if pushed in _actions(t)), None)
    return None


def artist_actions(data: bpy.types.AnimData) -> Iterator[tuple[bpy.types.Action | None, bpy.types.ActionSlot | None]]:
    """Yields the active action with its slot, and one that was pushed down below a baked motion with its own."""
    yield data.action, data.action_slot
    track = pushed_track(data)
    if track is not None:
        strip = track.strips[0]
        yield strip.action, strip.action_slot


def artist_tracks(data: bpy.types.AnimData) -> Iterator[bpy.types.NlaTrack]:
    """Yields the artist's tracks: no output of a bake, and not that of an action that was pushed down for it."""
    pushed = pushed_track(data)
    return (t for t in data.nla_tracks if not is_own_track(t) and not is_force_track(t) and t != pushed)


def artist_curves(data: bpy.types.AnimData) -> Iterator[bpy.types.FCurve]:
    """Yields the F-curves of the artist's actions and strips."""
    for action, slot in artist_actions(data):
        yield from action_curves(action, slot)
    for track in artist_tracks(data):
        for strip in track.strips:
            yield from strip.fcurves
            yield from action_curves(strip.action, strip.action_slot)


def animated_paths(owner: bpy.types.ID) -> set[str]:
    """Returns the data paths of a data-block that the artist's actions, NLA strips or drivers set."""
    data = owner.animation_data
    if data is None:
        return set()
    return {curve.data_path for curve in [*data.drivers, *artist_curves(data)]}


def motion_stamp(owner: bpy.types.ID) -> str | None:
    """Returns the stamp of the baked motion of an object; None without one."""
    track = find_track(owner)
    return None if track is None else str(_actions(track)[0][STAMP_KEY])


def unmoved_values(owner: bpy.types.ID) -> dict[str, Any]:
    """Returns the values of properties that a baked motion sets, and nothing else, as they are without it, by path."""
    data, found = owner.animation_data, dict[str, dict[int, float]]()
    for track in data.nla_tracks if data is not None else ():
        for strip in track.strips if any(REST_KEY in action for action in _actions(track)) else ():
            for curve in action_curves(strip.action, strip.action_slot):
                found.setdefault(curve.data_path, {})[curve.array_index] = curve.keyframe_points[0].co.y
    return {path: _as_property(owner, path, values) for path, values in found.items() if _exists(owner, path)}


def write_motion(owner: bpy.types.ID, frames: Floats, channels: Sequence[MotionChannel], stamp: str) -> None:
    """Gives an object a strip with baked motion in place of the one that it has.

    Args:
        owner: The object.
        frames: Times of the keys in its animation [frames], rising, (k,).
        channels: What the strip sets.
        stamp: Of these values.
    """
    remove_motion(owner)
    is_alone = owner.animation_data is None
    data = owner.animation_data_create()
    taken, given = animated_paths(owner), [channel.path for channel in channels]
    rest = [MotionChannel(path, _rest_value(owner, path)) for path in given if path not in taken]
    if rest:
        _add_strip(owner, REST_TRACK_NAME, frames[:1], rest)[REST_KEY] = True
    active = {curve.data_path for curve in action_curves(data.action, data.action_slot)}
    pushed = data.action if active & {*given} else None
    if pushed is not None:
        _push_down(data, frames)
    action = _add_strip(owner, TRACK_NAME, frames, channels)
    action[STAMP_KEY], action[ONLY_ANIMATION_KEY] = stamp, is_alone
    if pushed is not None:
        action[PUSHED_KEY] = pushed


def remove_motion(owner: bpy.types.ID) -> None:
    """Takes the baked motion of an object away; its animation is then as it was before."""
    track = find_track(owner)
    if track is None:
        return
    data, values = owner.animation_data, unmoved_values(owner)
    pushed, is_alone = pushed_track(data), bool(_actions(track)[0].get(ONLY_ANIMATION_KEY, False))
    if pushed is not None and data.action is None:
        _pull_up(data, pushed)
    for own in [track for track in data.nla_tracks if is_own_track(track)]:
        _remove_track(data, own)
    for path, value in values.items():
        _set_value(owner, path, value)
    if is_alone and data.action is None and not len(data.nla_tracks) and not len(data.drivers):
        owner.animation_data_clear()


def remove_from_copy(copy: bpy.types.ID) -> None:
    """Takes the baked motion out of a copy of an object; the strip that gives back its values stays."""
    track = find_track(copy)
    if track is not None:
        track.lock = False
        copy.animation_data.nla_tracks.remove(track)


def hide(owner: bpy.types.ID) -> None:
    """Mutes the baked motion until `show`; only values are set."""
    track = find_track(owner)
    if track is not None and not track.mute:
        _actions(track)[0][HIDDEN_KEY] = True
        track.mute = True


def show(owner: bpy.types.ID) -> None:
    """Plays the baked motion that `hide` has muted; one that the artist has muted stays so."""
    track = find_track(owner)
    if track is not None and _actions(track)[0].get(HIDDEN_KEY, False):
        _actions(track)[0][HIDDEN_KEY] = False
        track.mute = False


class HiddenMotion:
    """Mutes all baked motion of the file for a while, within which Blender draws nothing.

    What a live run or a bake that goes on holds is let go; it is held again at the next sample.
    """

    def __init__(self) -> None:
        self._tracks: list[bpy.types.NlaTrack] = []

    def hide(self) -> None:
        """Mutes what plays."""
        held_transform.let_go_all()
        for obj in bpy.data.objects:
            track = find_track(obj) if obj.library is None else None
            if track is not None and not track.mute:
                track.mute = True
                self._tracks.append(track)

    def show(self) -> None:
        """Lets it play again."""
        while self._tracks:
            self._tracks.pop().mute = False


def _rest_value(owner: bpy.types.ID, path: str) -> Floats:
    """Returns the present value of a property, (1, c)."""
    return np.array(owner.path_resolve(path), np.float64).reshape(1, -1)


def _exists(owner: bpy.types.ID, path: str) -> bool:
    try:
        owner.path_resolve(path)
    except ValueError:
        return False
    return True


def _as_property(owner: bpy.types.ID, path: str, values: dict[int, float]) -> Any:
    """Returns a number, or several by their places, as the property has it."""
    is_array = hasattr(owner.path_resolve(path), "__len__")
    return tuple(values[index] for index in sorted(values)) if is_array else values[0]


def _set_value(owner: bpy.types.ID, path: str, value: Any) -> None:
    where, _, name = path.rpartition(".")
    setattr(owner.path_resolve(where) if where else owner, name, value)


def _add_strip(owner: bpy.types.ID, name: str, frames: Floats, channels: Sequence[MotionChannel]) -> bpy.types.Action:
    """Adds a track at the top with a strip whose action has these channels, and returns the action."""
    action = bpy.data.actions.new(f"{name} {owner.name}")
    slot = action.slots.new(id_type=owner.id_type, name=owner.name)
    bag = action.layers.new(name).strips.new(type="KEYFRAME").channelbag(slot, ensure=True)
    for channel in channels:
        for index in range(channel.values.shape[1]):
            fill_curve(bag.fcurves.new(channel.path, index=index), frames, channel.values[:, index])
    track = owner.animation_data.nla_tracks.new()
    track.name = name
    _new_strip(track, name, action, slot, (frames[0], max(frames[-1], frames[0] + 1.0)))
    track.lock = True
    return action


def _new_strip(
    track: bpy.types.NlaTrack,
    name: str,
    action: bpy.types.Action,
    slot: bpy.types.ActionSlot,
    ends: tuple[float, float],
) -> bpy.types.NlaStrip:
    """Adds a strip that plays an action from its first to its last frame at the frames of the same numbers."""
    strip = track.strips.new(name, int(np.floor(ends[0])), action)
    strip.action_slot = slot
    strip.use_sync_length = False
    strip.action_frame_start, strip.action_frame_end = ends
    strip.frame_start, strip.frame_end = ends
    return strip


def _push_down(data: bpy.types.AnimData, frames: Floats) -> None:
    """Puts the active action into a track at the top, where it does what it did."""
    action, slot = data.action, data.action_slot
    first, last = min(action.frame_range[0], frames[0]), max(action.frame_range[1], frames[-1])
    track = data.nla_tracks.new()
    track.name = action.name
    ends = (float(np.floor(first)) - FRAMES_BEFORE, float(np.ceil(last)) + FRAMES_AFTER)
    strip = _new_strip(track, action.name, action, slot, ends)
    strip.blend_type, strip.influence = data.action_blend_type, data.action_influence
    data.action = None


def _pull_up(data: bpy.types.AnimData, track: bpy.types.NlaTrack) -> None:
    """Makes the action of a track that was pushed down the active one again."""
    strip = track.strips[0]
    action, slot = strip.action, strip.action_slot
    data.action_blend_type, data.action_influence = strip.blend_type, strip.influence
    track.lock = False
    data.nla_tracks.remove(track)
    data.action = action
    data.action_slot = slot


def _remove_track(data: bpy.types.AnimData, track: bpy.types.NlaTrack) -> None:
    actions = _actions(track)
    track.lock = False
    data.nla_tracks.remove(track)
    for action in actions:
        if action.users == 0:
            bpy.data.actions.remove(action)


def _actions(track: bpy.types.NlaTrack) -> list[bpy.types.Action]:
    return [strip.action for strip in track.strips if strip.action is not None]
