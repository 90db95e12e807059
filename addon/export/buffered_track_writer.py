# SPDX-License-Identifier: GPL-3.0-or-later
"""A buffer in front of the writer of tracks: it drops repeated values and writes in chunks."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...solver.scene.tracks import TrackWriter

# samples are kept in memory up to this many bytes per track
CHUNK_BYTES = 8 << 20


class BufferedTrackWriter:
    """Buffers the samples of all tracks of a scene, in the order of time; stores a constant track once."""

    def __init__(self, writer: TrackWriter) -> None:
        self._writer = writer
        self._tracks: dict[str, _Track] = {}

    def add(self, name: str, time: float, value: npt.ArrayLike, kind: str = "linear") -> None:
        """Adds the value of a track at a time [s]."""
        array = np.array(value, np.float64)
        self._tracks.setdefault(name, _Track(name, kind, self._writer)).add(time, array)

    def close(self) -> None:
        """Writes what is left."""
        for track in self._tracks.values():
            track.flush()
        self._writer.close()


class _Track:
    def __init__(self, name: str, kind: str, writer: TrackWriter) -> None:
        self.name, self.kind, self.writer = name, kind, writer
        self.times: list[float] = []
        self.values: list[np.ndarray] = []
        self.last: np.ndarray | None = None
        # the time of a value that equals the one before it, and is needed only if another one follows
        self.pending: float | None = None

    def add(self, time: float, value: np.ndarray) -> None:
        if self.last is not None and np.array_equal(value, self.last):
            self.pending = time
            return
        if self.pending is not None and self.last is not None:
            self._keep(self.pending, self.last)
        self.pending = None
        self._keep(time, value)
        if sum(v.nbytes for v in self.values[:1]) * len(self.values) > CHUNK_BYTES:
            self.flush()

    def flush(self) -> None:
        if self.times:
            self.writer.append(self.name, np.array(self.times), np.stack(self.values), self.kind)
            self.times, self.values = [], []

    def _keep(self, time: float, value: np.ndarray) -> None:
        self.times.append(time)
        self.values.append(value)
        self.last = value
