# SPDX-License-Identifier: GPL-3.0-or-later
"""A stamp that changes whenever a file of tets, or a file that it includes, is written."""

from __future__ import annotations

from pathlib import Path

from ...solver.runtime.checksums import digest
from ..runtime.memo import Memo

# time of change [ns] and size [bytes] of a file and of all that it includes
Stamp = tuple[tuple[int, int], ...]

_included_files: Memo[list[Path]] = Memo(8)  # of files of Vega


def stamp(path: Path) -> Stamp | None:
    """Returns what changes when the file is written, or None where it, or one that it includes, is not there."""
    try:
        return tuple(_stamp_of_one(file) for file in _files(path))
    except OSError:
        return None


def content_digest(path: Path) -> str:
    """Returns a digest of what is in the file.

    Raises:
        OSError: It cannot be read.
    """
    return digest([file.read_bytes() for file in _files(path)])


def total_bytes(found: Stamp) -> int:
    """Returns the bytes of all files of a stamp."""
    return sum(bytes_of_one for _, bytes_of_one in found)


def _files(path: Path) -> list[Path]:
    if path.suffix.lower() != ".veg":
        return [path]
    # loaded here, since most artists never need it
    from ...solver.mesh.formats.veg import included_files

    return [path, *_included_files.result(path, _stamp_of_one(path), lambda: included_files(path))]


def _stamp_of_one(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_mtime_ns, found.st_size
