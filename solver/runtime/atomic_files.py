# SPDX-License-Identifier: GPL-3.0-or-later
"""Writing files so that they are there or not there, and naming what a disk can do to us."""

from __future__ import annotations

import errno
import io
import os
import shutil
import time as clock
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from .checksums import npz_with_checksum
from .errors import StorageFailed

PART_SUFFIX = ".part"
# On Windows a file that some program has open can be neither replaced nor deleted. Most look at a file for a moment:
# search, backup, the hunt for viruses, Blender itself.
OPEN_FILES_ARE_LOCKED = os.name == "nt"
MAX_LOCK_WAIT_SECONDS = 10.0  # [s]
LOCK_RETRY_SECONDS = 0.05  # [s]
MAX_PATH_CHARACTERS = 247  # [characters], with which every Windows still makes a folder; a file may have 259
_FILE_MAPPED_WINERRORS = {1224}  # Windows' number of an error: a file that is mapped into memory

Result = TypeVar("Result")

# Windows' own numbers come as errno too: Python maps ERROR_DISK_FULL to ENOSPC, ERROR_WRITE_PROTECT to EACCES.
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


class FileLocked(PermissionError):
    """Another program keeps a file from being replaced, deleted or opened."""


class FileReadOnly(PermissionError):
    """A file is marked as read-only, which keeps it from being replaced, deleted or written on Windows."""


@contextmanager
def named_errors(folder: Path) -> Iterator[None]:
    """Turns what the operating system says about `folder` into a failure with words.

    Raises:
        StorageFailed: The disk is full or read-only, the folder is not allowed, a file or gone, a file is held by
            another program, read-only or its path too long, or it failed otherwise.
    """
    try:
        yield
    except OSError as problem:
        kind, file = _error_kind(problem)
        path = str(folder) if file is None else file
        raise StorageFailed(kind, path=path, problem=problem.strerror or str(problem)) from problem


def make_folder(folder: Path) -> None:
    """Makes a folder, and those above it that are not there.

    Raises:
        StorageFailed: It cannot be made: where nothing ever was, nothing has gone.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        kind, file = _error_kind(problem)
        kind = "folder-not-made" if kind in ("folder-gone", "disk-failed") else kind
        raise StorageFailed(kind, path=file or str(folder), problem=problem.strerror or str(problem)) from problem


def _error_kind(problem: OSError) -> tuple[str, str | None]:
    """Returns the kind of a failure, and the file that it is about where the folder would not tell enough."""
    file = os.fspath(problem.filename) if isinstance(problem.filename, str | os.PathLike) else None
    if isinstance(problem, FileLocked):
        return "file-held", file
    if isinstance(problem, FileReadOnly):
        return "file-read-only", file
    if (
        problem.errno == errno.ENOENT
        and OPEN_FILES_ARE_LOCKED
        and file
        and len(os.path.abspath(file)) > MAX_PATH_CHARACTERS
    ):
        return "path-too-long", file
    return _kind_of_errno(problem.errno), None


def check_folder(path: Path) -> None:
    """Makes sure that a folder is there or can be made, as far as that shows without making it.

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


def write_atomic(path: Path, data: bytes, is_durable: bool = True) -> None:
    """Writes a file so that a crash at any moment leaves the old one, the new one or none.

    Synced, unless it need not be durable yet (`sync_all`): then only a crash of the machine may leave it empty.
    """
    part = path.with_name(path.name + PART_SUFFIX)
    try:
        file = open_when_unlocked(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        try:
            write_all(file, data)
            if is_durable:
                os.fsync(file)
        finally:
            os.close(file)
        replace(part, path, is_durable)
    except BaseException:
        with suppress(OSError):  # what went wrong first is what to tell
            part.unlink(missing_ok=True)
        raise


@contextmanager
def atomic_replacement(path: Path) -> Iterator[Path]:
    """Yields a path beside `path` to be written to, which takes its place, synced, when that went well.

    The file that is there stays as it is until then, and for good where writing fails. A link stays a link.

    Raises:
        OSError: `path` is a folder, or a file that may not be written; its folder may not be; or the disk refused.
    """
    target = _resolve_link(path)
    check_writable(target)
    part = target.with_name(target.name + PART_SUFFIX)
    try:
        yield part
        if target.exists():
            shutil.copymode(target, part)
        sync_file(part)
        replace(part, target)
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def check_writable(path: Path) -> None:
    """Makes sure that `atomic_replacement` may write a file, without changing anything that stays.

    Raises:
        OSError: As `atomic_replacement`.
    """
    target = _resolve_link(path)
    if target.exists():
        with retry_while_locked(lambda: open(target, "r+b"), target):
            pass  # a read-only file is not replaced, though its folder would allow that
    part = target.with_name(target.name + PART_SUFFIX)
    part.touch()
    part.unlink()


def _resolve_link(path: Path) -> Path:
    """Returns the file that a link leads to, and what is no link as it is: Wine cannot resolve long paths."""
    return path.resolve() if path.is_symlink() else path


def write_file(path: Path, data: bytes) -> None:
    """Writes a file that a person has named, as `atomic_replacement` does; `write_atomic` is for files in caches."""
    with atomic_replacement(path) as part:
        part.write_bytes(data)


def copy_file(source: Path, path: Path) -> None:
    """Copies a file, as `atomic_replacement` writes it."""
    with atomic_replacement(path) as part:
        shutil.copyfile(source, part)


def replace(part: Path, path: Path, is_durable: bool = True) -> None:
    """Puts a file or a folder into its place, where another file may be."""
    retry_while_locked(lambda: os.replace(part, path), path, part)
    if is_durable:
        sync_folder(path.parent)


def sync_all(folder: Path) -> None:
    """Makes all files in a folder durable, which takes less time than doing so one by one as they are written."""
    if not folder.is_dir():
        return
    for path in sorted(folder.iterdir()):
        sync_file(path)
    sync_folder(folder)


def sync_tree(folder: Path) -> None:
    """Makes all files in a folder and in the folders inside it durable."""
    for parent, _, names in os.walk(folder):
        for name in names:
            sync_file(Path(parent) / name)
        sync_folder(Path(parent))


def sync_file(path: Path) -> None:
    """Makes a file durable."""
    file = open_when_unlocked(path, os.O_RDWR)
    try:
        os.fsync(file)
    finally:
        os.close(file)


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
    """Returns the arrays as the bytes of an uncompressed .npz, which hold no date, with their checksum."""
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return npz_with_checksum(buffer.getvalue())


def remove_file(path: Path) -> None:
    """Deletes a file that may be gone already."""
    retry_while_locked(lambda: path.unlink(missing_ok=True), path)


def remove_folder(folder: Path) -> None:
    """Deletes a folder with all that is in it, which may be gone already."""
    for parent, _, names in os.walk(folder, topdown=False):
        for name in names:
            remove_file(Path(parent, name))
    shutil.rmtree(folder, ignore_errors=True)


def open_when_unlocked(path: Path, flags: int) -> int:
    """Returns a file descriptor for bytes of a file that another program may have open for a moment."""
    return retry_while_locked(lambda: os.open(path, flags | getattr(os, "O_BINARY", 0), 0o666), path)


def retry_while_locked(call: Callable[[], Result], *paths: Path) -> Result:
    """Returns what a call returns that opens, replaces or deletes `paths`.

    Where open files stay, it is tried again while another program has one of them open.

    Raises:
        FileHeld: Another program had a file open for longer than `MAX_LOCK_WAIT_SECONDS`.
        FileReadOnly: A file is read-only.
        OSError: It failed for another reason.
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
    """Returns Windows' own number of an error, which no other system has."""
    return getattr(problem, "winerror", None)
