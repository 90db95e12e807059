# SPDX-License-Identifier: GPL-3.0-or-later
"""Digests of the sources that kernels are compiled from.

Numba notices a change of a kernel's own file, but not of a helper in another file that was inlined into it. A user
never edits sources, so that one digest of all of them will do. Whoever develops edits one file at a time: then every
file has a digest of its own, of itself and all files of the package that it imports, directly or not.
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
DEVELOP_VARIABLE = "SINEW_DEVELOP"  # 1 or 0; where it is not set, sources in a clone are being developed

# Parsing all sources takes ten times as long as looking for their imports: 0.7 s of the first bake in a clone
_COMMENT_OR_CONTINUATION = re.compile(r"#.*|\\\n")
_RELATIVE_IMPORT = re.compile(r"^[ \t]*from[ \t]+(\.+)([\w.]*)[ \t]+import[ \t]*(\([^)]*\)|.*)", re.MULTILINE)
_NAME = re.compile(r"\w+")


class SourceInfo(NamedTuple):
    """A file of the package.

    Attributes:
        stamp: Its size [bytes] and the times when it was written and put there [ns].
        digest: The SHA-256 of its bytes, 64 hex digits.
        imports: The files of the package that it imports, by their names there, such as "linalg/pcg.py".
    """

    stamp: list[int]
    digest: str
    imports: list[str]


def is_developing() -> bool:
    """Returns whether someone may edit the sources."""
    chosen = os.environ.get(DEVELOP_VARIABLE)
    return chosen != "0" if chosen else (PACKAGE_FOLDER.parent / ".git").exists()


@functools.cache
def package_digest() -> str:
    """Returns 64 hex digits of all sources of the package and their names, wherever the package lies."""
    total = hashlib.sha256()
    for name in sorted(_list_sources()):
        total.update(f"{name}\0{_sha256((PACKAGE_FOLDER / name).read_bytes())}".encode())
    return total.hexdigest()


@functools.cache
def file_digest(file: Path, folder: Path) -> str:
    """Returns 64 hex digits of a file, which need not be one of the package, and of all that it imports of that.

    Args:
        file: Its resolved path.
        folder: Where to store what is known of the package's files.
    """
    total = hashlib.sha256(f"{file.name}\0{_sha256(file.read_bytes())}".encode())
    for name in _transitive_imports(file, folder):
        total.update(f"{name}\0{source_infos(folder)[name].digest}".encode())
    return total.hexdigest()


def is_older_than_process(file: Path, folder: Path) -> bool:
    """Returns whether neither the file nor what it imports was written since this process began.

    Else the process may have loaded what was there before, and must not store that as compiled from what is there now.
    """
    if not is_developing():
        return True
    status = file.stat()
    known = [source_infos(folder)[name].stamp for name in _transitive_imports(file, folder)]
    stamps = [[status.st_size, status.st_mtime_ns, status.st_ctime_ns], *known]
    return all(max(stamp[1:]) < PROCESS_START * 1e9 for stamp in stamps)


@functools.cache
def source_infos(folder: Path) -> dict[str, SourceInfo]:
    """Returns all sources by their names in the package; `folder` has what is known of those that did not change."""
    stamps = _list_sources()
    file = folder / f"sources-{_sha256(str(PACKAGE_FOLDER).encode())[:16]}.json"
    stored = _read_stored(file)
    found = {
        name: stored[name] if name in stored and stored[name].stamp == stamp else _read_source(name, stamp, stamps)
        for name, stamp in stamps.items()
    }
    if found != stored and all(max(stamp[1:]) < PROCESS_START * 1e9 for stamp in stamps.values()):
        _write_stored(file, json.dumps(found))
    return found


def _read_source(name: str, stamp: list[int], names: Collection[str]) -> SourceInfo:
    data = (PACKAGE_FOLDER / name).read_bytes()
    return SourceInfo(stamp, _sha256(data), sorted(set(_imports(Path(name), data, names))))


def _imports(file: Path, data: bytes, names: Collection[str]) -> Iterator[str]:
    """Yields the names of the files that a file of the package imports, by "from ..a.b import c".

    A docstring that says so adds one too many, which only makes the digest depend on it.
    """
    text = _COMMENT_OR_CONTINUATION.sub("", data.decode())
    for dots, module, imported in _RELATIVE_IMPORT.findall(text):
        if len(dots) > len(file.parents):
            continue
        base = file.parents[len(dots) - 1].joinpath(*module.split("."))
        modules = (base / f"{each}.py" for each in _NAME.findall(imported))
        candidates = [base.with_suffix(".py"), base / "__init__.py", *modules]
        yield from (path.as_posix() for path in candidates if path.name and path.as_posix() in names)


@functools.cache
def _transitive_imports(file: Path, folder: Path) -> list[str]:
    """Returns the sorted names of all files of the package that a file imports, directly or not.

    Of a file outside, all: tests have kernels of their own.
    """
    infos = source_infos(folder)
    if PACKAGE_FOLDER not in file.parents:
        return sorted(infos)
    waiting, found = [file.relative_to(PACKAGE_FOLDER).as_posix()], set[str]()
    while waiting:
        for name in infos[waiting.pop()].imports:
            if name not in found:
                found.add(name)
                waiting.append(name)
    return sorted(found)


@functools.cache
def _list_sources() -> dict[str, list[int]]:
    """Returns the stamps of all sources by their names."""
    found = {}
    for folder, _, files in os.walk(PACKAGE_FOLDER):
        within = os.path.relpath(folder, PACKAGE_FOLDER).replace(os.sep, "/")
        for file in files:
            if file.endswith(".py"):
                status = os.stat(os.path.join(folder, file))
                stamp = [status.st_size, status.st_mtime_ns, status.st_ctime_ns]
                found[file if within == "." else f"{within}/{file}"] = stamp
    return found


def _read_stored(file: Path) -> dict[str, SourceInfo]:
    try:
        return {name: SourceInfo(*info) for name, info in json.loads(file.read_bytes()).items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _write_stored(file: Path, text: str) -> None:
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
