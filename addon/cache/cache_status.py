# SPDX-License-Identifier: GPL-3.0-or-later
"""What is in a cache folder, looked up at most once a second: panels are drawn many times a second."""

from __future__ import annotations

import time as clock
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...solver.bake.cache import CacheMetadata, CacheReader, layout
from ...solver.bake.cache.convergence_summary import ConvergenceSummary
from ...solver.runtime.errors import SinewError, StorageFailed

MAX_AGE_SECONDS = 1.0


@dataclass(frozen=True)
class CacheStatus:
    """A cache as it was at one moment.

    Attributes:
        head: What it is of, or None when there is none.
        last_frame: The last whole frame, or None.
        resume_frames: The frames from which the bake can go on, rising.
        is_written: Whether some process writes it.
        problem: Why what is there cannot be read or played, or None: then there is nothing, or it can.
        frame_files: The last frame whose file is there, where PC2 files are damaged: resuming draws them again.
    """

    metadata: CacheMetadata | None = None
    last_frame: int | None = None
    resume_frames: tuple[int, ...] = ()
    is_written: bool = False
    problem: SinewError | None = None
    frame_files: int | None = None

    def frame_shown_at(self, frame: int) -> int | None:
        """Returns the whole frame nearest to `frame`, or None: nothing is baked."""
        if self.metadata is None or self.last_frame is None:
            return None
        return min(max(frame, self.metadata.frame_start), self.last_frame)

    def resume_frame(self, wanted: int | None = None) -> int | None:
        """Returns the last frame, up to `wanted`, from which the bake can go on, or None."""
        return max((frame for frame in self.resume_frames if wanted is None or frame <= wanted), default=None)


_tet_counts: dict[Path, tuple[int, tuple[int, int]]] = {}
_sizes: dict[Path, tuple[float, int]] = {}
_convergence: dict[Path, tuple[int, ConvergenceSummary]] = {}
# by this, others see that what they have made of a look is old
invalidation_count = 0
_statuses: dict[Path, tuple[float, CacheStatus]] = {}


def read_status(folder: Path) -> CacheStatus:
    """Returns what is in `folder`, not older than a second."""
    now = clock.monotonic()
    known = _statuses.get(folder)
    if known is None or now - known[0] > MAX_AGE_SECONDS:
        known = (now, _read_status(folder))
        _statuses[folder] = known
    return known[1]


def tet_counts(folder: Path, key: str) -> tuple[int, int] | None:
    """Returns how many tets a body has in the cache, and how many of them are its rigid core, or None."""
    path = layout.model_path(folder, key)
    try:
        stamp = path.stat().st_mtime_ns
        known = _tet_counts.get(path)
        if known is None or known[0] != stamp:
            model = CacheReader(folder).read_model(key)
            known = (stamp, (len(model["tets"]), len(model.get("core_tets", ()))))
            _tet_counts[path] = known
    except (OSError, KeyError, StorageFailed):
        return None
    return known[1]


def convergence(folder: Path) -> ConvergenceSummary:
    """Returns how the steps of a cache went; its report is read again only when it has changed."""
    try:
        stamp = (folder / layout.REPORT_FILE).stat().st_mtime_ns
        known = _convergence.get(folder)
        if known is None or known[0] != stamp:
            known = (stamp, CacheReader(folder).convergence())
            _convergence[folder] = known
    except (OSError, StorageFailed):
        return ConvergenceSummary()
    return known[1]


def bytes_on_disk(folder: Path) -> int:
    """Returns the size of a cache; looked up seldom, since every file has to be asked."""
    now = clock.monotonic()
    known = _sizes.get(folder)
    if known is None or now - known[0] > 5.0 * MAX_AGE_SECONDS:
        try:
            known = (now, CacheReader(folder).size())
        except (StorageFailed, OSError):
            known = (now, 0)
        _sizes[folder] = known
    return known[1]


def invalidate() -> None:
    """Makes the next look a fresh one."""
    global invalidation_count
    invalidation_count += 1
    _statuses.clear()


def _read_status(folder: Path) -> CacheStatus:
    try:
        reader = CacheReader(folder)
        seen = CacheStatus(
            metadata=reader.metadata,
            last_frame=reader.last_frame(),
            resume_frames=tuple(reader.resume_frames()),
            is_written=reader.is_being_written(),
        )
        return replace(seen, **_playback_damage(reader))
    except StorageFailed as problem:
        return CacheStatus(problem=None if problem.kind == "cache-missing" else problem)
    except OSError:
        return CacheStatus()


def _playback_damage(reader: CacheReader) -> dict[str, Any]:
    """Returns what a look says where PC2 files are damaged; nothing where they are whole."""
    problems = reader.play_problems()
    if not problems:
        return {}
    problem = StorageFailed("cache-problem", path=str(reader.folder), problem=problems[0])
    points = tuple(layout.numbers_in(reader.folder / layout.RESUME_FOLDER))
    return {"problem": problem, "frame_files": max(reader.frames(), default=None), "resume_frames": points}
