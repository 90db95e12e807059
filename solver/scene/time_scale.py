# SPDX-License-Identifier: GPL-3.0-or-later
"""Speed: how much simulated time passes while the scene plays.

Δτ = ∫ s(t) dt, with the time t of the scene and the keyed speed s. Physics (inertia, gravity, damping, heat, flow) goes
by τ. What is animated (pins, goals, bones, colliders, keyed settings) stays at its frames, and so moves with its
velocity on the timeline divided by s in simulated time. What a collider throws thus leaves it with the velocity that
one sees the collider have.
"""

from __future__ import annotations

import numpy as np

from ..runtime.errors import SolveFailed
from .scene import Settings
from .settings.simulation_settings import SPEED
from .tracks import TrackReader


def mean_speed(settings: Settings, tracks: TrackReader, begin: float, end: float) -> float:
    """Returns the mean of s over a span of time [s], exact for the track "speed"; s at `end` if the span is empty.

    Raises:
        SolveFailed: "animated-value": a value is outside of the range of Speed, or no number.
    """
    if not tracks.has(SPEED.name):
        return settings.speed
    knots = np.array([end, end])
    if end > begin:
        times = tracks.samples_around(SPEED.name, begin, end)[0]
        knots = np.array([begin, *times[(times > begin) & (times < end)], end])
    # the middle of a linear or constant piece has its mean
    values = [_speed_at(tracks, time) for time in 0.5 * (knots[:-1] + knots[1:])]
    if min(values) == max(values):
        return values[0]
    return float(np.diff(knots) @ values / (end - begin))


def _speed_at(tracks: TrackReader, time: float) -> float:
    value, limits = float(tracks.sample(SPEED.name, time)), SPEED.limits
    if limits is not None and not limits.contains(value):
        raise SolveFailed(
            "animated-value",
            name="Scene",
            setting=SPEED.label,
            time=round(time, 3),
            value=f"{value:.6g}",
            range=limits.text_for(value),
        )
    return value
