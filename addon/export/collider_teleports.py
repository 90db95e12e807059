# SPDX-License-Identifier: GPL-3.0-or-later
"""The detection of teleports: between two distant samples a collider either moves, or jumps at once.

Keyframes without interpolation, a driver or a cut put a collider somewhere else at once, which is no blow. Samples do
not tell it from a move within one frame, so where one sets out suddenly the scene is looked at half-way as well.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...solver.runtime.arrays import Floats
from ..evaluation.sample_times import SampleTime
from .buffered_track_writer import BufferedTrackWriter

MAX_SPEED_RATIO = 4.0  # times the speed before, a little below what the solver takes for a jump
MAX_MOVED_SHARE = 0.04  # share of its size that it moves by, likewise
MIN_HALFWAY_SHARE = 0.01  # share of the way from which it is on its way half-way
TRACK_UNKNOWN, TRACK_TELEPORT, TRACK_MOTION = 0.0, 1.0, 2.0  # in its track, of the sample that the way leads to
MAX_SAMPLE_GAP = 1.001  # the most that two samples may be apart, in frames


@dataclass
class _LastSample:
    """Where a collider was: some points of it at a moment [m], and how fast they had come there [m/frame]."""

    moment: SampleTime
    points: Floats
    speed: float = 0.0
    from_: Floats | None = None


class TeleportDetector:
    """Watches colliders, sample by sample."""

    def __init__(self, track_writer: BufferedTrackWriter) -> None:
        self._track_writer, self._seen = track_writer, dict[str, _LastSample]()
        self._first: dict[str, float] = {}
        self._has_track: set[str] = set()
        self._before: SampleTime | None = None
        self.pending: set[str] = set()

    def add(self, key: str, moment: SampleTime, points: Floats) -> None:
        """Takes points of a collider at a moment [m], (k, 3), always the same ones as long as there are as many."""
        before = self._seen.get(key)
        now = _LastSample(moment, points)
        self._first.setdefault(key, moment.time)
        self.pending.discard(key)
        if before is not None and before.points.shape == points.shape:
            frames, way = _frame_time(moment) - _frame_time(before.moment), _mean_distance(before.points, points)
            now.from_, now.speed = before.points, way / frames if frames > 0.0 else 0.0
            size = float(np.linalg.norm(np.ptp(points, axis=0)))
            if (
                0.0 < frames <= MAX_SAMPLE_GAP
                and way > MAX_MOVED_SHARE * size
                and now.speed > MAX_SPEED_RATIO * before.speed
            ):
                self.pending.add(key)
                self._before = before.moment
        self._seen[key] = now
        if key not in self.pending and key in self._has_track:
            self._track_writer.add(_track_name(key), moment.time, TRACK_UNKNOWN, "step")

    def halfway_time(self) -> SampleTime | None:
        """Returns the moment at which colliders are `pending`, None where none is."""
        if not self.pending or self._before is None:
            return None
        after = self._seen[next(iter(self.pending))].moment
        frame, part = divmod(0.5 * (_frame_time(self._before) + _frame_time(after)), 1.0)
        return SampleTime(int(frame), part, 0.5 * (self._before.time + after.time))

    def add_halfway(self, key: str, points: Floats) -> None:
        """Takes where a collider that is `pending` is half-way [m], (k, 3)."""
        seen = self._seen[key]
        self.pending.discard(key)
        if seen.from_ is None or points.shape != seen.points.shape:
            return
        way = MIN_HALFWAY_SHARE * _mean_distance(seen.from_, seen.points)
        is_cut = min(_mean_distance(points, seen.from_), _mean_distance(points, seen.points)) <= way
        if key not in self._has_track:
            self._has_track.add(key)
            self._track_writer.add(_track_name(key), self._first[key], TRACK_UNKNOWN, "step")
        self._track_writer.add(_track_name(key), seen.moment.time, TRACK_TELEPORT if is_cut else TRACK_MOTION, "step")


def box_corners(points: Floats) -> Floats:
    """Returns the corners of the box around points, (8, 3); of nothing those of a cube of one metre around 0."""
    low, high = (points.min(axis=0), points.max(axis=0)) if len(points) else (np.full(3, -0.5), np.full(3, 0.5))
    takes_high = (np.arange(8, dtype=np.int64)[:, None] >> np.arange(3, dtype=np.int64)) & 1
    return np.where(takes_high, high, low)


def _frame_time(moment: SampleTime) -> float:
    return moment.frame + moment.subframe


def _mean_distance(a: Floats, b: Floats) -> float:
    """Returns how far apart points are on average [m]."""
    return float(np.sqrt(((b - a) ** 2).sum(axis=1).mean()))


def _track_name(key: str) -> str:
    return f"collider.{key}.cuts"
