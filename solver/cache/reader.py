# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading a cache, also while it is being written."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import StorageFailed
from ..late_dataclass import dataclass
from ..pc2 import read_head, read_samples
from . import layout
from .head import CacheHead
from .lock import is_locked
from .results import Result
from .tally import Tally

TOPOLOGY = "topology"
POSITIONS = "x"


@dataclass(frozen=True)
class Frame:
    """What was written of one frame.

    Attributes:
        frame: Its number.
        x: Positions of the tet nodes of all bodies [m], world, (n, 3) float32.
        topology: Which tets these nodes belong to: 0 are those of the whole bodies, else the number of the first
            sample (`CacheHead.sample_count`) that has them, as in the name of their file.
        fields: More values, by name (finish/kept.py).
    """

    frame: int
    x: npt.NDArray[np.float32]
    topology: int = 0
    fields: dict[str, npt.NDArray] = field(default_factory=dict)


class CacheReader:
    """A cache folder as it is at the moment of each call."""

    def __init__(self, folder: Path) -> None:
        """Reads the head of the cache in `folder`.

        Raises:
            StorageFailed: There is no cache, or one of another format.
        """
        self.folder = Path(folder)
        self.head = CacheHead.load(self.folder)

    def baked(self) -> tuple[int, int] | None:
        """Returns the first and last whole frame, or None when there is none yet."""
        last = self.last_frame()
        return None if last is None else (self.head.frame_start, last)

    def last_frame(self) -> int | None:
        """Returns the last frame whose file is there and whose samples every PC2 counts, or None."""
        counted = min((self._counted(body.key) for body in self.head.bodies), default=0)
        frame = self.head.frame_start + (counted - 1) // self.head.samples_per_frame
        while counted and frame >= self.head.frame_start:
            if layout.numbered(self.folder / layout.FRAME_FOLDER, frame).exists():
                return frame
            frame -= 1
        return None

    def is_done(self) -> bool:
        """Whether every frame asked for is there."""
        return self.last_frame() == self.head.frame_end

    def is_being_written(self) -> bool:
        """Whether some process holds the lock."""
        return is_locked(self.folder)

    def play_path(self, key: str) -> Path:
        """Returns the PC2 file of a body."""
        return layout.play_path(self.folder, key)

    def read_frame(self, frame: int) -> Frame:
        """Reads one frame.

        Raises:
            StorageFailed: It is not there or damaged.
        """
        arrays = self._arrays(layout.numbered(self.folder / layout.FRAME_FOLDER, frame))
        return Frame(frame, arrays.pop(POSITIONS), int(arrays.pop(TOPOLOGY)), arrays)

    def read_fields(self, frame: int, key: str) -> dict[str, npt.NDArray]:
        """Reads of a frame only what is one body's: fields named SOMETHING.KEY.…

        Raises:
            StorageFailed: It is not there or damaged.
        """
        path = layout.numbered(self.folder / layout.FRAME_FOLDER, frame)
        return self._arrays(path, lambda name: name.split(".")[1:2] == [key])

    def topologies(self) -> list[int]:
        """Returns the numbers of the first samples of every topology but the whole one, as far as frames go."""
        last = self.last_frame()
        found = layout.numbers(self.folder / layout.TOPOLOGY_FOLDER)
        return [number for number in found if last is not None and number < self.head.sample_count(last)]

    def read_topology(self, number: int) -> dict[str, npt.NDArray]:
        """Returns `tets` and `origin` of a topology, as in solver/topology.py."""
        return self._arrays(layout.numbered(self.folder / layout.TOPOLOGY_FOLDER, number))

    def read_result(self, key: str) -> dict[str, npt.NDArray] | None:
        """Returns the final mesh of a body that broke (finish/result.py), or None where there is none."""
        path, motion = layout.result_paths(self.folder, key)
        return self._arrays(path) if path.exists() and motion.exists() else None

    def results(self) -> list[dict[str, Any]]:
        """Returns what is told of the final meshes that are there."""
        found = ((body, self.read_result(body.key)) for body in self.head.bodies)
        return [Result.of(body.key, body.name, made).as_event() for body, made in found if made is not None]

    def read_samples(self, key: str, first: int, count: int = 1) -> npt.NDArray[np.float32]:
        """Returns object-space render positions of a body, (count, vertices, 3)."""
        path = layout.play_path(self.folder, key)
        return self._read(path, lambda: read_samples(path, first, count))

    def read_model(self, key: str) -> dict[str, npt.NDArray]:
        """Returns what was kept of a body's tets: `nodes`, `tets`, `fill`, `binding_tet`, `binding_weights` …"""
        return self._arrays(layout.model_path(self.folder, key))

    def resume_frames(self) -> list[int]:
        """Returns the frames from which the bake can go on, rising."""
        last = self.last_frame()
        found = layout.numbers(self.folder / layout.RESUME_FOLDER)
        return [frame for frame in found if last is not None and frame <= last]

    def resume_frame(self, wanted: int | None = None) -> int | None:
        """Returns the last frame, up to `wanted`, from which the bake can go on, or None."""
        fitting = [frame for frame in self.resume_frames() if wanted is None or frame <= wanted]
        return fitting[-1] if fitting else None

    def read_resume(self, frame: int) -> dict[str, npt.NDArray]:
        """Returns the arrays of a resume point."""
        return self._arrays(layout.numbered(self.folder / layout.RESUME_FOLDER, frame))

    def report(self) -> list[dict[str, Any]]:
        """Returns what was said about each frame; a line that a crash cut off is left out."""
        return read_report(self.folder / layout.REPORT_FILE)

    def tally(self) -> Tally:
        """Returns how the steps of all frames went."""
        return Tally.of(self.report())

    def integrity(self) -> list[str]:
        """Reads everything that counts and returns what is wrong with it; empty when nothing is."""
        return [problem for check in CHECKS for problem in check(self)]

    def size(self) -> int:
        """Returns the bytes that the folder takes on disk."""
        return sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())

    def _counted(self, key: str) -> int:
        try:
            return read_head(layout.play_path(self.folder, key)).samples
        except (OSError, ValueError):
            return 0

    def _wrong_play_files(self) -> list[str]:
        if not layout.numbers(self.folder / layout.FRAME_FOLDER):
            return []  # they come before the first frame
        wrong = []
        for body in self.head.bodies:
            path = layout.play_path(self.folder, body.key)
            try:
                head = read_head(path)
                if head.vertices != body.vertices:
                    wrong.append(f"{path.name} has {head.vertices} vertices instead of {body.vertices}")
                if head.samples:
                    read_samples(path, head.samples - 1, 1)
            except (OSError, ValueError) as problem:
                wrong.append(f"{path.name}: {problem}")
        return wrong

    def _wrong_results(self) -> list[str]:
        wrong = []
        for body in self.head.bodies:
            path, motion = layout.result_paths(self.folder, body.key)
            if not path.exists():
                continue
            try:
                made, head = self._arrays(path), read_head(motion)
                wanted = (len(made["rest"]), self.head.sample_count(int(made["last_frame"])))
                if (head.vertices, head.samples) != wanted:
                    wrong.append(f"{motion.name} has {head.samples} samples of {head.vertices} vertices")
                read_samples(motion, head.samples - 1, 1)
            except (OSError, ValueError, KeyError, StorageFailed) as problem:
                wrong.append(f"result of {body.key}: {problem}")
        return wrong

    def _wrong_frames(self) -> list[str]:
        last = self.last_frame()
        wrong = []
        for frame in range(self.head.frame_start, self.head.frame_start if last is None else last + 1):
            try:
                topology = self.read_frame(frame).topology
                if topology:
                    self.read_topology(topology)
            except StorageFailed as problem:
                wrong.append(f"frame {frame}: {problem.details['problem']}")
        return wrong

    def _arrays(self, path: Path, is_wanted: Callable[[str], bool] = lambda name: True) -> dict[str, npt.NDArray]:
        def read() -> dict[str, npt.NDArray]:
            with np.load(path, allow_pickle=False) as stored:
                return {name: stored[name] for name in stored.files if is_wanted(name)}

        return self._read(path, read)

    def _read(self, path: Path, read: Callable[[], Any]) -> Any:
        try:
            return read()
        except Exception as problem:  # NumPy and zipfile say "damaged" in many ways
            relative = path.relative_to(self.folder).as_posix()
            raise StorageFailed(
                "cache-damaged", path=str(self.folder), file=relative, problem=str(problem)
            ) from problem


CHECKS = (CacheReader._wrong_play_files, CacheReader._wrong_frames, CacheReader._wrong_results)


def read_report(path: Path) -> list[dict[str, Any]]:
    """Returns the whole lines of a report."""
    lines = []
    try:
        for line in path.read_text(encoding="utf-8").splitlines():
            lines.append(json.loads(line))
    except (OSError, ValueError):
        pass
    return lines
