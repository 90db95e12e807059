# SPDX-License-Identifier: GPL-3.0-or-later
"""The last samples of a live run in files that another process maps while they are written.

    live/KEY.pc2     the last `SLOTS` samples of a body, each in its slot for `SLOTS` steps, as its object plays it
    live/KEY@2.pc2   the same of its torn mesh, since the second cut of any body; KEY.pc2 goes on as if it were whole
    live/KEY@2.npz   the mesh that these are of, as `result/KEY.npz` of a bake (`bake/postprocess/result_npz.py`)
    live/head.bin    which of them is the newest, and how many cuts there were before it: its generation

A body's samples of a generation are in the file of the last cut of that body until then; those of the two cuts before
stay. The files have a fixed size, so nothing is left over but them, whichever process is killed. Blender's Mesh Cache
modifier reads a slot by its number. The serial of the head is written before and after its numbers, so that a reader
sees whether they changed meanwhile; a sample that it has read is whole if the newest is less than `SLOTS` − 1 steps on
by then.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from ..bake.cache.layout import (
    LIVE_HEAD_FILE,
    LIVE_RESTART_ENDING,
    LIVE_START_ENDING,
    LIVE_STARTS_FILE,
    is_sinew_file,
    live_generations,
    live_mesh_path,
    live_samples_path,
)
from ..bake.cache.pc2 import HEADER_BYTES, pc2_bytes, read_header
from ..runtime.locked_file_retries import remove_file
from ..runtime.storage_errors import named_errors

Positions = Mapping[str, npt.NDArray[np.floating]]  # of vertices, (n, 3), by key of the body
SLOTS = 8
MAGIC = b"SNWLIVE2"
# magic, serial, step, commands, time, generation, serial
_HEAD = struct.Struct("<8sqqqdqq")
# Of a body that cracks in every step, before the newest: a busy window still plays one of up to half a second ago, and
# Blender shows the whole body where its file is gone. 50,000 vertices take 5 MB each.
KEPT_GENERATIONS = 24


@dataclass(frozen=True)
class SampleHead:
    """Which sample is the newest.

    Attributes:
        step: Number of steps before it.
        commands: How many commands had been taken by then.
        time: Of the scene [s].
        generation: How many times bodies had been cut.
    """

    step: int
    commands: int
    time: float
    generation: int = 0

    @property
    def slot(self) -> int:
        """The sample of the PC2 files that has it."""
        return self.step % SLOTS


class SampleWriter:
    """Writes samples one after the other."""

    def __init__(self, folder: Path, first: Positions) -> None:
        """Makes the files, with the first sample in all slots.

        Raises:
            StorageFailed: They cannot be written.
        """
        self.folder, self._serial, self.generation = folder, 0, 0
        self._maps: dict[str, npt.NDArray[np.float32]] = {}  # of the meshes as they were
        self._torn: dict[str, npt.NDArray[np.float32]] = {}
        with named_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
            for key, positions in first.items():
                self._open(self._maps, key, positions)
            head = folder / LIVE_HEAD_FILE
            head.write_bytes(bytes(_HEAD.size))
            with open(head, "r+b") as file:
                self._head = mmap.mmap(file.fileno(), _HEAD.size)
        self._write_head(0, 0, 0.0)

    def write(
        self, step: int, commands: int, time: float, positions: Positions, torn: Positions = MappingProxyType({})
    ) -> None:
        """Writes the sample after a number of steps and commands, at a time of the scene [s]; also of torn meshes."""
        for maps, found in ((self._maps, positions), (self._torn, torn)):
            for key, slots in maps.items():
                slots[step % SLOTS] = found[key]
        self._write_head(step, commands, time)

    def begin_generation(self, torn: Mapping[str, tuple[bytes, npt.NDArray[np.floating]]]) -> None:
        """Makes files of bodies that have been cut: of each the content of its mesh file, and its first sample.

        The head says so with the next sample.

        Raises:
            StorageFailed: They cannot be written.
        """
        self.generation += 1
        with named_errors(self.folder):
            for key, (mesh, positions) in torn.items():
                live_mesh_path(self.folder, key, self.generation).write_bytes(mesh)
                self._open(self._torn, key, positions)
        for key in torn:
            for old in live_generations(self.folder, key)[: -KEPT_GENERATIONS - 1]:
                for path in (live_samples_path(self.folder, key, old), live_mesh_path(self.folder, key, old)):
                    with contextlib.suppress(OSError):  # Windows keeps what somebody reads; the next run deletes it
                        path.unlink()

    def _open(self, maps: dict[str, npt.NDArray[np.float32]], key: str, positions: npt.NDArray[np.floating]) -> None:
        path = live_samples_path(self.folder, key, self.generation)
        path.write_bytes(pc2_bytes(np.repeat(positions[None].astype(np.float32), SLOTS, axis=0), 0.0, 1.0))
        if len(positions):  # an empty file cannot be mapped
            maps[key] = np.memmap(path, "<f4", "r+", HEADER_BYTES, (SLOTS, len(positions), 3))

    def close(self) -> None:
        """Lets the files go; they stay."""
        self._maps.clear()
        self._torn.clear()
        self._head.close()

    def _write_head(self, step: int, commands: int, time: float) -> None:
        self._serial += 1
        serial = struct.pack("<q", self._serial)
        self._head[8:16] = serial
        self._head[16:48] = struct.pack("<qqdq", step, commands, time, self.generation)
        self._head[48:56] = serial
        self._head[:8] = MAGIC


def remove_samples(folder: Path) -> None:
    """Deletes samples, starts and restart points in a folder "live"; what was done in the run stays.

    Raises:
        StorageFailed: The operating system refused.
    """
    with named_errors(folder):
        remove_file(folder / LIVE_HEAD_FILE)  # first: without it nobody reads the others
        others = (
            *folder.glob(f"*{LIVE_START_ENDING}"),
            *folder.glob(f"*{LIVE_RESTART_ENDING}"),
            folder / LIVE_STARTS_FILE,
        )
        for path in (*folder.glob("*.pc2"), *folder.glob("*.npz"), *others):
            if is_sinew_file(Path(folder.name, path.name)):
                remove_file(path)


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
        magic, first, step, commands, time, generation, last = _HEAD.unpack(self._head[: _HEAD.size])
        return SampleHead(step, commands, time, generation) if magic == MAGIC and first == last else None

    def generation_of(self, key: str, head: SampleHead) -> int:
        """Returns since which generation a body has the mesh that it has in a sample; 0: it is whole."""
        return max((number for number in live_generations(self.folder, key) if number <= head.generation), default=0)

    def positions(self, key: str, head: SampleHead, generation: int | None = None) -> npt.NDArray[np.float32] | None:
        """Returns vertices of a body in a sample [m], (n, 3); None: the writer has come round to it.

        Args:
            key: Of the body.
            head: Of the sample.
            generation: Of its mesh, 0 for the whole one; None: as it is in the sample.
        """
        path = live_samples_path(self.folder, key, self.generation_of(key, head) if generation is None else generation)
        count = read_header(path).vertices
        if not count:
            return np.zeros((0, 3), np.float32)
        found = np.array(np.memmap(path, "<f4", "r", HEADER_BYTES, (SLOTS, count, 3))[head.slot])
        now = self.newest()
        return found if now is not None and now.step - head.step < SLOTS - 1 else None

    def close(self) -> None:
        """Lets the files go."""
        self._head.close()
