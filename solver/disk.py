# SPDX-License-Identifier: GPL-3.0-or-later
"""Writing files so that they are there or not there, and naming what a disk can do to us."""

from __future__ import annotations

import errno
import io
import os
import time as clock
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from .errors import StorageFailed

PART = ".part"

# Windows' own numbers come as errno too: Python maps ERROR_DISK_FULL to ENOSPC, ERROR_WRITE_PROTECT to EACCES.
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_NOT_ALLOWED = {errno.EACCES, errno.EPERM}
_GONE = {
    errno.ENOENT,
    errno.ENODEV,
    errno.ENXIO,
    errno.EIO,
    errno.ENOTDIR,
    errno.ESTALE,
    errno.ENOTCONN,
    errno.ETIMEDOUT,
}


@contextmanager
def named_errors(folder: Path) -> Iterator[None]:
    """Turns what the operating system says about `folder` into a failure with words.

    Raises:
        StorageFailed: The disk is full or read-only, the folder is not allowed or gone, or it failed otherwise.
    """
    try:
        yield
    except OSError as problem:
        kind = _kind(problem.errno)
        raise StorageFailed(kind, path=str(folder), problem=problem.strerror or str(problem)) from problem


def _kind(number: int | None) -> str:
    if number in _FULL:
        return "disk-full"
    if number == errno.EROFS:
        return "folder-read-only"
    if number in _NOT_ALLOWED:
        return "folder-not-allowed"
    if number in _GONE:
        return "folder-gone"
    return "disk-failed"


def write_whole(path: Path, data: bytes, is_durable: bool = True) -> None:
    """Writes a file so that a crash at any moment leaves the old one, the new one or none.

    Synced, unless it need not be durable yet (`sync_all`): then only a crash of the machine may leave it empty.
    """
    part = path.with_name(path.name + PART)
    try:
        file = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o666)
        try:
            write_all(file, data)
            if is_durable:
                os.fsync(file)
        finally:
            os.close(file)
        rename(part, path, is_durable)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def rename(part: Path, path: Path, is_durable: bool = True) -> None:
    """Puts a file into its place, where another may be."""
    _patiently(lambda: os.replace(part, path))
    if is_durable:
        sync_folder(path.parent)


def sync_all(folder: Path) -> None:
    """Makes all files in a folder durable, which takes less time than doing so one by one as they are written."""
    if not folder.is_dir():
        return
    for path in sorted(folder.iterdir()):
        file = os.open(path, os.O_RDWR | getattr(os, "O_BINARY", 0))
        try:
            os.fsync(file)
        finally:
            os.close(file)
    sync_folder(folder)


def write_all(file: int, data: bytes | memoryview) -> None:
    """Writes all bytes to an open file, at its position."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(file, rest) :]


def sync_folder(folder: Path) -> None:
    """Makes a rename inside `folder` durable; Windows has no such call, and needs none."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as problem:
        if problem.errno not in (errno.EINVAL, errno.ENOTSUP):  # some network drives cannot sync a folder
            raise
    finally:
        os.close(handle)


def npz_bytes(arrays: Mapping[str, Any]) -> bytes:
    """Returns the arrays as the bytes of an uncompressed .npz, which hold no date."""
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def remove(path: Path) -> None:
    """Deletes a file that may be gone already."""
    _patiently(lambda: path.unlink(missing_ok=True))


def _patiently(call: Callable[[], None]) -> None:
    """Calls; on Windows again for a second, since whoever just reads a file keeps it from being replaced."""
    for _ in range(20 if os.name == "nt" else 0):
        try:
            return call()
        except PermissionError:
            clock.sleep(0.05)
    call()
