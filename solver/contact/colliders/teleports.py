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

from ...runtime.arrays import Floats
from ...scene.tracks import TIME_TOLERANCE, TrackReader

MIN_SPEED_RATIO = 5.0  # times the speed before and after
MIN_SPEED_RATIO_AT_REST = 50.0  # the same from which it rests before and after
MIN_JUMP_DISTANCE = 0.05  # what a jump moves by at least, in sizes
CUT, MOVE = 1.0, 2.0  # in a track of cuts: half-way to this sample it was at one of the two places, or between them

Distance = Callable[[Floats, Floats], float]


def cuts_track_name(track: str) -> str:
    """Returns the name of the track that says what was seen half-way to samples of another one; 0: nobody looked."""
    return track.rpartition(".")[0] + ".cuts"


def values_at_step_ends(
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
    if not distance(first, last) * span > MIN_JUMP_DISTANCE * size * (end - begin):
        return first, last
    times, values, before = tracks.samples_around(name, begin, end)
    if not has_adjacent_sample(times, before, span):
        return first, last
    cuts = cuts_track_name(name)
    seen = float(tracks.sample(cuts, times[before + 1])) if tracks.has(cuts) else 0.0
    if not _jumps(times, values, before, size, distance, seen):
        return first, last
    value = values[before + 1] if end > times[before + 1] - TIME_TOLERANCE else values[before]
    return value, value


def teleports(
    tracks: TrackReader, name: str, begin: float, end: float, span: float, size: float, distance: Distance
) -> bool:
    """Whether what a track tells of is elsewhere in a step than its track says at the beginning; arguments as above."""
    first, last = values_at_step_ends(tracks, name, begin, end, span, size, distance)
    return first is last and first.tobytes() != tracks.sample(name, begin).tobytes()


def has_adjacent_sample(times: Floats, at: int, span: float) -> bool:
    """Whether there is a sample after `at`, and so soon that a jump may lie between them."""
    if at + 1 == len(times) or times[at] - TIME_TOLERANCE > times[at + 1]:
        return False
    return bool(times[at + 1] - times[at] <= span + TIME_TOLERANCE)


def _jumps(times: Floats, values: Floats, at: int, size: float, distance: Distance, seen: float) -> bool:
    """Whether values jump between sample `at` and the next one."""
    moved = distance(values[at], values[at + 1])
    if not moved > MIN_JUMP_DISTANCE * size:
        return False

    def speed(i: int) -> float:
        inside = 0 <= i < len(times) - 1
        return distance(values[i], values[i + 1]) / (times[i + 1] - times[i]) if inside else 0.0

    around, own = max(speed(at - 1), speed(at + 1)), moved / (times[at + 1] - times[at])
    if moved > size:
        return own > MIN_SPEED_RATIO * around
    return seen != MOVE and own > (MIN_SPEED_RATIO if seen == CUT else MIN_SPEED_RATIO_AT_REST) * around
