# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading a cache, also while it is being written."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...runtime.checksums import npz_has_checksum
from ...runtime.errors import StorageFailed
from . import layout
from .convergence_summary import ConvergenceSummary
from .fracture_result import FractureResult
from .frame_npz import Frame, frame_from_arrays
from .frame_report import read_report
from .integrity import problems
from .lock import is_locked
from .metadata import CacheMetadata
from .pc2 import read_samples
from .playback_files import complete_samples, pc2_problems
from .verification import Verification, Verifier


class CacheReader:
    """A cache folder as it is at the moment of each call."""

    def __init__(self, folder: Path) -> None:
        """Reads the head of the cache in `folder`.

        Raises:
            StorageFailed: There is no cache, or one of another format.
        """
        self.folder = Path(folder)
        self.metadata = CacheMetadata.load(self.folder)

    def baked_range(self) -> tuple[int, int] | None:
        """Returns the first and last whole frame, or None when there is none yet."""
        last = self.last_frame()
        return None if last is None else (self.metadata.frame_start, last)

    def last_frame(self) -> int | None:
        """Returns the last frame whose file is there and whose samples every PC2 counts, or None."""
        counted = min((complete_samples(self.folder, self.metadata, body) for body in self.metadata.bodies), default=0)
        last = self.metadata.frame_start + (counted - 1) // self.metadata.samples_per_frame
        return max((frame for frame in self.frames() if frame <= last), default=None) if counted else None

    def frames(self) -> list[int]:
        """Returns the frames whose files are there, rising, whatever the PC2 files count."""
        found = layout.numbers_in(self.folder / layout.FRAME_FOLDER)
        return [frame for frame in found if frame >= self.metadata.frame_start]

    def is_done(self) -> bool:
        """Whether every frame asked for is there."""
        return self.last_frame() == self.metadata.frame_end

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
        path = layout.numbered_path(self.folder / layout.FRAME_FOLDER, frame)
        return self.read_checked(path, lambda: frame_from_arrays(frame, _read_checked_arrays(path)))

    def read_fields(self, frame: int, key: str) -> dict[str, npt.NDArray]:
        """Reads of a frame only what is one body's: fields named SOMETHING.KEY.…

        Raises:
            StorageFailed: It is not there or damaged.
        """
        path = layout.numbered_path(self.folder / layout.FRAME_FOLDER, frame)
        return self.read_checked(path, lambda: _read_selected_arrays(path, lambda name: name.split(".")[1:2] == [key]))

    def topologies(self) -> list[int]:
        """Returns the numbers of the first samples of every topology but the whole one, as far as frames go."""
        last = self.last_frame()
        found = layout.numbers_in(self.folder / layout.TOPOLOGY_FOLDER)
        return [number for number in found if last is not None and number < self.metadata.sample_count(last)]

    def read_topology(self, number: int) -> dict[str, npt.NDArray]:
        """Returns `tets` and `origin` of a topology, as in solver/mechanics/topology.py."""
        return self.read_arrays(layout.numbered_path(self.folder / layout.TOPOLOGY_FOLDER, number))

    def read_result(self, key: str) -> dict[str, npt.NDArray] | None:
        """Returns the final mesh of a body that broke (bake/postprocess/result_npz.py), or None where there is none."""
        path, motion = layout.result_paths(self.folder, key)
        return self.read_arrays(path) if path.exists() and motion.exists() else None

    def results(self) -> list[dict[str, Any]]:
        """Returns what is told of the final meshes that are there."""
        found = ((body, self.read_result(body.key)) for body in self.metadata.bodies)
        return [
            FractureResult.from_arrays(body.key, body.name, made).as_event() for body, made in found if made is not None
        ]

    def read_samples(self, key: str, first: int, count: int = 1) -> npt.NDArray[np.float32]:
        """Returns object-space render positions of a body, (count, vertices, 3)."""
        path = layout.play_path(self.folder, key)
        return self.read_checked(path, lambda: read_samples(path, first, count))

    def read_positions(self, frame: int, key: str) -> npt.NDArray[np.float32]:
        """Returns the render positions of a body at a frame, (vertices, 3), as `read_samples`."""
        return self.read_samples(key, self.metadata.sample_count(frame) - 1)[0]

    def read_model(self, key: str) -> dict[str, npt.NDArray]:
        """Returns what was kept of a body's tets: `nodes`, `tets`, `fill`, `binding_tet`, `binding_weights` …"""
        return self.read_arrays(layout.model_path(self.folder, key))

    def resume_frames(self) -> list[int]:
        """Returns the frames from which the bake can go on, rising."""
        last = self.last_frame()
        found = layout.numbers_in(self.folder / layout.RESUME_FOLDER)
        return [frame for frame in found if last is not None and frame <= last]

    def resume_frame(self, wanted: int | None = None) -> int | None:
        """Returns the last frame, up to `wanted`, from which the bake can go on, or None."""
        fitting = [frame for frame in self.resume_frames() if wanted is None or frame <= wanted]
        return fitting[-1] if fitting else None

    def read_resume(self, frame: int) -> dict[str, npt.NDArray]:
        """Returns the arrays of a resume point."""
        return self.read_arrays(layout.numbered_path(self.folder / layout.RESUME_FOLDER, frame))

    def report(self) -> list[dict[str, Any]]:
        """Returns what was said about each frame; a line that a crash cut off is left out."""
        return read_report(self.folder / layout.REPORT_FILE)

    def convergence(self) -> ConvergenceSummary:
        """Returns how the steps of all frames went."""
        return ConvergenceSummary.from_report(self.report())

    def warnings(self) -> list[dict[str, str]]:
        """Returns kind, sentence and next step of what the bake warned of when it was built, each once."""
        told = (warning for line in self.report() for warning in line.get("warnings", ()))
        return list({warning["sentence"]: warning for warning in told}.values())

    def integrity_problems(self) -> list[str]:
        """Reads everything that counts and returns what is wrong with it; empty when nothing is."""
        return problems(self)

    def verify(self) -> Verification:
        """Compares all files with their checksums; says what is wrong, and what has none."""
        return Verifier(self).verify()

    def play_problems(self) -> list[str]:
        """Returns what is wrong with the PC2 files, by their heads and sizes; empty when nothing is."""
        return pc2_problems(self.folder, self.metadata)

    def size(self) -> int:
        """Returns the bytes that the folder takes on disk."""
        return sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())

    def read_arrays(self, path: Path) -> dict[str, npt.NDArray]:
        """Returns the arrays of a file of the cache.

        Raises:
            StorageFailed: It is not there, or damaged.
        """
        return self.read_checked(path, lambda: _read_checked_arrays(path))

    def read_checked(self, path: Path, read: Callable[[], Any]) -> Any:
        """Returns what `read` makes of a file of the cache.

        Raises:
            StorageFailed: It raised something, so the file is not there, or damaged.
        """
        try:
            return read()
        except StorageFailed:
            raise
        except Exception as problem:  # NumPy and zipfile say "damaged" in many ways
            relative = path.relative_to(self.folder).as_posix()
            raise StorageFailed(
                "cache-damaged", path=str(self.folder), file=relative, problem=str(problem)
            ) from problem


def _read_checked_arrays(path: Path) -> dict[str, npt.NDArray]:
    """Returns the arrays of a file; raises ValueError where its checksum does not match."""
    data = path.read_bytes()
    npz_has_checksum(data)
    with np.load(io.BytesIO(data), allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files}


def _read_selected_arrays(path: Path, is_wanted: Callable[[str], bool]) -> dict[str, npt.NDArray]:
    """Returns some arrays of a file, without reading the others."""
    with np.load(path, allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files if is_wanted(name)}
