# SPDX-License-Identifier: GPL-3.0-or-later
"""Lets armatures play what the bodies on their bones did in a bake, as an NLA strip above the artist's animation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import bpy
import numpy as np

from ...solver.runtime.arrays import Floats
from ...solver.runtime.checksums import digest
from ...solver.runtime.errors import SinewError
from ..blender_data import motion_track
from ..blender_data.time_remapping import time_stretch
from ..cache.baked_body_matrices import BodyMatrices, matrices_stamp, read_matrices
from ..objects import driven_bones
from ..playback.pose_channels import bone_offsets, pose_channels

PlayedBodies = Mapping[bpy.types.Object, tuple[Path, str]]


def attach(scene: bpy.types.Scene, bodies: PlayedBodies, detach_missing: bool, is_undoable: bool) -> None:
    """Lets all armatures of a scene play the bake of the bodies that drive their bones, or their own animation.

    Args:
        scene: The scene.
        bodies: The bodies that are baked, with the cache and the key that each plays.
        detach_missing: Whether an armature whose bodies are not all baked stops playing.
        is_undoable: Whether an undo step follows; without one, only a strip that is there already plays.
    """
    drivers = _drivers_by_rig(scene)
    for rig, own in drivers.items():
        stamp = rig_stamp(scene, rig, {obj: bodies[obj] for obj in own.values() if obj in bodies}, len(own))
        if stamp is None:
            if detach_missing:
                _detach(rig, is_undoable)
            continue
        if is_undoable and motion_track.motion_stamp(rig) != stamp and not _write(scene, rig, own, bodies, stamp):
            motion_track.remove_motion(rig)
        if motion_track.motion_stamp(rig) == stamp:
            motion_track.show(rig)
        else:
            motion_track.hide(rig)
    for obj in scene.objects if detach_missing else ():
        if obj.type == "ARMATURE" and obj not in drivers and obj.library is None:
            _detach(obj, is_undoable)


def rig_stamp(scene: bpy.types.Scene, rig: bpy.types.Object, bodies: PlayedBodies, count: int) -> str | None:
    """Returns what tells the strip of an armature from others; None where not all of its `count` bodies are baked."""
    if len(bodies) < count:
        return None
    try:
        moved = sorted(f"{obj.parent_bone} {matrices_stamp(*bodies[obj])}" for obj in bodies)
    except (OSError, ValueError, SinewError):
        return None
    modes = [f"{bone.name} {bone.rotation_mode}" for bone in rig.pose.bones]
    return digest([*moved, *modes, f"{time_stretch(rig):.9g} {scene.unit_settings.scale_length:.9g}"])


def _drivers_by_rig(scene: bpy.types.Scene) -> dict[bpy.types.Object, dict[str, bpy.types.Object]]:
    """Returns the bodies that drive bones by the names of these, for each armature that is not linked."""
    found: dict[bpy.types.Object, dict[str, bpy.types.Object]] = {}
    for obj in driven_bones.driving_bodies(scene):
        if obj.parent.library is None:
            found.setdefault(obj.parent, {})[obj.parent_bone] = obj
    return found


def _detach(rig: bpy.types.Object, is_undoable: bool) -> None:
    if is_undoable:
        motion_track.remove_motion(rig)
    else:
        motion_track.hide(rig)


def _write(
    scene: bpy.types.Scene,
    rig: bpy.types.Object,
    drivers: Mapping[str, bpy.types.Object],
    bodies: PlayedBodies,
    stamp: str,
) -> bool:
    """Writes the strip of an armature; returns False where the bake does not say how its bones move."""
    try:
        found = dict(_read(drivers, bodies))
    except (OSError, ValueError, SinewError):
        return False
    if len(found) < len(drivers):
        return False
    frames: Floats = min((each.frames for each in found.values()), key=len)
    offsets = bone_offsets(scene, drivers, frames[0])
    wanted = {}
    for bone, each in found.items():
        matrices = each.matrices[: len(frames)].copy()
        matrices[:, :3] /= scene.unit_settings.scale_length
        wanted[bone] = matrices @ np.linalg.inv(offsets[bone])
    channels = pose_channels(scene, rig, frames, wanted)
    motion_track.write_motion(rig, frames / time_stretch(rig), channels, stamp)
    return True


def _read(drivers: Mapping[str, bpy.types.Object], bodies: PlayedBodies) -> Iterator[tuple[str, BodyMatrices]]:
    """Yields the bones of the drivers with where the bake has these."""
    for cache in dict.fromkeys(bodies[obj][0] for obj in drivers.values()):
        names = {bodies[obj][1]: bone for bone, obj in drivers.items() if bodies[obj][0] == cache}
        for key, found in read_matrices(cache, names).items():
            yield names[key], found
