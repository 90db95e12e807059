# SPDX-License-Identifier: GPL-3.0-or-later
"""Lets rigid bodies play their bake as motion of their objects, and bodies below these stay where they were baked.

Where an object cannot be moved as the bake has it, its Mesh Cache modifier moves the vertices instead, as while a bake
runs: a strip takes data-blocks, which only what an undo step follows may make (`undo_step.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import bpy

from ...solver.runtime.arrays import Floats
from ...solver.runtime.checksums import digest
from ...solver.runtime.errors import SinewError
from ..blender_data import motion_track, sinew_modifier
from ..blender_data.motion_track import MotionChannel
from ..blender_data.rna_serialisation import animated_paths
from ..blender_data.time_remapping import time_stretch
from ..cache.baked_body_matrices import matrices_stamp, read_matrices
from ..export.deforming_mesh_check import may_deform
from ..objects import roles
from ..playback.motion_channels import driven_paths, motion_channels


def write_strips(scene: bpy.types.Scene, bodies: Mapping[bpy.types.Object, tuple[Path, str]]) -> None:
    """Writes the strips that bodies lack, those of leaders before those of what moves with them.

    Args:
        scene: The scene.
        bodies: The bodies, with the cache and the key that each plays.
    """
    for rank in _ranks(bodies):
        lacking = {}
        for obj in rank:
            stamp = _stamp(scene, obj, *bodies[obj]) if _is_moved(obj) else None
            if stamp is not None and stamp not in (motion_track.motion_stamp(obj), obj.sinew.vertices_stamp):
                lacking[obj] = stamp
        channels = _channels(scene, {obj: bodies[obj] for obj in lacking})
        for obj, stamp in lacking.items():
            found = channels.get(obj)
            if found is None:
                motion_track.remove_motion(obj)
                obj.sinew.vertices_stamp = stamp
            else:
                motion_track.write_motion(obj, *found, stamp)


def attach(scene: bpy.types.Scene, obj: bpy.types.Object, cache: Path, key: str, is_undoable: bool) -> bool:
    """Lets the motion of a body in a cache play, and returns whether its object moves as the body does.

    Args:
        scene: The scene.
        obj: The body; those that it moves with are attached.
        cache: The cache that has it.
        key: Of the body.
        is_undoable: Whether an undo step follows; without one, only a strip that is there already plays.
    """
    stamp = _stamp(scene, obj, cache, key) if _is_moved(obj) else None
    if stamp is None:
        detach(obj, is_undoable)
        return False
    if is_undoable:
        write_strips(scene, {obj: (cache, key)})
    if motion_track.motion_stamp(obj) != stamp:
        motion_track.hide(obj)
        return False
    motion_track.show(obj)
    return roles.is_rigid(obj)


def detach(obj: bpy.types.Object, is_undoable: bool = True) -> None:
    """Lets an object move as it is animated again; without an undo step the strip is only muted."""
    if is_undoable:
        motion_track.remove_motion(obj)
    else:
        motion_track.hide(obj)


def is_attached(scene: bpy.types.Scene, obj: bpy.types.Object, cache: Path, key: str) -> bool:
    """Whether an object has the strip of its bake, or needs none."""
    stamp = _stamp(scene, obj, cache, key) if _is_moved(obj) else None
    return stamp is None or stamp in (motion_track.motion_stamp(obj), obj.sinew.vertices_stamp)


def leaders_first(bodies: Iterable[bpy.types.Object]) -> list[bpy.types.Object]:
    """Returns bodies in an order in which each is after those that it moves with."""
    return [obj for rank in _ranks(bodies) for obj in rank]


def _ranks(bodies: Iterable[bpy.types.Object]) -> Iterator[list[bpy.types.Object]]:
    """Yields bodies in groups, in which none moves with another one or with those of later groups."""
    left = {obj: {*_leaders(obj)} for obj in bodies}
    while left:
        free = [obj for obj, leaders in left.items() if not leaders & {*left}]
        free = free or [*left]  # dependencies in a circle: Blender breaks it somewhere
        yield free
        for obj in free:
            del left[obj]


def obstacle(obj: bpy.types.Object) -> str | None:
    """Returns what keeps the object of a rigid body from moving as the bake has it; None: nothing."""
    data, modifier = obj.animation_data, sinew_modifier.find_modifier(obj)
    driven = sorted(driven_paths(obj))
    if driven:
        return f"a driver sets its {driven[0]}"
    if data is not None and not data.use_nla:
        return "its Nonlinear Animation is switched off"
    if data is not None and (data.use_tweak_mode or any(track.is_solo for track in data.nla_tracks)):
        return "an NLA track of it is solo, or in tweak mode"
    if may_deform(obj, count=sinew_modifier.input_modifier_count(obj)):
        return "its mesh may deform"
    if obj.sinew.affect_group:
        return "a part of its mesh is not simulated"
    if modifier is not None and (
        modifier.factor != 1.0 or f'modifiers["{modifier.name}"].factor' in animated_paths(obj)
    ):
        return "the Influence of its modifier is not 1"
    return None


def _is_moved(obj: bpy.types.Object) -> bool:
    """Whether a strip has to move an object: one of a rigid body, or that would go along with one."""
    if roles.is_rigid(obj):
        return obstacle(obj) is None
    return any(motion_track.find_track(leader) is not None for leader in _leaders(obj)) and not driven_paths(obj)


def _leaders(obj: bpy.types.Object) -> Iterator[bpy.types.Object]:
    """Yields the objects that an object moves with, by parents and the targets of constraints.

    Baked motion of an armature moves its bones, and only what is a child of one of these.
    """
    seen, waiting = {obj}, [obj]
    while waiting:
        each = waiting.pop()
        targets = [getattr(constraint, "target", None) for constraint in each.constraints]
        for other in [each.parent, *targets]:
            if isinstance(other, bpy.types.Object) and other not in seen:
                seen.add(other)
                waiting.append(other)
                if other.type != "ARMATURE" or other != each.parent or each.parent_type == "BONE":
                    yield other


def _stamp(scene: bpy.types.Scene, obj: bpy.types.Object, cache: Path, key: str) -> str | None:
    """Returns what tells a strip of a body from others: its motion, and that of what it moves with."""
    try:
        own = matrices_stamp(cache, key)
    except (OSError, ValueError, SinewError):
        return None
    leading = [motion_track.motion_stamp(leader) or "" for leader in _leaders(obj)]
    unit = scene.unit_settings.scale_length
    return digest([own, *leading, f"{obj.rotation_mode} {time_stretch(obj):.9g} {unit:.9g}"])


def _channels(
    scene: bpy.types.Scene, bodies: Mapping[bpy.types.Object, tuple[Path, str]]
) -> dict[bpy.types.Object, tuple[Floats, list[MotionChannel]]]:
    """Returns times in the animation of objects, and what the strips of bodies set; nothing where that is no motion."""
    wanted = {}
    for cache in dict.fromkeys(cache for cache, _ in bodies.values()):
        keys = {key: obj for obj, (own, key) in bodies.items() if own == cache}
        try:
            read = read_matrices(cache, keys)
        except (OSError, ValueError, SinewError):
            continue
        for key, found in read.items():
            matrices = found.matrices.copy()
            matrices[:, :3] /= scene.unit_settings.scale_length
            wanted[keys[key]] = found.frames, matrices
    made = motion_channels(scene, wanted) if wanted else {}
    return {obj: (wanted[obj][0] / time_stretch(obj), each) for obj, each in made.items() if each is not None}
