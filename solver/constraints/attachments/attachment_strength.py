# SPDX-License-Identifier: GPL-3.0-or-later
"""How strong an attachment is at a time."""

from __future__ import annotations

import numpy as np

from ...runtime.errors import SolveFailed
from ...scene.tracks import TrackReader


def attachment_strength(key: str, strength: float, tracks: TrackReader, time: float, name: str) -> float:
    """Returns the factor on the stiffness of an attachment at a time [s].

    Args:
        key: Beginning of the names of its tracks.
        strength: Without a track.
        tracks: Animated inputs.
        time: [s].
        name: Of the body, for people.

    Raises:
        SolveFailed: It is below zero or no number.
    """
    if not tracks.has(f"{key}.strength"):
        return strength
    found = float(tracks.sample(f"{key}.strength", time))
    if not 0.0 <= found < np.inf:
        raise SolveFailed("attachment-strength", name=name, value=f"{found:.6g}", time=round(time, 3))
    return found
