# SPDX-License-Identifier: GPL-3.0-or-later
"""What is known of the package's sources: their digests and imports, and which have kernels.

Reading them takes 25 ms and more at every start, so it is kept, and holds as long as no file has come, gone or changed
by its size and times, which Python goes by as well where it keeps what it has compiled.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import re
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

PROCESS_START = time.time()  # [s]: modules with kernels are loaded from now on
PACKAGE_FOLDER = Path(__file__).resolve().parents[2]  # solver
# "from ..a.b import c, d" as the formatter writes it: dots, module, and names with "as" and comments between them
_IMPORTS = re.compile(r"^[ \t]*from (\.+)([\w.]*) import (\([^)]*\)|[^\n]*)", re.MULTILINE)
_COMMENT, _NAMES = re.compile(r"#.*"), re.compile(r"\w+")


class SourceInfo(NamedTuple):
    """What is known of a file.

    Attributes:
        digest: The SHA-256 of what is in it, 64 hex digits.
        has_kernels: Whether it speaks of kernels.
        imports: The files of the package that it imports, by their names there, such as "linalg/pcg.py".
    """

    digest: str
    has_kernels: bool
    imports: list[str]


@functools.cache
def source_infos(folder: Path) -> dict[str, SourceInfo]:
    """Returns all sources by their names in the package; what is known of them is kept in `folder`."""
    listed = dict(_list_sources(str(PACKAGE_FOLDER)))
    state = _sha256(repr(sorted(listed.items())).encode())
    file = folder / f"sources-{_sha256(str(PACKAGE_FOLDER).encode())[:16]}.json"
    try:
        kept = json.loads(file.read_bytes())
        if kept["state"] == state:
            return {name: SourceInfo(*of) for name, of in kept["sources"].items()}
    except (OSError, ValueError):
        pass
    found = {name: read_source(PACKAGE_FOLDER / name, listed) for name in sorted(listed)}
    if all(
        max(mtime, ctime) < PROCESS_START * 1e9 for _, mtime, ctime in listed.values()
    ):  # else they may still be written
        _write_cache(file, json.dumps({"state": state, "sources": found}))
    return found


def read_source(file: Path, names: Collection[str]) -> SourceInfo:
    """Returns what there is to know of a file, of a package of files with these names."""
    data = file.read_bytes()
    imports = _imports(file.relative_to(PACKAGE_FOLDER), data.decode(), names) if PACKAGE_FOLDER in file.parents else []
    return SourceInfo(_sha256(data), b"kernel" in data, imports)


def _imports(file: Path, text: str, names: Collection[str]) -> list[str]:
    """Returns the names of the files that a file imports.

    Statements are found by their looks: parsing all sources took 1.6 s at every start.
    """
    found = []
    for dots, module, listed in _IMPORTS.findall(text):
        if len(dots) > len(file.parents):
            continue
        base = file.parents[len(dots) - 1].joinpath(*module.split(".")).as_posix()
        within = "" if base == "." else f"{base}/"
        words = _NAMES.findall(_COMMENT.sub("", listed))
        candidates = (f"{base}.py", f"{within}__init__.py", *(f"{within}{word}.py" for word in words))
        found += [name for name in candidates if name in names]
    return found


def _list_sources(folder: str, within: str = "") -> Iterator[tuple[str, tuple[int, int, int]]]:
    """Yields the names of all sources, each with its size and the times when it was written and put there [ns]."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                told = entry.stat()
                yield within + entry.name, (told.st_size, told.st_mtime_ns, told.st_ctime_ns)
            elif entry.name != "__pycache__" and entry.is_dir():
                yield from _list_sources(entry.path, f"{within}{entry.name}/")


def _write_cache(file: Path, text: str) -> None:
    """Writes a file so that others find all of it or none; where that cannot be done it is read anew each time."""
    part = file.with_suffix(f".{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(text, encoding="utf-8", newline="\n")
        part.replace(file)
    except OSError:
        with contextlib.suppress(OSError):
            part.unlink()


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
