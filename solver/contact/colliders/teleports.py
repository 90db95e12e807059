# SPDX-License-Identifier: GPL-3.0-or-later
"""Detects teleports: a collider that is elsewhere from one sample of its track to the next, without having moved there.

A collider that is put elsewhere within one sample, as at a cut or by keyframes without interpolation, must not hit
what lies in between; until the next sample it stays where it was. It teleports if it moves within one sample much
faster than both before and after, and

- by more than its own size: nothing moves so far without a sample on the way;
- or by less, if the sampler saw it half-way at one of both places (`CUT` in its track of cuts), or if the sampler did
  not look and the collider rests before and after. A collider seen on its way hits what it meets.

A collider that hardly moves carries what lies on it, cut or not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ...runtime.arrays import Floats
from ...scene.tracks import TIME_TOLERANCE, TrackReader

MIN_SPEED_RATIO = 5.0  # speed of a teleport over the speed before and after
MIN_SPEED_RATIO_AT_REST = 50.0  # the same from which a collider rests before and after
MIN_JUMP_DISTANCE = 0.05  # shortest teleport, in sizes of the collider
CUT, MOVE = 1.0, 2.0  # values of a track of cuts: half-way to this sample, at one of both places or between them

Distance = Callable[[Floats, Floats], float]


class TeleportCriterion(NamedTuple):
    """What decides whether values of a track are a teleport.

    Attributes:
        max_interval: Time between samples up to which the second may be a teleport [s].
        size: Of the collider [m].
        distance: Returns how far the collider moves from one value to another [m].
    """

    max_interval: float
    size: float
    distance: Distance


def cuts_track_name(track: str) -> str:
    """Returns the name of the track with `CUT` or `MOVE` for samples of another track; 0: the sampler did not look."""
    return track.rpartition(".")[0] + ".cuts"


def values_at_step_ends(
    tracks: TrackReader, name: str, begin: float, end: float, criterion: TeleportCriterion
) -> tuple[Floats, Floats]:
    """Returns the values of a track at both ends of a step [s]; one array twice if the collider rests or teleports."""
    first, last = tracks.sample(name, begin), tracks.sample(name, end)
    if first.tobytes() == last.tobytes():
        return last, last
    span, size, distance = criterion
    if not distance(first, last) * span > MIN_JUMP_DISTANCE * size * (end - begin):
        return first, last
    times, values, before = tracks.samples_around(name, begin, end)
    if not has_adjacent_sample(times, before, span):
        return first, last
    cuts = cuts_track_name(name)
    half_way = float(tracks.sample(cuts, times[before + 1])) if tracks.has(cuts) else 0.0
    if not _is_teleport(times, values, before, criterion, half_way):
        return first, last
    value = values[before + 1] if end > times[before + 1] - TIME_TOLERANCE else values[before]
    return value, value


def teleports(tracks: TrackReader, name: str, begin: float, end: float, criterion: TeleportCriterion) -> bool:
    """Returns whether a collider teleports during a step [s]."""
    first, last = values_at_step_ends(tracks, name, begin, end, criterion)
    return first is last and first.tobytes() != tracks.sample(name, begin).tobytes()


def has_adjacent_sample(times: Floats, at: int, span: float) -> bool:
    """Returns whether a sample follows sample `at` within `span` [s], so that a teleport may lie between them."""
    if at + 1 == len(times) or times[at] - TIME_TOLERANCE > times[at + 1]:
        return False
    return bool(times[at + 1] - times[at] <= span + TIME_TOLERANCE)


def _is_teleport(times: Floats, values: Floats, at: int, criterion: TeleportCriterion, half_way: float) -> bool:
    """Returns whether the collider teleports between sample `at` and the next one."""
    _, size, distance = criterion
    moved = distance(values[at], values[at + 1])
    if not moved > MIN_JUMP_DISTANCE * size:
        return False

    def speed(i: int) -> float:
        inside = 0 <= i < len(times) - 1
        return distance(values[i], values[i + 1]) / (times[i + 1] - times[i]) if inside else 0.0

    around, own = max(speed(at - 1), speed(at + 1)), moved / (times[at + 1] - times[at])
    if moved > size:
        return own > MIN_SPEED_RATIO * around
    return half_way != MOVE and own > (MIN_SPEED_RATIO if half_way == CUT else MIN_SPEED_RATIO_AT_REST) * around
