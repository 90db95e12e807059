# SPDX-License-Identifier: GPL-3.0-or-later
"""Turns errors of the operating system about files and folders into messages."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from . import locked_file_retries
from .errors import StorageFailed
from .locked_file_retries import FileLocked, FileReadOnly

MAX_PATH_CHARACTERS = 247  # [characters], up to which every Windows creates a folder; for files the limit is 259


# Python maps Windows' ERROR_DISK_FULL to ENOSPC and ERROR_WRITE_PROTECT to EACCES
_DISK_FULL_ERRNOS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_PERMISSION_ERRNOS = {errno.EACCES, errno.EPERM}
_NOT_A_FOLDER_ERRNOS = {errno.ENOTDIR, errno.EEXIST}
_PATH_GONE_ERRNOS = {
    errno.ENOENT,
    errno.ENODEV,
    errno.ENXIO,
    errno.EIO,
    errno.ESTALE,
    errno.ENOTCONN,
    errno.ETIMEDOUT,
}


@contextmanager
def named_errors(folder: Path) -> Iterator[None]:
    """Turns an OSError about `folder` into a StorageFailed with a message.

    Raises:
        StorageFailed: The disk is full or read-only; the folder is forbidden, a file or missing; a file is locked,
            read-only or has too long a path; or another error.
    """
    try:
        yield
    except OSError as problem:
        kind, file = _error_kind(problem)
        path = str(folder) if file is None else file
        raise StorageFailed(kind, path=path, problem=problem.strerror or str(problem)) from problem


def make_folder(folder: Path) -> None:
    """Creates a folder and missing folders above it.

    Raises:
        StorageFailed: "folder-not-made" and others, but never "folder-gone".
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        kind, file = _error_kind(problem)
        kind = "folder-not-made" if kind in ("folder-gone", "disk-failed") else kind
        raise StorageFailed(kind, path=file or str(folder), problem=problem.strerror or str(problem)) from problem


def _error_kind(problem: OSError) -> tuple[str, str | None]:
    """Returns the kind of a failure, and its file if the folder alone is not enough."""
    file = os.fspath(problem.filename) if isinstance(problem.filename, str | os.PathLike) else None
    if isinstance(problem, FileLocked):
        return "file-held", file
    if isinstance(problem, FileReadOnly):
        return "file-read-only", file
    if (
        problem.errno == errno.ENOENT
        and locked_file_retries.OPEN_FILES_ARE_LOCKED
        and file
        and len(os.path.abspath(file)) > MAX_PATH_CHARACTERS
    ):
        return "path-too-long", file
    return _kind_of_errno(problem.errno), None


def check_folder(path: Path) -> None:
    """Checks that a folder exists or can be created, as far as possible without creating it.

    Raises:
        StorageFailed: "folder-is-file".
    """
    there = next((each for each in (path, *path.absolute().parents) if each.exists()), path)
    if there.exists() and not there.is_dir():
        raise StorageFailed("folder-is-file", path=str(there))


def _kind_of_errno(number: int | None) -> str:
    if number in _DISK_FULL_ERRNOS:
        return "disk-full"
    if number == errno.EROFS:
        return "folder-read-only"
    if number in _PERMISSION_ERRNOS:
        return "folder-not-allowed"
    if number in _NOT_A_FOLDER_ERRNOS:
        return "folder-is-file"
    if number in _PATH_GONE_ERRNOS:
        return "folder-gone"
    return "disk-failed"
