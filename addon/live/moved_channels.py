# SPDX-License-Identifier: GPL-3.0-or-later
"""What was changed of objects that are moved while a scene runs: their own channels, and those of what carries them.

A run gets world matrices. Keys are of location, rotation and scale, of which a matrix is found to the bit and not the
other way round. So the add-on writes them beside the matrix of a command; the child records them unread.
"""

from __future__ import annotations

from collections.abc import Iterator

import bpy

Channels = dict[str, dict[str, list[float]]]  # by name of the object: data path → values
ROTATIONS = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}


def changed_channels(known: Channels, obj: bpy.types.Object) -> Channels:
    """Returns the channels of an object and its parents that are not as `known` has them, which then has them."""
    found: Channels = {}
    for each in _chain(obj):
        before = known.setdefault(each.name, {})
        now = {path: values for path, values in _channels(each) if before.get(path) != values}
        if now:
            before.update(now)
            found[each.name] = now
    return found


def copied(channels: Channels) -> Channels:
    """Returns channels that stay as they are."""
    return {name: dict(paths) for name, paths in channels.items()}


def _chain(obj: bpy.types.Object) -> Iterator[bpy.types.Object]:
    each: bpy.types.Object | None = obj
    while each is not None:
        yield each
        each = each.parent


def _channels(obj: bpy.types.Object) -> Iterator[tuple[str, list[float]]]:
    yield from _transforms(obj, "")
    for bone in obj.pose.bones if obj.pose is not None else ():
        yield from _transforms(bone, f'pose.bones["{bpy.utils.escape_identifier(bone.name)}"].')


def _transforms(item: bpy.types.Object | bpy.types.PoseBone, start: str) -> Iterator[tuple[str, list[float]]]:
    for name in ("location", ROTATIONS.get(item.rotation_mode, "rotation_euler"), "scale"):
        yield start + name, list(getattr(item, name))
