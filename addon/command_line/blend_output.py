# SPDX-License-Identifier: GPL-3.0-or-later
"""Writing the open file as a .blend that a command names: checked before the work, whole or not at all after it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import bpy

from ...solver.runtime.atomic_files import atomic_replacement, check_writable
from ...solver.runtime.errors import BadInput, StorageFailed
from ..baking import save_handlers

# how files end that are whole: the last block of a .blend, and the mark behind the table of a compressed one
_LAST_BLOCK = b"ENDB"
_LAST_BLOCK_BYTES = 64
_COMPRESSED_END = b"\xb1\xea\x92\x8f"
_PROBE_BYTES = 65_536  # of room that are left where all could be written


def check_writable_blend(path: Path) -> None:
    """Makes sure that a .blend can be written, as far as that can be told before; changes nothing.

    Raises:
        BadInput: It is a folder or read-only, its folder cannot be written, or the disk is too full for it.
    """
    path = path.resolve()
    try:
        if path.parent.is_dir():
            check_writable(path)
        folder = next(folder for folder in path.parents if folder.exists())
        if not path.parent.is_dir():
            check_writable(folder / f"{path.name}.check")  # its folder is made when it is written
        present = Path(bpy.data.filepath)
        needed = present.stat().st_size if present.is_file() else 0
        if shutil.disk_usage(folder).free < needed:
            raise BadInput("file-unwritable", path=str(path), problem=f"the disk lacks room for {needed:,} bytes")
    except OSError as problem:
        raise BadInput("file-unwritable", path=str(path), problem=problem.strerror or str(problem)) from problem


def write_blend(path: Path) -> None:
    """Writes the open file to `path`, with paths relative to there; the .blend that is there stays until it is whole.

    Raises:
        StorageFailed: It could not be written; what was baked stays.
    """
    path = path.resolve()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_replacement(path) as part, save_handlers.writing_part_file(path, part):
            try:
                bpy.ops.wm.save_as_mainfile(filepath=str(part), copy=True, relative_remap=True)
                _check_complete(part)
                _keep_version(path)
            finally:
                part.with_name(part.name + "@").unlink(missing_ok=True)  # what Blender was writing
    except RuntimeError as problem:
        words = str(problem).strip().removeprefix("Error: ").splitlines()[0].rstrip(".")
        raise StorageFailed("blend-not-written", path=str(path), problem=words) from problem
    except OSError as problem:
        raise StorageFailed("blend-not-written", path=str(path), problem=problem.strerror or str(problem)) from problem


def _check_complete(part: Path) -> None:
    """Raises OSError where not all was written, which Blender 5.0 does not say where the disk gets full at the end."""
    with open(part, "rb") as file:
        file.seek(max(0, part.stat().st_size - _LAST_BLOCK_BYTES))
        end = file.read()
    if _LAST_BLOCK not in end and not end.endswith(_COMPRESSED_END):
        raise OSError("it is cut off, as on a full disk")
    probe = part.with_name(part.name + "@")
    try:
        probe.write_bytes(b"\0" * _PROBE_BYTES)
    finally:
        probe.unlink(missing_ok=True)


def _keep_version(path: Path) -> None:
    """Keeps the .blend that is there under the name that Blender would give it, where Blender would keep it."""
    if bpy.context.preferences.filepaths.save_version > 0 and path.is_file():
        version = path.with_name(path.name + "1")
        with atomic_replacement(version) as part:
            part.unlink(missing_ok=True)
            try:
                os.link(path, part)
            except OSError:  # a drive without hard links
                shutil.copyfile(path, part)
