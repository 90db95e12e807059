# SPDX-License-Identifier: GPL-3.0-or-later
"""What is measured of the demo whose skin wrinkles: how deep the wrinkles are, and how many lie above each other."""

from __future__ import annotations

import numpy as np

import skin_wrinkles
from sinew.solver.bake.cache import CacheReader
from sinew.solver.bake.cache.pc2 import read_samples

SCENES = ("skin_wrinkles",)
DEGREE = 4  # of the polynomial that a smooth forehead follows upwards


def wrinkles(cache: CacheReader) -> dict[str, float]:
    """Returns for the last frame and a line up the middle of the skin the root mean square of how far it is from a
    smooth one [m], and how often it crosses that."""
    last = cache.last_frame()
    assert last is not None
    x = read_samples(cache.play_path("Skin"), last - cache.metadata.frame_start, 1)[0]
    across, up = (round(size / skin_wrinkles.SKIN_CELL) for size in (skin_wrinkles.WIDTH, skin_wrinkles.HEIGHT))
    line = x[(across // 2) * (up + 1) : (across // 2 + 1) * (up + 1)].astype(np.float64)
    height = line[:, 2] - line[:, 2].mean()
    off = line[:, 1] - np.polyval(np.polyfit(height, line[:, 1], DEGREE), height)
    return {"wrinkle_depth": float(off.std()), "wrinkle_crossings": float((np.diff(np.sign(off)) != 0).sum())}
