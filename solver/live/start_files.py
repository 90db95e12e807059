# SPDX-License-Identifier: GPL-3.0-or-later
"""What bodies would begin as, if a bake began as a live run is now: live/KEY.start, which a .blend keeps as it is.

It is an .npz of the fields of `Start`, in the space of the body's object [Blender units].
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from ..bake.cache.layout import LIVE_FOLDER, live_start_path
from ..runtime.arrays import Floats, floats
from ..runtime.atomic_files import write_atomic
from ..runtime.checksums import npz_bytes
from ..runtime.errors import BadInput
from ..runtime.storage_errors import make_folder, named_errors
from ..scene.start import Start
from ..scene.tracks import TrackReader
from ..simulation.kept_start import keep_start
from ..simulation.simulated_scene import SimulatedScene


def write_starts(folder: Path, simulation: SimulatedScene) -> dict[str, Any]:
    """Writes the start of every body that can have one into a cache; returns an event with all keys, and problems."""
    refused: dict[str, Mapping[str, Any]] = {}
    make_folder(folder / LIVE_FOLDER)
    for number, body in enumerate(simulation.scene.bodies):
        path = live_start_path(folder, body.key)
        try:
            start = keep_start(simulation, number)
        except BadInput as problem:
            refused[body.key] = problem.as_warning()
            with named_errors(folder):
                path.unlink(missing_ok=True)
            continue
        time, now = simulation.scene.settings.start_time, simulation.state.time
        at_rest = start.transformed(np.linalg.inv(_matrix(simulation.tracks, body.key, time)))
        seen = start.transformed(np.linalg.inv(_matrix(simulation.tracks, body.key, now)))
        with named_errors(folder):
            write_atomic(path, start_bytes(at_rest, seen.positions), is_durable=False)
    return {"event": "starts", "bodies": [body.key for body in simulation.scene.bodies], "refused": refused}


def start_bytes(start: Start, positions: Floats | None = None) -> bytes:
    """Returns a start as the bytes of a file, with other positions where these are given."""
    arrays = {each.name: getattr(start, each.name) for each in fields(start)}
    if positions is not None:
        arrays["positions"] = positions
    return npz_bytes({name: values for name, values in arrays.items() if values is not None})


def start_from_bytes(data: bytes, name: str) -> Start:
    """Returns what `start_bytes` made, of the body with a name.

    Raises:
        BadInput: "start-damaged".
    """
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as stored:
            return Start(**{each.name: stored[each.name] for each in fields(Start) if each.name in stored})
    except Exception as problem:  # zipfile, zlib and NumPy raise many kinds of errors
        raise BadInput("start-damaged", name=name) from problem


def _matrix(tracks: TrackReader, key: str, time: float) -> Floats:
    name = f"body.{key}.matrix"
    return floats(tracks.sample(name, time), 4, 4) if tracks.has(name) else np.eye(4)
