# SPDX-License-Identifier: GPL-3.0-or-later
"""Gravity at a time, of the scene or of its track."""

from __future__ import annotations

import numpy as np

from ..runtime.arrays import Floats
from .scene import Scene
from .tracks import TrackReader


def gravity_at(scene: Scene, tracks: TrackReader, time: float) -> Floats:
    """Returns g at a time [m/s²], (3,)."""
    return np.asarray(tracks.sample("gravity", time) if tracks.has("gravity") else scene.settings.gravity, np.float64)
