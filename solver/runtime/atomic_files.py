# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes files atomically, and turns errors of the operating system into messages."""

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
# Windows can neither replace nor delete a file that a program has open. Most programs open it for a moment only:
# search, backup, virus scanners, Blender itself.
OPEN_FILES_ARE_LOCKED = os.name == "nt"
MAX_LOCK_WAIT_SECONDS = 10.0  # [s]
LOCK_RETRY_SECONDS = 0.05  # [s]
MAX_PATH_CHARACTERS = 247  # [characters], up to which every Windows creates a folder; for files the limit is 259
_FILE_MAPPED_WINERRORS = {1224}  # Windows' error number for a file that is mapped into memory

Result = TypeVar("Result")

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


class FileLocked(PermissionError):
    """Another program prevents that a file is replaced, deleted or opened."""


class FileReadOnly(PermissionError):
    """A file is marked as read-only, so Windows does not replace, delete or write it."""


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
        and OPEN_FILES_ARE_LOCKED
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


def write_atomic(path: Path, data: bytes, is_durable: bool = True) -> None:
    """Writes a file so that a crash at any moment leaves the old one, the new one or none.

    Syncs it, unless it need not be durable yet (`sync_all`); then a crash of the machine may leave it empty.
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
        with suppress(OSError):  # report the first error, not that of the cleanup
            part.unlink(missing_ok=True)
        raise


@contextmanager
def atomic_replacement(path: Path) -> Iterator[Path]:
    """Yields a path beside `path`, whose file replaces `path`, synced, if the block succeeds.

    An existing file stays unchanged until then, and if writing fails. A link stays a link.

    Raises:
        OSError: `path` is a folder or not writable, its folder is not writable, or the disk failed.
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
    """Checks that `atomic_replacement` can write a file, without lasting changes.

    Raises:
        OSError: As `atomic_replacement`.
    """
    target = _resolve_link(path)
    if target.exists():
        with retry_while_locked(lambda: open(target, "r+b"), target):
            pass  # refuse to replace a read-only file, though its folder allows it
    part = target.with_name(target.name + PART_SUFFIX)
    part.touch()
    part.unlink()


def _resolve_link(path: Path) -> Path:
    """Returns the target of a link, and any other path unchanged: Wine cannot resolve long paths."""
    return path.resolve() if path.is_symlink() else path


def write_file(path: Path, data: bytes) -> None:
    """Writes a file at the user's path by `atomic_replacement`; `write_atomic` is for files in caches."""
    with atomic_replacement(path) as part:
        part.write_bytes(data)


def copy_file(source: Path, path: Path) -> None:
    """Copies a file by `atomic_replacement`."""
    with atomic_replacement(path) as part:
        shutil.copyfile(source, part)


def replace(part: Path, path: Path, is_durable: bool = True) -> None:
    """Moves a file or a folder to its place, over an existing file."""
    retry_while_locked(lambda: os.replace(part, path), path, part)
    if is_durable:
        sync_folder(path.parent)


def sync_all(folder: Path) -> None:
    """Syncs all files in a folder, which is faster than syncing each as it is written."""
    if not folder.is_dir():
        return
    for path in sorted(folder.iterdir()):
        sync_file(path)
    sync_folder(folder)


def sync_tree(folder: Path) -> None:
    """Syncs all files in a folder and its subfolders."""
    for parent, _, names in os.walk(folder):
        for name in names:
            sync_file(Path(parent) / name)
        sync_folder(Path(parent))


def sync_file(path: Path) -> None:
    """Syncs a file."""
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
    """Makes a rename inside `folder` durable. Windows needs no such call and has none."""
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
    """Returns the bytes of an uncompressed .npz without dates, with its checksum."""
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return npz_with_checksum(buffer.getvalue())


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
