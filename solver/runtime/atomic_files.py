# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes, replaces and syncs files so that a crash leaves the old file or the new one."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .locked_file_retries import open_when_unlocked, retry_while_locked

PART_SUFFIX = ".part"


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
