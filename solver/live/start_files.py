# SPDX-License-Identifier: GPL-3.0-or-later
"""What bodies would begin as, if a bake began as a live run is now, in files that a .blend keeps as they are.

live/KEY.start     a start (`scene/start.py`) in the space of the body's object [Blender units]
live/starts.json   {"refused": {KEY: {"kind", "sentence", "next_step"}}}: bodies that cannot begin so, and why
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..bake.cache.layout import LIVE_FOLDER, live_start_path
from ..runtime.arrays import Floats, floats
from ..runtime.atomic_files import write_atomic
from ..runtime.errors import BadInput
from ..runtime.storage_errors import make_folder, named_errors
from ..scene.tracks import TrackReader
from ..simulation.kept_start import keep_start
from ..simulation.simulated_scene import SimulatedScene
from .refused_starts import write_refused


def write_starts(folder: Path, simulation: SimulatedScene) -> None:
    """Writes the start of every body that can have one into a cache, and which ones cannot.

    Raises:
        StorageFailed: The operating system refused.
    """
    refused: dict[str, Mapping[str, Any]] = {}
    make_folder(folder / LIVE_FOLDER)
    tracks, begin, now = simulation.tracks, simulation.scene.settings.start_time, simulation.state.time
    for number, body in enumerate(simulation.scene.bodies):
        try:
            start = keep_start(simulation, number)
        except BadInput as problem:
            refused[body.key] = problem.as_warning()
            continue
        at_rest = start.transformed(np.linalg.inv(_matrix(tracks, body.key, begin)))
        seen = start.transformed(np.linalg.inv(_matrix(tracks, body.key, now)))
        with named_errors(folder):
            path = live_start_path(folder, body.key)
            write_atomic(path, replace(at_rest, positions=seen.positions).to_bytes(), is_durable=False)
    write_refused(folder, refused)


def _matrix(tracks: TrackReader, key: str, time: float) -> Floats:
    name = f"body.{key}.matrix"
    return floats(tracks.sample(name, time), 4, 4) if tracks.has(name) else np.eye(4)
