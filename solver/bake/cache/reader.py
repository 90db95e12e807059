# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads a cache, also while another process writes it."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...mechanics.state_fields import BROKEN_PREFIX
from ...runtime.checksums import npz_has_checksum
from ...runtime.errors import StorageFailed
from . import layout
from .checksum_verification import Verification, Verifier
from .consistency_check import problems
from .convergence_summary import ConvergenceSummary
from .final_mesh_check import check_final_mesh
from .final_mesh_counts import FractureResult
from .frame_npz import Frame, frame_from_arrays
from .frame_report import read_report
from .lock import is_locked
from .metadata import CacheMetadata
from .pc2 import read_samples
from .pc2_check import complete_samples, pc2_problems


class CacheReader:
    """A cache folder; each call reads its present state."""

    def __init__(self, folder: Path | str) -> None:
        """Reads the metadata of the cache in `folder`.

        Raises:
            StorageFailed: There is no cache, or it has another format.
        """
        self.folder = Path(folder)
        self.metadata = CacheMetadata.load(self.folder)

    def baked_range(self) -> tuple[int, int] | None:
        """Returns the first and last complete frame, or None if there is none yet."""
        last = self.last_frame()
        return None if last is None else (self.metadata.frame_start, last)

    def last_frame(self) -> int | None:
        """Returns the last frame with a file and with samples in every PC2, or None."""
        counted = min((complete_samples(self.folder, self.metadata, body) for body in self.metadata.bodies), default=0)
        if not counted:
            return None
        last = self.metadata.frame_start + (counted - 1) // self.metadata.samples_per_frame
        if layout.numbered_path(self.folder / layout.FRAME_FOLDER, last).is_file():  # nearly always
            return last
        return max((frame for frame in self.frames() if frame <= last), default=None)

    def frames(self) -> list[int]:
        """Returns the frames with files, rising, whatever the PC2 files count."""
        found = layout.numbers_in(self.folder / layout.FRAME_FOLDER)
        return [frame for frame in found if frame >= self.metadata.frame_start]

    def is_done(self) -> bool:
        """Whether every requested frame exists."""
        return self.last_frame() == self.metadata.frame_end

    def is_being_written(self) -> bool:
        """Whether a process has the lock."""
        return is_locked(self.folder)

    def play_path(self, key: str) -> Path:
        """Returns the PC2 file of a body."""
        return layout.play_path(self.folder, key)

    def read_frame(self, frame: int) -> Frame:
        """Reads one frame.

        Raises:
            StorageFailed: It is missing or damaged.
        """
        path = layout.numbered_path(self.folder / layout.FRAME_FOLDER, frame)
        return self.read_checked(path, lambda: frame_from_arrays(frame, _read_checked_arrays(path)))

    def read_fields(self, frame: int, key: str) -> dict[str, npt.NDArray]:
        """Reads only the fields of one body from a frame: those named SOMETHING.KEY.…

        Raises:
            StorageFailed: It is missing or damaged.
        """
        path = layout.numbered_path(self.folder / layout.FRAME_FOLDER, frame)
        return self.read_checked(path, lambda: _read_selected_arrays(path, lambda name: name.split(".")[1:2] == [key]))

    def broken_attachments(self, frame: int, key: str) -> set[int]:
        """Returns the numbers of the attachments of a body that have broken up to a frame; raises as `read_fields`."""
        names = self.read_fields(frame, key)
        return {int(name.rpartition(".")[2]) for name in names if name.startswith(BROKEN_PREFIX)}

    def topologies(self) -> list[int]:
        """Returns the first samples of all topologies except the intact one, up to the last frame."""
        last = self.last_frame()
        found = layout.numbers_in(self.folder / layout.TOPOLOGY_FOLDER)
        return [number for number in found if last is not None and number < self.metadata.sample_count(last)]

    def read_topology(self, number: int) -> dict[str, npt.NDArray]:
        """Returns `tets` and `origin` of a topology, as in solver/mechanics/topology_state.py.

        After cuts it also has `parent` and what the state has of them (`AssembledScene.stored_tets`).
        """
        return self.read_arrays(layout.numbered_path(self.folder / layout.TOPOLOGY_FOLDER, number))

    def read_result(self, key: str) -> dict[str, npt.NDArray] | None:
        """Returns the final mesh of a broken body (bake/postprocess/result_npz.py), or None."""
        path, motion = layout.result_paths(self.folder, key)
        if not (path.exists() and motion.exists()):
            return None

        def read() -> dict[str, npt.NDArray]:
            arrays = _read_checked_arrays(path)
            check_final_mesh(arrays)
            return arrays

        found: dict[str, npt.NDArray] = self.read_checked(path, read)
        return found

    def results(self) -> list[dict[str, Any]]:
        """Returns the numbers of all final meshes."""
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
        """Returns the arrays of a body's tets: `nodes`, `tets`, `fill`, `binding_tet`, `binding_weights` …"""
        return self.read_arrays(layout.model_path(self.folder, key))

    def resume_frames(self) -> list[int]:
        """Returns the frames from which the bake can continue, rising."""
        last = self.last_frame()
        found = layout.numbers_in(self.folder / layout.RESUME_FOLDER)
        return [frame for frame in found if last is not None and frame <= last]

    def resume_frame(self, wanted: int | None = None) -> int | None:
        """Returns the last frame, up to `wanted`, from which the bake can continue, or None."""
        fitting = [frame for frame in self.resume_frames() if wanted is None or frame <= wanted]
        return fitting[-1] if fitting else None

    def read_resume(self, frame: int) -> dict[str, npt.NDArray]:
        """Returns the arrays of a checkpoint."""
        return self.read_arrays(layout.numbered_path(self.folder / layout.RESUME_FOLDER, frame))

    def report(self) -> list[dict[str, Any]]:
        """Returns the report of each frame, without truncated lines."""
        return read_report(self.folder / layout.REPORT_FILE)

    def convergence(self) -> ConvergenceSummary:
        """Returns the convergence summary of all frames."""
        return ConvergenceSummary.from_report(self.report())

    def warnings(self) -> list[dict[str, str]]:
        """Returns kind, sentence and next step of the warnings of the build, each once."""
        found_warnings = (warning for line in self.report() for warning in line.get("warnings", ()))
        return list({warning["sentence"]: warning for warning in found_warnings}.values())

    def integrity_problems(self) -> list[str]:
        """Reads all files and returns their problems."""
        return problems(self)

    def verify(self) -> Verification:
        """Compares all files with their checksums; reports problems, and files without a checksum."""
        return Verifier(self).verify()

    def play_problems(self) -> list[str]:
        """Returns the problems of the PC2 files, by their headers and sizes."""
        return pc2_problems(self.folder, self.metadata)

    def size(self) -> int:
        """Returns the size of the folder on disk [bytes]."""
        return sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())

    def read_arrays(self, path: Path) -> dict[str, npt.NDArray]:
        """Returns the arrays of a file of the cache.

        Raises:
            StorageFailed: It is missing or damaged.
        """
        return self.read_checked(path, lambda: _read_checked_arrays(path))

    def read_checked(self, path: Path, read: Callable[[], Any]) -> Any:
        """Returns the result of `read` on a file of the cache.

        Raises:
            StorageFailed: The file is missing or damaged.
        """
        try:
            return read()
        except StorageFailed:
            raise
        except Exception as problem:  # NumPy and zipfile raise many kinds of errors
            relative = path.relative_to(self.folder).as_posix()
            raise StorageFailed(
                "cache-damaged", path=str(self.folder), file=relative, problem=str(problem)
            ) from problem


def _read_checked_arrays(path: Path) -> dict[str, npt.NDArray]:
    """Returns the arrays of a file. Raises ValueError if its checksum does not match."""
    data = path.read_bytes()
    npz_has_checksum(data)
    with np.load(io.BytesIO(data), allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files}


def _read_selected_arrays(path: Path, is_wanted: Callable[[str], bool]) -> dict[str, npt.NDArray]:
    """Returns some arrays of a file, without reading the others."""
    with np.load(path, allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files if is_wanted(name)}
