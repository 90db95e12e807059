# SPDX-License-Identifier: GPL-3.0-or-later
"""Orphaned caches in the temporary folder: of files that were never saved, and of crashed Blenders.

Each Blender locks the temporary folders that its open file plays. Sinew offers to delete unlocked folders, and deletes
them `EXPIRY_DAYS` after their last change; until then, Recover Last Session may need them.
"""

from __future__ import annotations

import os
import re
import time as clock
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ...solver.bake.cache import delete_cache, is_cache, is_locked, layout
from ...solver.bake.cache.lock import CacheLock
from ...solver.runtime.errors import SinewError

EXPIRY_DAYS = 7
SECONDS_PER_DAY = 86400.0
# names from cache_paths.temporary_home
TEMPORARY_FOLDER_NAME = re.compile(r"sinew-[0-9a-f]{12}")

# the locks of the folders that the open file plays
_locks: dict[Path, CacheLock] = {}


@dataclass(frozen=True)
class OrphanedCache:
    """A temporary folder with caches, without a lock.

    Attributes:
        folder: The folder.
        size: Of all its files [bytes].
        written: Time of the last change in it [s], as in `time.time`.
    """

    folder: Path
    size: int
    written: float


def lock_folders(folders: Iterable[Path]) -> None:
    """Locks the temporary ones among `folders`, and releases the other locks of this process."""
    temporary = {folder for folder in folders if TEMPORARY_FOLDER_NAME.fullmatch(folder.name) and folder.is_dir()}
    for folder in set(_locks) - temporary:
        _locks.pop(folder).release()
        _remove_if_empty(folder)
    for folder in temporary - set(_locks):
        try:
            _locks[folder] = CacheLock(folder, patience=0.0)
        except SinewError:
            pass  # another Blender plays it too, and has the lock


def find_orphaned(temporary: Path) -> list[OrphanedCache]:
    """Returns the unlocked folders with caches in a folder for temporary files, the largest first.

    Reads the size of every file in them.
    """
    found = []
    for folder in _unlocked_folders(temporary):
        files = [entry.stat() for entry in _files(folder)]
        if any(map(is_cache, _caches(folder))):
            found.append(OrphanedCache(folder, sum(f.st_size for f in files), max(f.st_mtime for f in files)))
    return sorted(found, key=lambda lost: (-lost.size, lost.folder))


def delete(folder: Path) -> None:
    """Deletes the caches in a temporary folder, and the folder. Other files stay.

    Raises:
        StorageFailed: A process is writing one, or the operating system refused.
    """
    if TEMPORARY_FOLDER_NAME.fullmatch(folder.name) is None or _is_locked(folder):
        return
    for cache in _caches(folder):
        if is_cache(cache):
            delete_cache(cache)
    _remove_if_empty(folder)


def delete_old(temporary: Path, now: float | None = None) -> list[Path]:
    """Deletes the folders without a change for `EXPIRY_DAYS`, and returns them."""
    oldest = (clock.time() if now is None else now) - EXPIRY_DAYS * SECONDS_PER_DAY
    deleted = []
    for lost in find_orphaned(temporary):
        if lost.written < oldest:
            try:
                delete(lost.folder)
            except SinewError:
                continue  # the panel still offers it
            deleted.append(lost.folder)
    return deleted


def _unlocked_folders(temporary: Path) -> Iterator[Path]:
    try:
        folders = sorted(temporary.iterdir())
    except OSError:
        return
    for folder in folders:
        if (
            TEMPORARY_FOLDER_NAME.fullmatch(folder.name)
            and folder.is_dir()
            and not folder.is_symlink()
            and not _is_locked(folder)
        ):
            yield folder


def _is_locked(folder: Path) -> bool:
    """Whether a Blender plays a cache in a temporary folder, or a process writes it."""
    return folder in _locks or is_locked(folder) or any(map(is_locked, _caches(folder)))


def _caches(folder: Path) -> list[Path]:
    try:
        return sorted(inner for inner in folder.iterdir() if inner.is_dir() and not inner.is_symlink())
    except OSError:
        return []


def _files(folder: Path) -> Iterator[Path]:
    for parent, _, names in os.walk(folder):
        yield from (path for path in (Path(parent) / name for name in names) if path.is_file())


def _remove_if_empty(folder: Path) -> None:
    """Removes a folder that contains only its lock."""
    try:
        if {path.name for path in folder.iterdir()} <= {layout.LOCK_FILE}:
            (folder / layout.LOCK_FILE).unlink(missing_ok=True)
            folder.rmdir()
    except OSError:
        pass
