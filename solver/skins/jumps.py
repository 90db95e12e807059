# SPDX-License-Identifier: GPL-3.0-or-later
"""What is told by a track that jumps: elsewhere from one sample to the next, instead of having gone there.

A collider that is put somewhere else within one sample, as at a cut or by keyframes without interpolation, must not
hit what lies between. It jumps where it moves by more than its own size within one sample, and much faster than both
before and after. Until the next sample it stays where it was.
"""

from __future__ import annotations

from collections.abc import Callable

from ..arrays import Floats
from ..tracks import SAME_TIME, TrackReader

MUCH_FASTER = 5.0  # times the speed before and after

Distance = Callable[[Floats, Floats], float]


def ends_of_step(
    tracks: TrackReader, name: str, begin: float, end: float, span: float, size: float, distance: Distance
) -> tuple[Floats, Floats]:
    """Returns the values of a track at both ends of a step, the same twice where it stands still or jumps.

    Args:
        tracks, name: The track.
        begin, end: Of the step [s].
        span: Samples that are farther apart in time are no jump [s].
        size: Of what moves [m].
        distance: How far it moves from one value to another [m].
    """
    first, last = tracks.sample(name, begin), tracks.sample(name, end)
    if first.tobytes() == last.tobytes():
        return last, last
    if not distance(first, last) * span > size * (end - begin):
        return first, last
    times, values, before = tracks.around(name, begin, end)
    if not _jumps(times, values, before, span, size, distance):
        return first, last
    value = values[before + 1] if end > times[before + 1] - SAME_TIME else values[before]
    return value, value


def _jumps(times: Floats, values: Floats, at: int, span: float, size: float, distance: Distance) -> bool:
    """Whether values jump between sample `at` and the next one."""
    if at + 1 == len(times) or times[at] - SAME_TIME > times[at + 1] or times[at + 1] - times[at] > span + SAME_TIME:
        return False
    moved = distance(values[at], values[at + 1])
    if not moved > size:
        return False

    def speed(i: int) -> float:
        inside = 0 <= i < len(times) - 1
        return distance(values[i], values[i + 1]) / (times[i + 1] - times[i]) if inside else 0.0

    return moved / (times[at + 1] - times[at]) > MUCH_FASTER * max(speed(at - 1), speed(at + 1))
