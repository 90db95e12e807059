# SPDX-License-Identifier: GPL-3.0-or-later
"""A bone that a rigid body of the running bake drives, and where the bake says how it moves."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ...solver.bake.cache import CacheMetadata
from ...solver.runtime.arrays import Floats
from ...solver.scene.scene import Settings
from ...solver.scene.tracks import TrackReader
from ..blender_data.object_handle import ObjectHandle


@dataclass(frozen=True, eq=False)
class BakedBone:
    """A bone that a body drives.

    Attributes:
        obj: The body.
        rig, bone: The armature, and the name of the bone.
        file, track: Its samples, and where its object is animated, in `tracks`.
        points: Some of its vertices as the solver begins, world [m], (k, 3).
        stride: Every so many vertices are these.
        first_matrix: World [m] ← the object there, (4, 4).
        offset: The bone ← the object, (4, 4).
        head, settings, tracks: Of the bake.
    """

    obj: ObjectHandle
    rig: ObjectHandle
    bone: str
    file: Path
    track: str
    points: Floats
    stride: int
    first_matrix: Floats
    offset: Floats
    head: CacheMetadata
    settings: Settings
    tracks: TrackReader
