# SPDX-License-Identifier: GPL-3.0-or-later
"""Opens, replaces and deletes files that another program may lock for a moment, as Windows does."""

from __future__ import annotations

import errno
import os
import shutil
import time as clock
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

# Windows can neither replace nor delete a file that a program has open. Most programs open it for a moment only:
# search, backup, virus scanners, Blender itself.
OPEN_FILES_ARE_LOCKED = os.name == "nt"
MAX_LOCK_WAIT_SECONDS = 10.0  # [s]
LOCK_RETRY_SECONDS = 0.05  # [s]
_FILE_MAPPED_WINERRORS = {1224}  # Windows' error number for a file that is mapped into memory
Result = TypeVar("Result")


class FileLocked(PermissionError):
    """Another program prevents that a file is replaced, deleted or opened."""


class FileReadOnly(PermissionError):
    """A file is marked as read-only, so Windows does not replace, delete or write it."""


def remove_file(path: Path) -> None:
    """Deletes a file, if it exists."""
    retry_while_locked(lambda: path.unlink(missing_ok=True), path)


def remove_folder(folder: Path) -> None:
    """Deletes a folder and its contents, if it exists."""
    for parent, _, names in os.walk(folder, topdown=False):
        for name in names:
            remove_file(Path(parent, name))
    shutil.rmtree(folder, ignore_errors=True)


def open_when_unlocked(path: Path, flags: int) -> int:
    """Opens a file that another program may lock for a moment; returns a binary file descriptor."""
    return retry_while_locked(lambda: os.open(path, flags | getattr(os, "O_BINARY", 0), 0o666), path)


def retry_while_locked(call: Callable[[], Result], *paths: Path) -> Result:
    """Calls a function that opens, replaces or deletes `paths`, and returns its result.

    On Windows, tries again while another program has one of them open.

    Raises:
        FileLocked: Another program had a file open for longer than `MAX_LOCK_WAIT_SECONDS`.
        FileReadOnly: A file is read-only.
        OSError: Another error.
    """
    if not OPEN_FILES_ARE_LOCKED:
        return call()
    until = clock.monotonic() + MAX_LOCK_WAIT_SECONDS
    while True:
        try:
            return call()
        except OSError as problem:
            there = [path for path in paths if path.exists()]
            if not there or not (isinstance(problem, PermissionError) or _winerror(problem) in _FILE_MAPPED_WINERRORS):
                raise
            for path in there:
                if path.is_file() and not os.access(path, os.W_OK):
                    raise FileReadOnly(errno.EACCES, problem.strerror, str(path)) from problem
            if clock.monotonic() > until:
                raise FileLocked(errno.EACCES, problem.strerror, str(there[0])) from problem
        clock.sleep(LOCK_RETRY_SECONDS)


def _winerror(problem: OSError) -> int | None:
    """Returns Windows' own error number, or None on other systems."""
    return getattr(problem, "winerror", None)
