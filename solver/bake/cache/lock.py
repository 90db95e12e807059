# SPDX-License-Identifier: GPL-3.0-or-later
"""One writer per cache: a lock of the operating system, which a crash releases."""

from __future__ import annotations

import errno
import os
import sys
import time as clock
from pathlib import Path

from ...runtime.errors import StorageFailed
from ...runtime.storage_errors import named_errors
from .layout import LOCK_FILE

# Some network drives cannot lock. Baking without a lock is better than not baking there.
_UNSUPPORTED_ERRNOS = {errno.ENOLCK, errno.ENOSYS, getattr(errno, "EOPNOTSUPP", errno.ENOSYS), errno.EINVAL}


class CacheLock:
    """The lock of a cache folder, from construction until `release`."""

    def __init__(self, folder: Path, patience: float = 0.5) -> None:
        """Acquires the lock, with retries for `patience` seconds, since a panel may have it for a moment.

        Raises:
            StorageFailed: Another process has the lock, or the folder cannot be written.
        """
        with named_errors(folder):
            self._file = os.open(folder / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o666)
        end = clock.monotonic() + patience
        while not _try_lock(self._file):
            if clock.monotonic() > end:
                os.close(self._file)
                raise StorageFailed("cache-locked", path=str(folder))
            clock.sleep(0.02)

    def release(self) -> None:
        """Releases the lock."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def is_locked(folder: Path) -> bool:
    """Whether a process is writing the cache. Never creates a file."""
    try:
        file = os.open(folder / LOCK_FILE, os.O_RDWR)
    except OSError:
        return False
    try:
        return not _try_lock(file)
    finally:
        os.close(file)


if sys.platform == "win32":
    import msvcrt

    def _try_lock(file: int) -> bool:
        try:
            os.lseek(file, 0, os.SEEK_SET)
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except OSError as problem:
            return problem.errno in _UNSUPPORTED_ERRNOS
        return True

else:
    import fcntl

    def _try_lock(file: int) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as problem:
            return problem.errno in _UNSUPPORTED_ERRNOS
        return True
