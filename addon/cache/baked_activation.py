# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads what the source of a muscle's activation made in a bake. Knows no Blender."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...solver.bake.cache import layout
from ...solver.runtime.errors import StorageFailed
from ...solver.scene.track_shapes import ACTIVATION_SOURCE_TRACK
from ...solver.scene.tracks import COMPLETE_MARK, TrackReader
from ..runtime.memo import Memo

MAX_SCENES = 4  # whose tracks are in memory

_readers: Memo[TrackReader] = Memo(MAX_SCENES)


def source_activation(cache: Path, key: str, time: float) -> float | None:
    """Returns what the source of the body `key` made at a time [s], zero at the first frame.

    None where the cache has no such source, or is still being written.
    """
    folder = cache / layout.SCENE_FOLDER
    try:
        stamp = (folder / "tracks" / COMPLETE_MARK).stat().st_mtime_ns
        reader = _readers.result(folder, stamp, lambda: TrackReader(folder, wait=0.0))
        name = f"body.{key}.{ACTIVATION_SOURCE_TRACK}"
        return float(np.clip(reader.sample(name, time), 0.0, 1.0)) if reader.has(name) else None
    except (OSError, StorageFailed):
        return None
