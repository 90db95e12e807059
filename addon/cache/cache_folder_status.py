# SPDX-License-Identifier: GPL-3.0-or-later
"""The status of a cache folder, read at most once a second, since panels are drawn many times a second."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...solver.bake.cache import CacheMetadata, CacheReader, layout
from ...solver.bake.cache.convergence_summary import ConvergenceSummary
from ...solver.runtime.errors import SinewError, StorageFailed
from ..runtime.memo import Memo, Throttle

MAX_AGE_SECONDS, MAX_SIZE_AGE_SECONDS = 1.0, 5.0
MAX_FOLDERS, MAX_BODIES = 100, 1000  # that are remembered


@dataclass(frozen=True)
class CacheStatus:
    """The status of a cache at one moment.

    Attributes:
        metadata: Of the cache, or None without a cache.
        last_frame: The last complete frame, or None.
        resume_frames: The frames from which the bake can continue, rising.
        is_written: Whether a process is writing it.
        problem: Why the cache cannot be read or played, or None.
        frame_files: The last frame with a file, if PC2 files are damaged; resuming restores those.
        selected: The caches inside of bodies that were baked after the others, rising.
    """

    metadata: CacheMetadata | None = None
    last_frame: int | None = None
    resume_frames: tuple[int, ...] = ()
    is_written: bool = False
    problem: SinewError | None = None
    frame_files: int | None = None
    selected: tuple[Path, ...] = ()

    def frame_shown_at(self, frame: int) -> int | None:
        """Returns the complete frame nearest to `frame`, or None without any."""
        if self.metadata is None or self.last_frame is None:
            return None
        return min(max(frame, self.metadata.frame_start), self.last_frame)

    def resume_frame(self, wanted: int | None = None) -> int | None:
        """Returns the last frame, up to `wanted`, from which the bake can continue, or None."""
        return max((frame for frame in self.resume_frames if wanted is None or frame <= wanted), default=None)


_statuses: Throttle[CacheStatus] = Throttle(MAX_FOLDERS, MAX_AGE_SECONDS)
_sizes: Throttle[int] = Throttle(MAX_FOLDERS, MAX_SIZE_AGE_SECONDS)
_convergence: Memo[ConvergenceSummary] = Memo(MAX_FOLDERS)
_seconds: Memo[float] = Memo(MAX_FOLDERS)
_tet_counts: Memo[tuple[int, int]] = Memo(MAX_BODIES)


def read_status(folder: Path) -> CacheStatus:
    """Returns the status of `folder`, at most a second old."""
    return _statuses.result(folder, lambda: _read_status(folder))


def tet_counts(folder: Path, key: str) -> tuple[int, int] | None:
    """Returns the numbers of tets of a body and of its rigid core in the cache, or None."""
    path = layout.model_path(folder, key)
    try:
        return _tet_counts.result(path, path.stat().st_mtime_ns, lambda: _read_tet_counts(folder, key))
    except (OSError, KeyError, StorageFailed):
        return None


def _read_tet_counts(folder: Path, key: str) -> tuple[int, int]:
    model = CacheReader(folder).read_model(key)
    return len(model["tets"]), len(model.get("core_tets", ()))


def convergence(folder: Path) -> ConvergenceSummary:
    """Returns the convergence summary of a cache; reads its report only after a change."""
    try:
        stamp = (folder / layout.REPORT_FILE).stat().st_mtime_ns
        return _convergence.result(folder, stamp, lambda: CacheReader(folder).convergence())
    except (OSError, StorageFailed):
        return ConvergenceSummary()


def bytes_on_disk(folder: Path) -> int:
    """Returns the size of a cache [bytes]; measured rarely, since every file has to be read."""
    return _sizes.result(folder, lambda: _measure_size(folder))


def bytes_of_pass(folder: Path) -> int:
    """Returns the size of a cache without those of later passes in it [bytes]; measured rarely."""
    inner = layout.pass_paths(folder) if folder.is_dir() else []
    return bytes_on_disk(folder) - sum(bytes_on_disk(each) for each in inner)


def seconds(folder: Path) -> float:
    """Returns how long the frames of a cache took [s]; reads its report only after a change."""
    try:
        stamp = (folder / layout.REPORT_FILE).stat().st_mtime_ns
        return _seconds.result(folder, stamp, lambda: _sum_seconds(folder))
    except (OSError, StorageFailed):
        return 0.0


def _sum_seconds(folder: Path) -> float:
    lines = CacheReader(folder).report()
    return sum(float(line.get("milliseconds", 0.0)) for line in lines) / 1000.0


def _measure_size(folder: Path) -> int:
    try:
        return CacheReader(folder).size()
    except (StorageFailed, OSError):
        return 0


def invalidate() -> None:
    """Clears the cached status."""
    _statuses.clear()


def invalidation_count() -> int:
    """Returns a number whose change tells other caches that they are out of date."""
    return _statuses.clear_count


def _read_status(folder: Path) -> CacheStatus:
    try:
        reader = CacheReader(folder)
        seen = CacheStatus(
            metadata=reader.metadata,
            last_frame=reader.last_frame(),
            resume_frames=tuple(reader.resume_frames()),
            is_written=reader.is_being_written(),
            selected=tuple(layout.selected_paths(folder)),
        )
        return replace(seen, **_playback_damage(reader))
    except StorageFailed as problem:
        return CacheStatus(problem=None if problem.kind == "cache-missing" else problem)
    except OSError:
        return CacheStatus()


def _playback_damage(reader: CacheReader) -> dict[str, Any]:
    """Returns the fields of the status for damaged PC2 files, or none for intact ones."""
    problems = reader.play_problems()
    if not problems:
        return {}
    problem = StorageFailed("cache-problem", path=str(reader.folder), problem=problems[0])
    points = tuple(layout.numbers_in(reader.folder / layout.RESUME_FOLDER))
    return {"problem": problem, "frame_files": max(reader.frames(), default=None), "resume_frames": points}
