# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulate Selected: bakes some bodies anew, while the others move as they are baked and do not feel them.

The new frames go into a cache of their own inside of that of the pass (`addon/cache/selected_body_caches.py`), which
counts once it is complete. So the former bake stays whatever happens, and the other bodies keep their files.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

import bpy

from ...solver.bake.cache import layout
from ...solver.runtime.errors import BadInput, SinewError, StorageFailed
from ..blender_data.object_keys import body_key
from ..cache import cache_folder_status, selected_body_caches
from ..cache.bake_passes import BakePass, body_folder, passes
from ..evaluation.sample_times import frame_range
from ..objects import roles
from .outdated_bodies import bodies_of_pass, outdated_bodies


def find_chosen(scene: bpy.types.Scene, uids: Collection[int]) -> list[bpy.types.Object]:
    """Returns the bodies of a scene with some session ids."""
    return [obj for obj in roles.bodies(scene) if obj.session_uid in uids]


def check_selected(scene: bpy.types.Scene, bake: Path, chosen: Collection[bpy.types.Object]) -> None:
    """Makes sure that bodies can be baked while the others of their passes move as they are baked.

    Args:
        scene: The scene.
        bake: The folder of the whole bake.
        chosen: The bodies.

    Raises:
        BadInput: There are none, or another body is not baked to the end.
        StorageFailed: Another process is writing the bake.
    """
    if not chosen:
        raise BadInput("no-body-selected", name=scene.name)
    end = frame_range(scene)[1]
    for bake_pass in chosen_passes(scene, bake, chosen):
        seen = cache_folder_status.read_status(bake_pass.folder)
        if seen.is_written:
            raise StorageFailed("cache-locked", path=str(bake_pass.folder))
        others = [obj for obj in bodies_of_pass(scene, bake_pass) if obj not in chosen]
        if seen.metadata is None or seen.last_frame is None:
            names = [obj.name for obj in (*others, *chosen)]
            raise BadInput("selected-without-bake", name=names[0])
        for obj in others:
            last = _last_baked_frame(scene, obj, bake)
            if last is None or last < end:
                raise BadInput("selected-follows-unbaked", name=obj.name, done=f" beyond frame {last}" if last else "")


def check_resumable(scene: bpy.types.Scene, bake: Path) -> None:
    """Makes sure that no body of a bake of one pass was baked after the others: nothing goes on from there.

    Raises:
        BadInput: One was.
    """
    if selected_body_caches.newest_first(bake):
        raise BadInput("selected-not-resumable", name=scene.name)


def _last_baked_frame(scene: bpy.types.Scene, obj: bpy.types.Object, bake: Path) -> int | None:
    seen = cache_folder_status.read_status(body_folder(scene, obj, bake))
    is_there = seen.metadata is not None and any(body.key == body_key(obj) for body in seen.metadata.bodies)
    return seen.last_frame if is_there else None


def selected_warnings(scene: bpy.types.Scene, bake: Path, chosen: Collection[bpy.types.Object]) -> Iterator[SinewError]:
    """Yields what is doubtful about baking some bodies alone: others that have changed since they were baked."""
    for bake_pass in chosen_passes(scene, bake, chosen):
        for obj in outdated_bodies(scene, bake_pass):
            if obj not in chosen:
                yield SinewError("selected-follows-outdated", name=obj.name)


def chosen_passes(scene: bpy.types.Scene, bake: Path, chosen: Collection[bpy.types.Object]) -> list[BakePass]:
    """Returns the passes that have some bodies, in their order; `bake` is the folder of the whole bake."""
    numbers = {int(obj.sinew.bake_pass) for obj in chosen}
    return [each for each in passes(scene, bake) if each.number in numbers]


def new_folder(bake_pass: BakePass) -> Path:
    """Returns the folder for the next bake of bodies of a pass, after deleting what no body plays.

    Raises:
        StorageFailed: Another process is writing such a bake, or the operating system refused.
    """
    selected_body_caches.delete_unplayed(bake_pass.folder)
    return selected_body_caches.next_folder(bake_pass.folder)


def delete_unplayed(folder: Path) -> SinewError | None:
    """Deletes what no body plays beside a bake of bodies that has ended, and that one where it is not complete.

    Returns:
        Why it could not be done, or None.
    """
    assert layout.is_selected_name(folder.name)
    try:
        selected_body_caches.delete_unplayed(folder.parent)
    except StorageFailed as problem:
        return problem
    return None
