# SPDX-License-Identifier: GPL-3.0-or-later
"""A broken body as one object per piece, each with its own motion file in the cache: `result/KEY-piece-N.pc2`."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import numpy.typing as npt

from ...solver.bake.cache import CacheMetadata, layout, pc2
from ...solver.runtime.atomic_files import PART_SUFFIX, replace
from ...solver.runtime.errors import StorageFailed
from ...solver.runtime.storage_errors import named_errors
from ..cache.final_mesh_file import StoredResult
from ..playback.attribute_modifier import VERTEX_INDEX_ATTRIBUTE
from . import result_objects
from .source_mesh_arrays import SourceMesh

PIECE_PROPERTY = "piece"


def make_piece_objects(
    scene: bpy.types.Scene,
    obj: bpy.types.Object,
    result: StoredResult,
    source: SourceMesh,
    folder: Path,
    key: str,
) -> list[bpy.types.Object]:
    """Makes an empty in place of a body and one object per piece, and writes their motion into the cache.

    Raises:
        StorageFailed: The cache is damaged or cannot be written.
    """
    samples = _samples(folder, key, len(result.rest))
    head = CacheMetadata.load(folder)
    parent = result_objects.make_parent(scene, obj)
    made = [parent]
    try:
        for number in range(int(result.piece.max(initial=-1)) + 1):
            piece, vertices = result.piece_mesh(number)
            points = samples[0, vertices].astype(np.float64)
            if is_dust(samples, vertices):
                continue  # shown as a particle
            made.append(result_objects.make_piece(scene, obj, parent, piece, source, points))
            name = made[-1].data.attributes.new(VERTEX_INDEX_ATTRIBUTE, "INT", "POINT")
            name.data.foreach_set("value", np.ascontiguousarray(vertices, np.int32))
            around = samples[:, vertices] - result_objects.box_centre(points).astype(np.float32)
            _write(_path(folder, key, number), pc2.pc2_bytes(around, head.frame_start, 1.0 / head.samples_per_frame))
    except BaseException:
        result_objects.remove(made)
        raise
    return made


def is_dust(samples: npt.NDArray[np.float32], vertices: npt.NDArray) -> bool:
    """Whether a piece of some vertices has shrunk to a point by the last sample, (samples, k, 3)."""
    return bool((np.ptp(samples[-1, vertices], axis=0) == 0.0).all())


def motion_path(folder: Path, key: str, made: bpy.types.Object) -> Path:
    """Returns the motion file of a piece."""
    return _path(folder, key, made.data.attributes[PIECE_PROPERTY].data[0].value)


def _path(folder: Path, key: str, number: int) -> Path:
    _, motion = layout.result_paths(folder, key)
    return motion.with_name(f"{key}-piece-{number + 1}.pc2")


def _samples(folder: Path, key: str, count: int) -> npt.NDArray[np.float32]:
    """Returns the motion of the whole result, read lazily, (samples, k, 3).

    Raises:
        StorageFailed: The file is damaged.
    """
    _, motion = layout.result_paths(folder, key)
    try:
        head = pc2.read_header(motion)
        if head.vertices != count:
            raise ValueError(f"{head.vertices} vertices, not {count}")
        shape = (head.samples, count, 3)
        return np.memmap(motion, "<f4", "r", offset=pc2.HEADER_BYTES, shape=shape)
    except (OSError, ValueError) as problem:
        file = motion.relative_to(folder).as_posix()
        raise StorageFailed("cache-damaged", path=str(folder), file=file, problem=str(problem)) from problem


def _write(path: Path, data: bytes) -> None:
    """Writes a file atomically but without a sync, since it can be made again at any time."""
    part = path.with_name(path.name + PART_SUFFIX)
    with named_errors(path.parent):
        part.write_bytes(data)
        replace(part, path, is_durable=False)
