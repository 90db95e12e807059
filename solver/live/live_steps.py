# SPDX-License-Identifier: GPL-3.0-or-later
"""How long the steps of a live run are."""

from __future__ import annotations

import math

STEPS_PER_SECOND = 60.0  # at least: so many steps a frame that there are as many, each one a sample


def steps_per_frame(frames_per_second: float) -> int:
    """Returns how many steps a live run takes for a frame."""
    return max(math.ceil(STEPS_PER_SECOND / frames_per_second - 1.0e-9), 1)
