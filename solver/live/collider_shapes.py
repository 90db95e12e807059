# SPDX-License-Identifier: GPL-3.0-or-later
"""The shapes that deforming colliders take during a live run, in a file that grows, and which a repetition reads again.

    live/KEY.shapes    vertices of the collider KEY in the world [m], float32, (n, 3), one sample after the other

Whoever drives the run appends a sample and then says its number: {"command": "deform", "collider": KEY, "sample": 12}.
Samples are never written over, so the file is the record of what the collider did.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..bake.cache.layout import LIVE_FOLDER, LIVE_SHAPES_ENDING
from ..runtime.arrays import Floats
from ..runtime.errors import BadInput
from ..runtime.storage_errors import named_errors


@dataclass
class ColliderShapesWriter:
    """Appends the shapes of the colliders of a run.

    Attributes:
        folder: "live" of a cache folder.
        counts: How many samples each collider has, by its key.
    """

    folder: Path
    counts: dict[str, int] = field(default_factory=dict)

    def append(self, key: str, vertices: npt.NDArray[np.floating]) -> int:
        """Writes vertices of a collider [m], world, (n, 3), and returns the number of the sample.

        Raises:
            StorageFailed: The file cannot be written.
        """
        number = self.counts.get(key, 0)
        with named_errors(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            with open(_path(self.folder, key), "ab" if number else "wb") as file:
                file.write(np.ascontiguousarray(vertices, "<f4").tobytes())
        self.counts[key] = number + 1
        return number


def read_shape(cache: Path, key: str, sample: int, vertex_count: int) -> Floats:
    """Returns vertices of a collider [m], world, (n, 3), in a sample.

    Raises:
        BadInput: "live-no-such-shape": there is no such sample, or it has other numbers than finite ones.
    """
    size = 12 * vertex_count
    try:
        with open(_path(cache / LIVE_FOLDER, key), "rb") as file:
            file.seek(sample * size)
            found = np.frombuffer(file.read(size), "<f4")
    except OSError:
        found = np.zeros(0, np.float32)
    if len(found) != 3 * vertex_count or not np.isfinite(found).all():
        raise BadInput("live-no-such-shape", number=sample, name=key)
    return found.astype(np.float64).reshape(vertex_count, 3)


def _path(folder: Path, key: str) -> Path:
    return folder / f"{key}{LIVE_SHAPES_ENDING}"
