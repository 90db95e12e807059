# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares every file of a cache with its checksum (solver/runtime/checksums.py), and finds missing files.

Frames store the checksums of the files that were written with them, so a missing, changed or truncated file is found by
its frame. Files of earlier versions have no checksums; the report lists them, but not as damage.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ...runtime.checksums import MISMATCH_TEXT, npz_has_checksum, sha256
from ...runtime.errors import StorageFailed
from . import layout
from .checkpoint_list import read_list
from .consistency_check import is_dropping_frames, problems
from .frame_npz import stored_checksums
from .frame_report import read_lines
from .metadata import CacheMetadata
from .pc2 import HEADER_BYTES

if TYPE_CHECKING:
    from .reader import CacheReader


@dataclass(frozen=True)
class Verification:
    """The result of a verification.

    Attributes:
        problems: A sentence for each damaged or missing file.
        unchecked: Files, and parts of files, without a checksum.
        checked: Number of files, or parts of files, with a correct checksum.
    """

    problems: tuple[str, ...]
    unchecked: tuple[str, ...]
    checked: int


class Verifier:
    """Verifies a cache once."""

    def __init__(self, reader: CacheReader) -> None:
        self.reader, self.folder, self.metadata = reader, reader.folder, reader.metadata
        self._unchecked: list[str] = []
        self._frames_with_checksums: set[int] = set()
        self._checked = 0

    def verify(self) -> Verification:
        """Compares all files; reads each once or twice."""
        found = dict.fromkeys([*problems(self.reader), *self._problems()])
        return Verification(tuple(found), tuple(self._unchecked), self._checked)

    def _problems(self) -> Iterator[str]:
        yield from self._heads()
        frames = self.reader.frames()
        for body in self.metadata.bodies if frames else ():  # they are written before the first frame
            yield from self._file(layout.model_path(self.folder, body.key))
        for frame in frames:
            yield from self._frame(frame)
        yield from self._report(frames)
        yield from self._checkpoints()
        for body in self.metadata.bodies:
            yield from self._result(body.key)

    def _heads(self) -> Iterator[str]:
        names = [layout.METADATA_FILE]
        if CacheMetadata.has_checksum(self.folder) or (self.folder / layout.METADATA_COPY).exists():
            names.append(layout.METADATA_COPY)
        else:
            self._unchecked.append(layout.METADATA_FILE)  # an earlier version wrote it, without a copy
        for name in names:
            try:
                found = CacheMetadata.read(self.folder, name)
            except StorageFailed as problem:
                yield f"{name}: {problem.details.get('problem', 'it is missing')}"
                continue
            self._checked += len(names) > 1
            if not found.has_same_layout(self.metadata):
                yield f"{name} is of another bake"

    def _file(self, path: Path) -> Iterator[str]:
        """Compares an .npz file with its own checksum."""
        name = path.relative_to(self.folder).as_posix()
        try:
            self._count(npz_has_checksum(path.read_bytes()), name)
        except FileNotFoundError:
            yield f"{name} is missing"
        except (OSError, ValueError) as problem:
            yield f"{name}: {problem}"

    def _frame(self, frame: int) -> Iterator[str]:
        """Compares a frame and all files that were written with it."""
        path = layout.numbered_path(self.folder / layout.FRAME_FOLDER, frame)
        yield from self._file(path)
        try:
            expected = stored_checksums(self.reader.read_arrays(path))
        except (StorageFailed, ValueError):
            return  # the damage is reported already
        if expected is None:
            self._unchecked.append(f"play, frame {frame}")
            return
        self._frames_with_checksums.add(frame)
        last = self.reader.last_frame()
        for name, checksum in expected.items():
            is_play = name.startswith(layout.PLAY_FOLDER + "/")
            if is_play and (last is None or frame > last):
                continue  # its samples do not count yet
            try:
                found = self._play_block(name, frame) if is_play else (self.folder / name).read_bytes()
            except OSError:
                yield f"frame {frame}: {name} is missing"
                continue
            if sha256(found) == checksum:
                self._checked += 1
            else:
                yield f"frame {frame}: {name}: {MISMATCH_TEXT}"

    def _play_block(self, name: str, frame: int) -> bytes:
        """Returns the samples of a body in a frame, as far as they exist."""
        first = 0 if frame == self.metadata.frame_start else self.metadata.sample_count(frame - 1)
        count = self.metadata.sample_count(frame) - first
        size = next(
            (12 * body.vertices for body in self.metadata.bodies if layout.relative_play_path(body.key) == name), 0
        )
        with open(self.folder / name, "rb") as file:
            file.seek(HEADER_BYTES + first * size)
            return file.read(count * size)

    def _report(self, frames: Collection[int]) -> Iterator[str]:
        path = self.folder / layout.REPORT_FILE
        if path.exists() and not path.is_file():
            yield f"{layout.REPORT_FILE}: it is no file"
        elif path.exists() and not path.read_bytes().endswith(b"\n"):
            yield f"{layout.REPORT_FILE}: its end is cut off"
        lines = read_lines(path)
        has_checksum = {line.values.get("frame"): line.has_checksum for line in lines}
        last = self.reader.last_frame()
        for frame in frames:
            if last is None or frame > last:
                continue
            if frame not in has_checksum or (frame in self._frames_with_checksums and not has_checksum[frame]):
                yield f"{layout.REPORT_FILE}: the line of frame {frame} is missing or damaged"
            else:
                self._count(has_checksum[frame], f"{layout.REPORT_FILE}, frame {frame}")
        # a crash leaves at most one frame without its line
        coming = self.metadata.frame_start if last is None else last + 1
        whole = coming if coming in frames else coming - 1
        beyond = [frame for frame in has_checksum if isinstance(frame, int) and frame > whole]
        if beyond and not is_dropping_frames(self.reader):
            yield f"{layout.REPORT_FILE} tells of frame {max(beyond)}, which is not there"

    def _checkpoints(self) -> Iterator[str]:
        there = layout.numbers_in(self.folder / layout.RESUME_FOLDER)
        last = self.reader.last_frame()
        for frame in there:
            yield from self._file(layout.numbered_path(self.folder / layout.RESUME_FOLDER, frame))
            if (last is None or frame > last) and not is_dropping_frames(self.reader):
                yield f"play/ lacks samples of frame {frame}, which has a resume point"
        try:
            expected = read_list(self.folder)
        except (OSError, ValueError) as problem:
            yield f"{layout.RESUME_LIST}: {problem}"
            return
        if expected is not None:
            self._checked += 1
            missing = sorted({*expected} - {*there})
            yield from (f"resume/{frame:06d}.npz is missing" for frame in missing)
        elif self._has_lost_list(there):
            yield f"{layout.RESUME_LIST} is missing"
        elif there:
            self._unchecked.append(layout.RESUME_LIST)

    def _has_lost_list(self, there: list[int]) -> bool:
        """Whether the list of checkpoints is missing, which is normal only for a crash after the first point."""
        newest = there[-1] if there else self.reader.last_frame()
        try:
            path = layout.numbered_path(self.folder / layout.FRAME_FOLDER, newest or 0)
            is_new = stored_checksums(self.reader.read_arrays(path)) is not None
        except (StorageFailed, ValueError):
            return False
        return is_new and newest != self.metadata.frame_start

    def _result(self, key: str) -> Iterator[str]:
        path, _ = layout.result_paths(self.folder, key)
        if path.exists():
            yield from self._file(path)

    def _count(self, is_checked: bool, name: str) -> None:
        if is_checked:
            self._checked += 1
        else:
            self._unchecked.append(name)
