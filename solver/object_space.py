# SPDX-License-Identifier: GPL-3.0-or-later
"""World positions as the object of a body has to show them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .arrays import Floats
from .tracks import TrackReader


def in_object_space(tracks: TrackReader, key: str, world: Floats, time: float) -> npt.NDArray[np.float32]:
    """Returns world positions [m], (n, 3), in the space of the body's object at a time [s].

    Sum by sum in fixed order, so that points of equal bits in the world have equal bits here too.
    """
    name = f"body.{key}.matrix"
    if not tracks.has(name):
        return world.astype(np.float32)
    matrix = tracks.sample(name, time)
    inverse = np.linalg.inv(matrix[:3, :3])
    x, y, z = (world - matrix[:3, 3]).T
    local = np.empty((len(world), 3), np.float32)
    for axis, (a, b, c) in enumerate(inverse):
        local[:, axis] = a * x + b * y + c * z
    return local
