# SPDX-License-Identifier: GPL-3.0-or-later
"""What is told by a track that jumps: elsewhere from one sample to the next, instead of having gone there.

A collider that is put somewhere else within one sample, as at a cut or by keyframes without interpolation, must not
hit what lies between; until the next sample it stays where it was. It jumps where it moves within one sample much
faster than both before and after,

- by more than its own size: nothing goes so far without being seen on the way;
- by less, if it was seen half-way at one of the two places (`CUT` in its track of cuts), or if nobody looked and it
  rests before and after. What was seen on its way is a blow.

What moves by next to nothing carries what lies on it, cut or not.
"""

from __future__ import annotations

from collections.abc import Callable

from ..arrays import Floats
from ..tracks import SAME_TIME, TrackReader

MUCH_FASTER = 5.0  # times the speed before and after
AT_REST = 50.0  # the same from which it rests before and after
LEAST = 0.05  # what a jump moves by at least, in sizes
CUT, MOVE = 1.0, 2.0  # in a track of cuts: half-way to this sample it was at one of the two places, or between them

Distance = Callable[[Floats, Floats], float]


def track_of_cuts(track: str) -> str:
    """Returns the name of the track that says what was seen half-way to samples of another one; 0: nobody looked."""
    return track.rpartition(".")[0] + ".cuts"


def ends_of_step(
    tracks: TrackReader, name: str, begin: float, end: float, span: float, size: float, distance: Distance
) -> tuple[Floats, Floats]:
    """Returns the values of a collider's track at both ends of a step, the same twice where it stands still or jumps.

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
    if not distance(first, last) * span > LEAST * size * (end - begin):
        return first, last
    times, values, before = tracks.around(name, begin, end)
    if not is_short(times, before, span):
        return first, last
    cuts = track_of_cuts(name)
    seen = float(tracks.sample(cuts, times[before + 1])) if tracks.has(cuts) else 0.0
    if not _jumps(times, values, before, size, distance, seen):
        return first, last
    value = values[before + 1] if end > times[before + 1] - SAME_TIME else values[before]
    return value, value


def arrives(
    tracks: TrackReader, name: str, begin: float, end: float, span: float, size: float, distance: Distance
) -> bool:
    """Whether what a track tells of is elsewhere in a step than its track says at the beginning; arguments as above."""
    first, last = ends_of_step(tracks, name, begin, end, span, size, distance)
    return first is last and first.tobytes() != tracks.sample(name, begin).tobytes()


def is_short(times: Floats, at: int, span: float) -> bool:
    """Whether there is a sample after `at`, and so soon that a jump may lie between them."""
    if at + 1 == len(times) or times[at] - SAME_TIME > times[at + 1]:
        return False
    return bool(times[at + 1] - times[at] <= span + SAME_TIME)


def _jumps(times: Floats, values: Floats, at: int, size: float, distance: Distance, seen: float) -> bool:
    """Whether values jump between sample `at` and the next one."""
    moved = distance(values[at], values[at + 1])
    if not moved > LEAST * size:
        return False

    def speed(i: int) -> float:
        inside = 0 <= i < len(times) - 1
        return distance(values[i], values[i + 1]) / (times[i + 1] - times[i]) if inside else 0.0

    around, own = max(speed(at - 1), speed(at + 1)), moved / (times[at + 1] - times[at])
    if moved > size:
        return own > MUCH_FASTER * around
    return seen != MOVE and own > (MUCH_FASTER if seen == CUT else AT_REST) * around
