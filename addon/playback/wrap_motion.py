# SPDX-License-Identifier: GPL-3.0-or-later
"""The motion of a Wrap: what a bake of fat did with its inner wall, as a file that the Wrap's own object plays.

It follows from the nodes of the frames, so it is written when a bake has ended, one sample a frame.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import bpy
import numpy as np

from ...solver.bake.cache import CacheReader, layout
from ...solver.bake.cache.pc2 import pc2_bytes, read_header
from ...solver.runtime.arrays import Floats
from ...solver.runtime.atomic_files import write_atomic
from ...solver.runtime.errors import StorageFailed
from ...solver.runtime.storage_errors import make_folder, named_errors
from ...solver.scene.scene import Scene
from ..blender_data import sinew_modifier
from ..cache.baked_tets import body_tets
from ..cache.baked_wrap_vertices import WrapVertices
from ..evaluation.matrix_units import scale_to_metres
from ..evaluation.scene_copy import SceneCopy
from . import mesh_cache


def write_wrap_motion(scene: bpy.types.Scene, wrap: bpy.types.Object, cache: Path, key: str) -> None:
    """Writes the motion of the Wrap of the body `key` in a cache; nothing where the cache has no frames of it.

    Raises:
        StorageFailed: The cache cannot be read, or the disk failed.
    """
    reader = CacheReader(cache)
    tets, last = body_tets(reader, key), reader.last_frame()
    if tets is None or last is None:
        return
    body = next(each for each in Scene.load(cache / layout.SCENE_FOLDER).bodies if each.key == key)
    count = body.wrap_vertices
    if not count:
        return
    vertices = WrapVertices(reader, tets, key, count)
    first = reader.metadata.frame_start
    matrices = _matrices(scene, wrap, first, last)
    samples = np.empty((last - first + 1, count, 3), np.float32)
    for number, inverse in enumerate(matrices):
        samples[number] = vertices.positions(first + number) @ inverse[:3, :3].T + inverse[:3, 3]
    path = layout.wrap_path(cache, key)
    make_folder(path.parent)
    with named_errors(cache):
        write_atomic(path, pc2_bytes(samples, float(first), 1.0))


def _matrices(scene: bpy.types.Scene, wrap: bpy.types.Object, first: int, last: int) -> list[Floats]:
    """Returns object space [Blender units] ← world [m] of a Wrap at each frame, (4, 4)."""
    unit = scene.unit_settings.scale_length
    if wrap.parent is None and not wrap.constraints and wrap.animation_data is None:
        return [np.linalg.inv(scale_to_metres(wrap.matrix_world, unit))] * (last - first + 1)
    found = []
    with SceneCopy(scene, {wrap: 0}, plays_motion=True) as scene_copy:
        for frame in range(first, last + 1):
            scene_copy.set_frame(frame)
            found.append(np.linalg.inv(scale_to_metres(scene_copy.matrix(wrap), unit)))
    return found


def attach(wrap: bpy.types.Object, cache: Path, key: str) -> None:
    """Makes a Wrap play what a cache has of it, or show its own shape where that is nothing of as many vertices."""
    path = layout.wrap_path(cache, key)
    try:
        is_same = read_header(path).vertices == len(wrap.data.vertices)
        head = CacheReader(cache).metadata
    except (OSError, ValueError, StorageFailed):
        is_same = False
    modifier = sinew_modifier.find_modifier(wrap)
    if modifier is None:
        return
    if is_same:
        mesh_cache.play_file(wrap, modifier, replace(head, samples_per_frame=1), path)
    else:
        mesh_cache.detach(wrap)
