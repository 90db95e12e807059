# SPDX-License-Identifier: GPL-3.0-or-later
"""The last samples of a live run in files that another process maps while they are written.

    live/KEY.pc2     the last `SLOTS` samples of a body, each in its slot for `SLOTS` steps, as its object plays it
    live/head.bin    which of them is the newest

The files have a fixed size, so nothing is left over but them, whichever process is killed. Blender's Mesh Cache
modifier reads a slot by its number. The serial of the head is written before and after its numbers, so that a reader
sees whether they changed meanwhile; a sample that it has read is whole if the newest is less than `SLOTS` − 1 steps on
by then.
"""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..bake.cache.layout import LIVE_HEAD_FILE
from ..bake.cache.pc2 import HEADER_BYTES, pc2_bytes, read_header
from ..runtime.storage_errors import named_errors

SLOTS = 8
MAGIC = b"SNWLIVE1"
# magic, serial, step, commands, time, serial
_HEAD = struct.Struct("<8sqqqdq")


@dataclass(frozen=True)
class SampleHead:
    """Which sample is the newest.

    Attributes:
        step: Number of steps before it.
        commands: How many commands had been taken by then.
        time: Of the scene [s].
    """

    step: int
    commands: int
    time: float

    @property
    def slot(self) -> int:
        """The sample of the PC2 files that has it."""
        return self.step % SLOTS


class SampleWriter:
    """Writes samples one after the other."""

    def __init__(self, folder: Path, first: Mapping[str, npt.NDArray[np.floating]]) -> None:
        """Makes the files, with the first sample in all slots.

        Raises:
            StorageFailed: They cannot be written.
        """
        self.folder, self._serial = folder, 0
        self._maps: dict[str, npt.NDArray[np.float32]] = {}
        with named_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
            for key, positions in first.items():
                path = folder / f"{key}.pc2"
                path.write_bytes(pc2_bytes(np.repeat(positions[None].astype(np.float32), SLOTS, axis=0), 0.0, 1.0))
                shape = (SLOTS, len(positions), 3)
                if len(positions):  # an empty file cannot be mapped
                    self._maps[key] = np.memmap(path, "<f4", "r+", HEADER_BYTES, shape)
            head = folder / LIVE_HEAD_FILE
            head.write_bytes(bytes(_HEAD.size))
            with open(head, "r+b") as file:
                self._head = mmap.mmap(file.fileno(), _HEAD.size)
        self._write_head(0, 0, 0.0)

    def write(self, step: int, commands: int, time: float, positions: Mapping[str, npt.NDArray[np.floating]]) -> None:
        """Writes the sample after a number of steps and commands, at a time of the scene [s]."""
        for key, slots in self._maps.items():
            slots[step % SLOTS] = positions[key]
        self._write_head(step, commands, time)

    def close(self) -> None:
        """Lets the files go; they stay."""
        self._maps.clear()
        self._head.close()

    def _write_head(self, step: int, commands: int, time: float) -> None:
        self._serial += 1
        serial = struct.pack("<q", self._serial)
        self._head[8:16] = serial
        self._head[16:40] = struct.pack("<qqd", step, commands, time)
        self._head[40:48] = serial
        self._head[:8] = MAGIC


class SampleReader:
    """Reads the newest sample while another process writes."""

    def __init__(self, folder: Path) -> None:
        """Opens the files; raises OSError or ValueError where there are none yet."""
        self.folder = folder
        with open(folder / LIVE_HEAD_FILE, "rb") as file:
            if os.fstat(file.fileno()).st_size < _HEAD.size:
                raise ValueError("the head is not written yet")
            self._head = mmap.mmap(file.fileno(), _HEAD.size, access=mmap.ACCESS_READ)

    def newest(self) -> SampleHead | None:
        """Returns which sample is the newest; None: there is none yet, or it is being written."""
        magic, first, step, commands, time, last = _HEAD.unpack(self._head[: _HEAD.size])
        return SampleHead(step, commands, time) if magic == MAGIC and first == last else None

    def positions(self, key: str, head: SampleHead) -> npt.NDArray[np.float32] | None:
        """Returns render vertices of a body in a sample [m], (n, 3); None: the writer has come round to it."""
        path = self.folder / f"{key}.pc2"
        count = read_header(path).vertices
        if not count:
            return np.zeros((0, 3), np.float32)
        found = np.array(np.memmap(path, "<f4", "r", HEADER_BYTES, (SLOTS, count, 3))[head.slot])
        now = self.newest()
        return found if now is not None and now.step - head.step < SLOTS - 1 else None

    def close(self) -> None:
        """Lets the files go."""
        self._head.close()
