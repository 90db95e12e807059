# SPDX-License-Identifier: GPL-3.0-or-later
"""Deletes a bake: only files with Sinew's own names, and folders that are empty afterwards."""

from __future__ import annotations

import os
from pathlib import Path

from ...runtime.errors import BadInput
from ...runtime.locked_file_retries import remove_file
from ...runtime.storage_errors import named_errors
from . import layout
from .lock import CacheLock


def is_cache(folder: Path) -> bool:
    """Whether `folder` is a cache, or has at least a scene."""
    marks = (folder / layout.METADATA_FILE, folder / layout.SCENE_FOLDER / "scene.json")
    return folder.is_dir() and any(mark.is_file() for mark in marks)


def has_bake(folder: Path) -> bool:
    """Whether `folder` is a cache, or has those of later passes while that of the first one was deleted alone."""
    return is_cache(folder) or any(map(is_cache, layout.pass_paths(folder)))


def delete_cache(folder: Path) -> list[Path]:
    """Deletes the cache in `folder` and those of bodies baked after the others; returns the other files, which stay.

    Raises:
        BadInput: `folder` is not a cache.
        StorageFailed: Another process is writing it, or the operating system refused.
    """
    if not is_cache(folder):
        raise BadInput("not-a-cache", path=str(folder))
    return [*delete_selected(folder), *delete_folder(folder)]


def delete_selected(cache: Path) -> list[Path]:
    """Deletes the caches of bodies that were baked after the others of a cache, finished or not.

    Returns:
        Other files in them, which stay.

    Raises:
        StorageFailed: Another process is writing one, or the operating system refused.
    """
    return [path for inner in layout.selected_paths(cache) for path in delete_folder(inner)]


def delete_folder(folder: Path) -> list[Path]:
    """Deletes Sinew's files in the folder of a cache, also of one that was never begun; as `delete_cache`."""
    lock = CacheLock(folder)
    try:
        with named_errors(folder):
            foreign = _delete_files(folder)
    finally:
        lock.release()
    with named_errors(folder):
        remove_file(folder / layout.LOCK_FILE)
        _delete_empty_folders(folder)
    return foreign


def delete_bake(folder: Path) -> list[Path]:
    """Deletes the cache in `folder` and those of later passes inside; returns and raises as `delete_cache`."""
    later = [inner for inner in layout.pass_paths(folder) if is_cache(inner)]
    foreign = [path for inner in later for path in delete_cache(inner)]
    if is_cache(folder):
        return [*foreign, *delete_cache(folder)]
    if later:  # the first pass was deleted before
        with named_errors(folder):
            _delete_empty_folders(folder)
    return foreign


def _delete_files(folder: Path) -> list[Path]:
    # the files that identify a cache go last, so that an interrupted deletion can be repeated
    last = (folder / layout.METADATA_FILE, folder / layout.SCENE_FOLDER / "scene.json")
    foreign = []
    for parent, folders, names in os.walk(folder):  # does not follow links to other folders
        folders[:] = [name for name in folders if not (Path(parent) == folder and _is_cache_name(name))]
        for path in (Path(parent) / name for name in names):
            if not layout.is_sinew_file(path.relative_to(folder)):
                foreign.append(path)
            elif path not in last and path.name != layout.LOCK_FILE:
                remove_file(path)
    for path in reversed(last):
        remove_file(path)
    return foreign


def _is_cache_name(name: str) -> bool:
    return layout.is_pass_name(name) or layout.is_selected_name(name)


def _delete_empty_folders(folder: Path) -> None:
    for parent, _, _ in os.walk(folder, topdown=False):
        if not any(Path(parent).iterdir()):
            os.rmdir(parent)
