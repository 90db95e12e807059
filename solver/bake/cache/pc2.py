# SPDX-License-Identifier: GPL-3.0-or-later
"""PC2 point caches: positions of the same vertices at evenly spaced times, float32.

    char[12] "POINTCACHE2\\0", int32 version 1, int32 vertices, float32 start, float32 rate, int32 samples
    samples × vertices × 3 float32, all little-endian

`start` and `rate` (frames between samples) are for other programs: Blender's Mesh Cache modifier with Time
Mode "Frame" ignores both. It reads sample `frame_scale · frame − frame_start` and interpolates linearly,
so with k samples per frame from `first` on (tested with Blender 5.0, at subframes too):

    cache_format "PC2", interpolation "LINEAR", play_mode "SCENE", time_mode "FRAME",
    frame_scale = k (Blender allows up to 100), frame_start = k · first (up to ±1048574)
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ...runtime.atomic_files import PART_SUFFIX, replace, write_all
from ...runtime.locked_file_retries import open_when_unlocked, remove_file, retry_while_locked

SIGNATURE = b"POINTCACHE2\0"
VERSION = 1
_HEADER = struct.Struct("<12siiffi")
_COUNT = struct.Struct("<i")
HEADER_BYTES = _HEADER.size
_COUNT_OFFSET = _HEADER.size - _COUNT.size


@dataclass(frozen=True)
class Pc2Header:
    """The header of a PC2 file: vertices per sample, first frame, frames per sample, samples."""

    vertices: int
    start: float
    rate: float
    samples: int

    @property
    def bytes_per_sample(self) -> int:
        """Size of one sample on disk."""
        return self.vertices * 12


def read_header(path: Path) -> Pc2Header:
    """Reads the head of a PC2 file.

    Raises:
        ValueError: The file is not a PC2 file.
        OSError: The file cannot be read.
    """
    with open(path, "rb") as file:
        data = file.read(_HEADER.size)
    if len(data) < _HEADER.size:
        raise ValueError("shorter than the head of a PC2 file")
    signature, version, vertices, start, rate, samples = _HEADER.unpack(data)
    if signature != SIGNATURE or version != VERSION or vertices < 0 or samples < 0:
        raise ValueError("not a PC2 file of version 1")
    return Pc2Header(vertices, start, rate, samples)


def complete_sample_count(path: Path) -> int:
    """Returns the number of samples that the header counts and the file contains.

    Raises:
        ValueError, OSError: As `read_header`.
    """
    head = read_header(path)
    return min(head.samples, (path.stat().st_size - _HEADER.size) // max(head.bytes_per_sample, 1))


def read_samples(path: Path, first: int, count: int) -> npt.NDArray[np.float32]:
    """Returns `count` samples from `first` on, (count, vertices, 3).

    Raises:
        ValueError: The header does not count them, or the file is too short.
    """
    head = read_header(path)
    if first < 0 or count < 0 or first + count > head.samples:
        raise ValueError(f"samples {first} to {first + count - 1} of {head.samples}")
    with open(path, "rb") as file:
        file.seek(_HEADER.size + first * head.bytes_per_sample)
        data = file.read(count * head.bytes_per_sample)
    if len(data) < count * head.bytes_per_sample:
        raise ValueError("shorter than its head says")
    return np.frombuffer(data, "<f4").reshape(count, head.vertices, 3)


def pc2_bytes(samples: npt.NDArray[np.float32], start: float, rate: float) -> bytes:
    """Returns the bytes of a file of samples (k, vertices, 3)."""
    head = _HEADER.pack(SIGNATURE, VERSION, samples.shape[1], start, rate, len(samples))
    return head + np.ascontiguousarray(samples, "<f4").tobytes()


class Pc2Writer:
    """Appends samples to one file; readers ignore samples that the header does not count yet."""

    def __init__(self, path: Path, vertices: int, start: float, rate: float) -> None:
        """Opens `path` to append after the samples that its header counts, or creates an empty file."""
        self.path = path
        self.vertices = vertices
        self._file = open_when_unlocked(path, os.O_RDWR | os.O_CREAT)
        try:
            self.samples, there = self._sample_counts(start, rate)
            self._written = self.samples
            self.truncate(there)
        except BaseException:
            os.close(self._file)
            raise

    def append(self, samples: npt.NDArray[np.float32]) -> None:
        """Writes and syncs samples (k, vertices, 3) behind the counted ones, without counting them."""
        if samples.ndim != 3 or samples.shape[1:] != (self.vertices, 3):
            raise ValueError(f"samples of shape {samples.shape} for {self.vertices} vertices")
        os.lseek(self._file, self._end_offset(self._written), os.SEEK_SET)
        write_all(self._file, np.ascontiguousarray(samples, "<f4").reshape(-1).view(np.uint8).data)
        os.fsync(self._file)
        self._written += len(samples)

    def commit(self) -> None:
        """Raises the head's count to what was appended; the next sync makes it durable."""
        os.lseek(self._file, _COUNT_OFFSET, os.SEEK_SET)
        write_all(self._file, _COUNT.pack(self._written))
        self.samples = self._written

    def truncate(self, samples: int) -> None:
        """Drops everything behind the first `samples`; lowers the count before the bytes go."""
        self._written = min(samples, self.samples)
        if self._written != self.samples:
            self.commit()
            os.fsync(self._file)
        os.ftruncate(self._file, self._end_offset(self._written))

    def close(self) -> None:
        """Syncs and closes the file."""
        try:
            os.fsync(self._file)
        finally:
            os.close(self._file)

    def _sample_counts(self, start: float, rate: float) -> tuple[int, int]:
        """Returns how many samples the head counts and how many are there, of a file that has a head after this."""
        size = os.fstat(self._file).st_size
        if size < _HEADER.size:
            os.ftruncate(self._file, 0)
            write_all(self._file, _HEADER.pack(SIGNATURE, VERSION, self.vertices, start, rate, 0))
            return 0, 0
        head = read_header(self.path)
        if head.vertices != self.vertices:
            raise ValueError(f"{head.vertices} vertices where {self.vertices} were expected")
        return head.samples, (size - _HEADER.size) // max(head.bytes_per_sample, 1)

    def _end_offset(self, samples: int) -> int:
        return _HEADER.size + samples * self.vertices * 12


class AtomicPc2Writer:
    """Writes a file that is there only when it is whole: beside its place first, synced and renamed at the end."""

    def __init__(self, path: Path, vertices: int, start: float, rate: float) -> None:
        """Begins the file beside `path`."""
        self.path, self.vertices = path, vertices
        self._part = path.with_name(path.name + PART_SUFFIX)
        self._head = (SIGNATURE, VERSION, vertices, start, rate)
        self._samples = 0
        self._file = retry_while_locked(lambda: open(self._part, "wb", buffering=1 << 20), self._part)
        self._file.write(_HEADER.pack(*self._head, 0))

    def append(self, sample: npt.NDArray[np.float32]) -> None:
        """Writes a sample, (vertices, 3)."""
        if sample.shape != (self.vertices, 3):
            raise ValueError(f"a sample of shape {sample.shape} for {self.vertices} vertices")
        self._file.write(np.ascontiguousarray(sample, "<f4").data)
        self._samples += 1

    def finish(self) -> None:
        """Lets the file be there."""
        self._file.seek(0)
        self._file.write(_HEADER.pack(*self._head, self._samples))
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        replace(self._part, self.path)

    def discard(self) -> None:
        """Leaves nothing behind; after `finish` it changes nothing."""
        try:
            self._file.close()
        except OSError:
            pass  # what could not be written need not be
        remove_file(self._part)
