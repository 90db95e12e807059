# SPDX-License-Identifier: GPL-3.0-or-later
"""Gravity, as the scene or its animation has it."""

from __future__ import annotations

import numpy as np

from ..runtime.arrays import Floats
from .scene import Scene
from .tracks import TrackReader


def gravity_at(scene: Scene, tracks: TrackReader, time: float) -> Floats:
    """Returns g at a time [m/s²], (3,)."""
    return np.asarray(tracks.sample("gravity", time) if tracks.has("gravity") else scene.settings.gravity, np.float64)
