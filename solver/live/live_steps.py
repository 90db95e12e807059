# SPDX-License-Identifier: GPL-3.0-or-later
"""How long the steps of a live run are, and which of its frames are kept."""

from __future__ import annotations

import math
from dataclasses import dataclass

STEPS_PER_SECOND = 60.0  # at least: so many steps a frame that there are as many, each one a sample


def steps_per_frame(frames_per_second: float) -> int:
    """Returns how many steps a live run takes for a frame."""
    return max(math.ceil(STEPS_PER_SECOND / frames_per_second - 1.0e-9), 1)


@dataclass(frozen=True)
class KeptFrames:
    """Frames of a run: the first of them, counted from the beginning, and how many follow it."""

    first: int
    count: int


def kept_frames(steps: int, in_frame: int, frames_per_second: float, seconds: float | None) -> KeptFrames:
    """Returns which frames of a run are kept.

    Args:
        steps: How many the run has.
        in_frame: How many a frame has.
        frames_per_second: As it says.
        seconds: The last ones that are kept, to the next whole frame; None: the whole run is.
    """
    whole = steps // in_frame
    count = whole if seconds is None else min(max(math.ceil(seconds * frames_per_second - 1.0e-9), 1), whole)
    return KeptFrames(whole - count, count)
