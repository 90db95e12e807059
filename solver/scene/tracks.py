# SPDX-License-Identifier: GPL-3.0-or-later
"""Named inputs that change over time: stored in chunks, sampled by time, and readable while they grow.

    FOLDER/NAME/track.json     {"kind": "linear" | "step" | "rigid"}
    FOLDER/NAME/000000.npz     times (k,) [s], rising over all chunks, and values (k, …)
    FOLDER/complete            an empty file: nothing will be appended any more

"linear" values are interpolated linearly between samples, "step" values hold until the next one, "rigid"
values are 4×4 matrices whose rotation is turned evenly (slerp) and whose translation and stretch are
interpolated linearly. Before the first and after the last sample the nearest one holds.
"""

from __future__ import annotations

import json
import os
import time as clock
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..runtime.arrays import Floats, floats
from ..runtime.atomic_files import write_atomic
from ..runtime.checksums import digest, npz_bytes
from ..runtime.errors import BadInput, StorageFailed
from ..runtime.npz_reader import first_line, read_arrays
from .matrix_interpolation import interpolate_rigid

TRACK_KINDS = ("linear", "step", "rigid")
COMPLETE_MARK = "complete"
NO_SHAPES: Mapping[str, tuple[int, ...]] = MappingProxyType({})
# ends of the names of tracks whose readers take any number; others name what is not one themselves
FINITE_TRACKS = ("pin_stiffness", "gravity")
TIME_TOLERANCE = 1e-9  # times closer than this are those of one frame [s]


class TrackWriter:
    """Appends samples to the tracks of one scene folder."""

    def __init__(self, folder: Path, is_durable: bool = True) -> None:
        """Makes ready to write into the scene in `folder`.

        Args:
            folder: The scene.
            is_durable: Whether each chunk is synced before it is there; else whoever writes syncs all of them later.
        """
        self.folder = folder / "tracks"
        self.is_durable = is_durable
        self.folder.mkdir(parents=True, exist_ok=True)

    def append(self, name: str, times: Floats, values: Floats, kind: str = "linear") -> None:
        """Adds one chunk: `times` (k,) [s] and `values` (k, …); it is read whole or not at all."""
        if kind not in TRACK_KINDS:
            raise ValueError(f"no such kind of track: {kind}")
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        head = folder / "track.json"
        if not head.exists():
            write_atomic(head, json.dumps({"kind": kind}).encode(), self.is_durable)
        path = folder / f"{len(list(folder.glob('*.npz'))):06d}.npz"
        arrays = {"times": np.asarray(times, np.float64), "values": np.asarray(values, np.float64)}
        write_atomic(path, npz_bytes(arrays), self.is_durable)

    def close(self) -> None:
        """Says that nothing will be appended any more."""
        write_atomic(self.folder / COMPLETE_MARK, b"", self.is_durable)


@dataclass
class _LoadedTrack:
    kind: str
    times: Floats
    values: Floats
    chunks: int
    complete: bool


class TrackReader:
    """Samples the tracks of one scene folder, waiting for those that are still being written."""

    def __init__(self, folder: Path, wait: float = 60.0, shapes: Mapping[str, tuple[int, ...]] = NO_SHAPES) -> None:
        """Opens the tracks of the scene in `folder`.

        Args:
            folder: The scene.
            wait: How long a sample is awaited that is not there yet [s].
            shapes: Which shape the values of tracks have to have, by name (`track_shapes.py`).
        """
        self.folder = folder / "tracks"
        self.wait = wait
        self.shapes = shapes
        self._loaded: dict[str, _LoadedTrack] = {}
        self._has_track: dict[str, bool] = {}

    def has(self, name: str) -> bool:
        """Whether the scene has a track of that name."""
        known = self._has_track.get(name)
        if known is None:
            known = (self.folder / name / "track.json").exists()
            # what is not there yet may still come
            if known or (self.folder / COMPLETE_MARK).exists():
                self._has_track[name] = known
        return known

    def sample(self, name: str, time: float) -> Floats:
        """Returns the value of a track at a time [s].

        Raises:
            StorageFailed: The track does not exist, or was not written up to `time` in time.
        """
        track = self._load_until(name, time)
        after = int(np.searchsorted(track.times, time, side="right"))
        if after == 0:
            return track.values[0]
        if after == len(track.times) or track.kind == "step":
            return track.values[after - 1]
        t0, t1 = track.times[after - 1], track.times[after]
        if time == t0:  # what comes next may not be numbers
            return track.values[after - 1]
        s = (time - t0) / (t1 - t0)
        return _interpolate(track.kind, track.values[after - 1], track.values[after], float(s))

    def samples_around(self, name: str, begin: float, end: float) -> tuple[Floats, Floats, int]:
        """Returns samples around a span of time [s], as they are, without anything between them.

        Returns:
            Times, rising, (k,); values, (k, …); and which of them is the last one at or before `begin` (0 where there
            is none). They go up to the second one at or after `end`, and begin with the one before `begin`'s.

        Raises:
            StorageFailed: As `sample`.
        """
        track = self._load_until(name, end)
        before = max(int(np.searchsorted(track.times, begin + TIME_TOLERANCE, side="right")) - 1, 0)
        after = int(np.searchsorted(track.times, end - TIME_TOLERANCE, side="left"))
        first, last = max(before - 1, 0), min(after + 2, len(track.times))
        return track.times[first:last], track.values[first:last], before - first

    def load(self) -> None:
        """Reads all tracks, which are complete: from then on their folder is not needed any more."""
        for head in sorted(self.folder.glob("*/track.json")):
            self._load_until(head.parent.name, -np.inf)
            self._has_track[head.parent.name] = True

    def digest(self, until: float = np.inf) -> str:
        """Returns 64 hex digits of what the tracks say up to a time [s], however they were cut into chunks.

        That a value stays as it is says nothing new: a bake made longer has the same inputs as far as it got.
        """
        names = sorted(head.parent.name for head in self.folder.glob("*/track.json"))
        loaded = {name: self._load(name) for name in names}
        return _digest_of_tracks({name: track for name, track in loaded.items() if track is not None}, until)

    def final_digest(self, until: float) -> str:
        """Returns `digest`, or "" while the tracks are still being written."""
        return self.digest(until) if (self.folder / COMPLETE_MARK).exists() or not self.folder.exists() else ""

    def _load_until(self, name: str, time: float) -> _LoadedTrack:
        end = clock.monotonic() + self.wait
        while True:
            track = self._loaded.get(name)
            if track is None or (time > track.times[-1] and not track.complete):
                track = self._load(name)
            if track is not None and (track.complete or time <= track.times[-1]):
                return track
            if clock.monotonic() > end:
                raise StorageFailed("track-late", name=name, time=time)
            clock.sleep(0.02)

    def _load(self, name: str) -> _LoadedTrack | None:
        """Reads the chunks that came since the last time; None where there is none yet."""
        folder = self.folder / name
        track = self._loaded.get(name)
        # asked before the chunks are listed, so that none can come after a list that is called complete
        complete = (self.folder / COMPLETE_MARK).exists()
        chunks = sorted(folder.glob("*.npz"))
        if not chunks and not complete:
            return None
        try:
            kind = _read_kind(folder)
            times, values = ([], []) if track is None else ([track.times], [track.values])
            for path in chunks[0 if track is None else track.chunks :]:
                chunk = _read_chunk(path, kind)
                times.append(chunk[0])
                values.append(chunk[1])
            if not chunks:
                raise ValueError("it has no samples")
            if any(some.shape[1:] != values[0].shape[1:] for some in values):
                raise ValueError("its chunks hold values of different shapes")
            track = _LoadedTrack(kind, np.concatenate(times), np.concatenate(values), len(chunks), complete)
            self._check_track(name, track)
        except (OSError, ValueError, RecursionError) as problem:
            raise StorageFailed("track-missing", name=name, problem=first_line(problem)) from problem
        self._loaded[name] = track
        return track

    def _check_track(self, name: str, track: _LoadedTrack) -> None:
        """Raises ValueError where a track has values of another shape than its name asks for, or times that fall."""
        wanted = self.shapes.get(name, track.values.shape[1:])
        if track.values.shape[1:] != wanted:
            raise ValueError(f"its values have the shape {track.values.shape[1:]} instead of {wanted}")
        if name in self.shapes and name.endswith(FINITE_TRACKS) and not np.isfinite(track.values).all():
            raise ValueError("some of its values are not numbers")
        if not (np.diff(track.times) >= 0.0).all():
            raise ValueError("its times do not rise")


class Track(NamedTuple):
    """An input that changes over time.

    Attributes:
        times: Of its samples [s], rising; zero is the first frame, (k,).
        values: At these times, (k, …).
        kind: Of `TRACK_KINDS`; None: "rigid" for matrices, (k, 4, 4), and "linear" for all else.
    """

    times: npt.ArrayLike
    values: npt.ArrayLike
    kind: str | None = None


class MemoryTracks(TrackReader):
    """Tracks that are in memory, and in no folder."""

    def __init__(
        self, tracks: Mapping[str, Track | tuple[Any, ...]], shapes: Mapping[str, tuple[int, ...]] = NO_SHAPES
    ) -> None:
        """Takes tracks by name.

        Args:
            tracks: As `Track`, or as tuples of its fields.
            shapes: As for `TrackReader`.

        Raises:
            BadInput: "track-invalid": times or values cannot be those of the track.
        """
        super().__init__(Path(os.devnull), wait=0.0, shapes=shapes)
        for name, given in tracks.items():
            try:
                self._loaded[name] = _track_in_memory(Track(*given))
                self._check_track(name, self._loaded[name])
            except (TypeError, ValueError) as problem:
                raise BadInput("track-invalid", name=name, problem=first_line(problem)) from problem

    def has(self, name: str) -> bool:
        """Whether there is a track of that name."""
        return name in self._loaded

    def digest(self, until: float = np.inf) -> str:
        """Returns 64 hex digits of what the tracks say up to a time [s], as `TrackReader.digest`."""
        return _digest_of_tracks(dict(sorted(self._loaded.items())), until)

    def final_digest(self, until: float) -> str:
        """Returns `digest`."""
        return self.digest(until)

    def save(self, folder: Path) -> None:
        """Writes the tracks into the scene in `folder`."""
        writer = TrackWriter(folder, is_durable=False)
        for name, track in self._loaded.items():
            writer.append(name, track.times, track.values, track.kind)
        writer.close()


class NoTracks(MemoryTracks):
    """A scene in which nothing moves."""

    def __init__(self) -> None:
        super().__init__({})


def _track_in_memory(given: Track) -> _LoadedTrack:
    """Returns the arrays of a track; raises ValueError where they have other types or shapes."""
    times, values = floats(given.times, -1), floats(given.values)
    kind = given.kind or ("rigid" if values.shape[1:] == (4, 4) else "linear")
    if kind not in TRACK_KINDS:
        raise ValueError(f"its kind has to be one of {', '.join(TRACK_KINDS)}")
    if not np.isfinite(times).all():
        raise ValueError("its times are not finite")
    if not len(times) or values.shape[:1] != times.shape:
        raise ValueError(f"it has {len(values) if values.ndim else 0} values for {len(times)} times")
    if kind == "rigid" and values.shape[1:] != (4, 4):
        raise ValueError(f"its values have the shape {values.shape[1:]} instead of (4, 4), for it is rigid")
    return _LoadedTrack(kind, times, values, 1, complete=True)


def _digest_of_tracks(tracks: Mapping[str, _LoadedTrack], until: float) -> str:
    """Returns the digest of tracks in their order, without what they say after a time [s]."""
    parts: list[bytes | str | np.ndarray] = []
    for name, track in tracks.items():
        count = _distinct_count(track, until)
        parts += [name, track.kind, track.times[:count], track.values[:count]]
    return digest(parts)


def _read_kind(folder: Path) -> str:
    """Returns the kind that the head of a track says.

    Raises:
        OSError, ValueError: It cannot be read, or is no such head.
    """
    head = json.loads((folder / "track.json").read_text(encoding="utf-8"))
    kind = head.get("kind") if isinstance(head, dict) else None
    if kind not in TRACK_KINDS:
        raise ValueError(f"kind in track.json has to be one of {', '.join(TRACK_KINDS)}")
    return kind


def _read_chunk(path: Path, kind: str) -> tuple[Floats, Floats]:
    """Returns times (k,) and values (k, …) of a chunk. Values may be what is no number: whoever reads them says so.

    Raises:
        OSError, ValueError: It cannot be read, or its arrays have other types or shapes.
    """
    found = read_arrays(path)
    times, values = found.get("times"), found.get("values")
    if times is None or values is None:
        raise ValueError(f"{path.name} lacks times or values")
    if times.dtype != np.float64 or times.ndim != 1 or not len(times) or not np.isfinite(times).all():
        raise ValueError(f"times of {path.name} have to be finite float64 of shape (k,)")
    if values.dtype != np.float64 or values.shape[:1] != times.shape:
        raise ValueError(f"values of {path.name} have to be float64 of shape ({len(times)}, …)")
    if kind == "rigid" and values.shape[1:] != (4, 4):
        raise ValueError(f"values of {path.name} have to be of shape ({len(times)}, 4, 4), for the track is rigid")
    return times, values


def _distinct_count(track: _LoadedTrack, until: float) -> int:
    """Returns how many samples up to a time are left without those at the end that repeat the one before."""
    count = int(np.searchsorted(track.times, until + TIME_TOLERANCE, side="right"))
    while count > 1 and np.array_equal(track.values[count - 1], track.values[count - 2]):
        count -= 1
    return max(count, 1)


def _interpolate(kind: str, a: Floats, b: Floats, s: float) -> Floats:
    return interpolate_rigid(a, b, s) if kind == "rigid" else a + s * (b - a)
