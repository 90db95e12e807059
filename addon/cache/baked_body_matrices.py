# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a bake has the object of a body at every sample: a rigid body as it has moved, others as they are animated."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...solver.bake.cache import CacheMetadata, layout
from ...solver.bake.cache.pc2 import complete_sample_count, read_samples
from ...solver.mesh.rigid_alignment import fit_rigid_motions
from ...solver.runtime.arrays import Floats
from ...solver.runtime.checksums import digest
from ...solver.scene.scene import Body, Scene
from ...solver.scene.tracks import TrackReader

MAX_FITTED_VERTICES = 2000  # of a rigid body, whose motion any few say


@dataclass(frozen=True)
class BodyMatrices:
    """Where the object of a body is.

    Attributes:
        frames: Of the samples, rising, (k,).
        matrices: World [m] ← object space [Blender units], (k, 4, 4).
        is_rigid: Whether they are those of a rigid body, which the vertices of its mesh move with.
    """

    frames: Floats
    matrices: Floats
    is_rigid: bool


def matrices_stamp(cache: Path, key: str) -> str:
    """Returns a text that changes with what `read_matrices` returns.

    Raises:
        OSError, ValueError: The cache lacks the body, or is damaged.
        StorageFailed: The folder has no cache.
    """
    path, head = layout.play_path(cache, key), CacheMetadata.load(cache)
    count = complete_sample_count(path)
    wanted = sorted({0, count // 3, 2 * count // 3, count - 1}) if count else []
    content = [np.ascontiguousarray(read_samples(path, number, 1)) for number in wanted]
    return digest([f"{key} {head.frame_start} {head.samples_per_frame} {count}", *content])


def read_matrices(cache: Path, keys: Collection[str]) -> dict[str, BodyMatrices]:
    """Returns where a bake has the objects of bodies, by key; of those that it has, and that are not in a line.

    Raises:
        OSError, ValueError, StorageFailed: The cache is damaged.
    """
    folder, head = cache / layout.SCENE_FOLDER, CacheMetadata.load(cache)
    scene, tracks = Scene.load(folder), TrackReader(folder)
    found = {}
    for body in scene.bodies:
        if body.key in keys:
            read = _read_body(cache, head, scene, body, tracks)
            if read is not None:
                found[body.key] = read
    return found


def _read_body(cache: Path, head: CacheMetadata, scene: Scene, body: Body, tracks: TrackReader) -> BodyMatrices | None:
    path, track = layout.play_path(cache, body.key), f"body.{body.key}.matrix"
    count = complete_sample_count(path)
    if count == 0:
        return None
    frames = np.array([head.frame_of_sample(number) for number in range(count)], np.float64)
    animated = np.array([tracks.sample(track, scene.settings.time(frame)) for frame in frames])
    if not body.is_rigid or body.fracture is not None:  # pieces of one go their own ways
        return BodyMatrices(frames, animated, False)
    step = max(body.played_count // MAX_FITTED_VERTICES, 1)
    played = np.asarray(read_samples(path, 0, count)[:, ::step], np.float64)
    world = np.einsum("kij,knj->kni", animated[:, :3, :3], played) + animated[:, None, :3, 3]
    motions = fit_rigid_motions(body.vertices[: body.played_count : step], world)
    if motions is None:
        return None
    return BodyMatrices(frames, motions @ tracks.sample(track, scene.settings.start_time), True)
