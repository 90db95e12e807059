# SPDX-License-Identifier: GPL-3.0-or-later
"""Orphaned caches in the temporary folder: of files that were never saved, and of crashed Blenders.

Each Blender locks the temporary folders that its open file plays. Sinew offers to delete unlocked folders, and deletes
them `EXPIRY_DAYS` after their last change; until then, Recover Last Session may need them.
"""

from __future__ import annotations

import os
import time as clock
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ...solver.bake.cache import delete_bake, has_bake, is_locked
from ...solver.runtime.errors import SinewError
from .temporary_folders import TEMPORARY_FOLDER_NAME, remove_if_empty, temporary_folders

EXPIRY_DAYS = 7
SECONDS_PER_DAY = 86400.0


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


def find_orphaned(temporary: Path) -> list[OrphanedCache]:
    """Returns the unlocked folders with caches in a folder for temporary files, the largest first.

    Reads the size of every file in them.
    """
    found = []
    for folder in _unlocked_folders(temporary):
        files = [entry.stat() for entry in _files(folder)]
        if any(map(has_bake, _caches(folder))):
            found.append(OrphanedCache(folder, sum(f.st_size for f in files), max(f.st_mtime for f in files)))
    return sorted(found, key=lambda orphan: (-orphan.size, orphan.folder))


def delete(folder: Path) -> None:
    """Deletes the caches in a temporary folder, and the folder. Other files stay.

    Raises:
        StorageFailed: A process is writing one, or the operating system refused.
    """
    if TEMPORARY_FOLDER_NAME.fullmatch(folder.name) is None or _is_locked(folder):
        return
    for cache in _caches(folder):
        if has_bake(cache):
            delete_bake(cache)
    remove_if_empty(folder)


def delete_old(temporary: Path, now: float | None = None) -> list[Path]:
    """Deletes the folders without a change for `EXPIRY_DAYS`, and returns them."""
    oldest = (clock.time() if now is None else now) - EXPIRY_DAYS * SECONDS_PER_DAY
    deleted = []
    for orphan in find_orphaned(temporary):
        if orphan.written < oldest:
            try:
                delete(orphan.folder)
            except SinewError:
                continue  # the panel still offers it
            deleted.append(orphan.folder)
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
    return temporary_folders.has_lock(folder) or is_locked(folder) or any(map(is_locked, _caches(folder)))


def _caches(folder: Path) -> list[Path]:
    try:
        return sorted(inner for inner in folder.iterdir() if inner.is_dir() and not inner.is_symlink())
    except OSError:
        return []


def _files(folder: Path) -> Iterator[Path]:
    for parent, _, names in os.walk(folder):
        yield from (path for path in (Path(parent) / name for name in names) if path.is_file())
