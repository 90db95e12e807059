# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the open file as another .blend. Checks the target before the bake, and leaves a whole file or none."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import bpy

from ...solver.runtime.atomic_files import atomic_replacement, check_writable
from ...solver.runtime.errors import BadInput, StorageFailed
from ..baking import move_caches_on_save

# the end of a whole file: the last block of a .blend, or the mark after the table of a compressed one
_LAST_BLOCK = b"ENDB"
_LAST_BLOCK_BYTES = 64
_COMPRESSED_END = b"\xb1\xea\x92\x8f"
_PROBE_BYTES = 65_536  # free space after a complete write


def check_writable_blend(path: Path) -> None:
    """Checks that a .blend can be written, as far as possible without writing it.

    Raises:
        BadInput: It is a folder or read-only, its folder cannot be written, or the disk is too full for it.
    """
    path = path.resolve()
    try:
        if path.parent.is_dir():
            check_writable(path)
        folder = next(folder for folder in path.parents if folder.exists())
        if not path.parent.is_dir():
            check_writable(folder / f"{path.name}.check")  # writing creates its folder
        present = Path(bpy.data.filepath)
        needed = present.stat().st_size if present.is_file() else 0
        if shutil.disk_usage(folder).free < needed:
            raise BadInput("file-unwritable", path=str(path), problem=f"the disk lacks room for {needed:,} bytes")
    except OSError as problem:
        raise BadInput("file-unwritable", path=str(path), problem=problem.strerror or str(problem)) from problem


def write_blend(path: Path) -> None:
    """Writes the open file to `path`, with paths relative to it; replaces an existing .blend only by a whole one.

    Raises:
        StorageFailed: The file could not be written. The baked frames stay.
    """
    path = path.resolve()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_replacement(path) as part, move_caches_on_save.writing_part_file(path, part):
            try:
                bpy.ops.wm.save_as_mainfile(filepath=str(part), copy=True, relative_remap=True)
                _check_complete(part)
                _keep_version(path)
            finally:
                part.with_name(part.name + "@").unlink(missing_ok=True)  # Blender's own temporary file
    except RuntimeError as problem:
        words = str(problem).strip().removeprefix("Error: ").splitlines()[0].rstrip(".")
        raise StorageFailed("blend-not-written", path=str(path), problem=words) from problem
    except OSError as problem:
        raise StorageFailed("blend-not-written", path=str(path), problem=problem.strerror or str(problem)) from problem


def _check_complete(part: Path) -> None:
    """Raises OSError for a truncated file: Blender 5.0 does not report a disk that is full at the end."""
    with open(part, "rb") as file:
        file.seek(max(0, part.stat().st_size - _LAST_BLOCK_BYTES))
        end = file.read()
    if _LAST_BLOCK not in end and not end.endswith(_COMPRESSED_END):
        raise OSError("it is truncated, as on a full disk")
    probe = part.with_name(part.name + "@")
    try:
        probe.write_bytes(b"\0" * _PROBE_BYTES)
    finally:
        probe.unlink(missing_ok=True)


def _keep_version(path: Path) -> None:
    """Keeps the existing .blend as a backup (.blend1), if Blender's preferences ask for one."""
    if bpy.context.preferences.filepaths.save_version > 0 and path.is_file():
        version = path.with_name(path.name + "1")
        with atomic_replacement(version) as part:
            part.unlink(missing_ok=True)
            try:
                os.link(path, part)
            except OSError:  # a drive without hard links
                shutil.copyfile(path, part)
