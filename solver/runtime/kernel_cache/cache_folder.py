# SPDX-License-Identifier: GPL-3.0-or-later
"""Where compiled kernels are kept.

Numba notices a change of a kernel's own file, but not of a helper in another file that was inlined into
it. So every file's kernels are cached in a folder named by the digest of that file and of all files of
the package that it imports, directly or not. The folder lies in the user's cache folder, since the
package may be read-only; where even that cannot be written, kernels are compiled anew each time.
"""

from __future__ import annotations

import functools
import hashlib
import os
import sys
import tempfile
from pathlib import Path

from . import source_digests

CACHE_FORMAT = 4  # counts up when `function_cache.py` keeps them in another way
CACHE_VARIABLE = "SINEW_KERNEL_CACHE"


def cache_root() -> Path:
    """Returns the folder under which compiled kernels of all versions are kept."""
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    return base / "sinew" / "kernels"


@functools.cache
def is_cache_available() -> bool:
    """Whether kernels can be kept between runs on this machine."""
    try:
        cache_root().mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=cache_root()):
            return True
    except OSError:
        return False


@functools.cache
def cache_folder(file: Path, numba: str) -> Path | None:
    """Returns the folder for the kernels of a file, compiled by that version of Numba; None: they cannot be kept.

    Asked when a kernel is first called: what was changed since this process began may not be what it has loaded.
    """
    file = file.resolve()
    if not is_cache_available() or not all(map(_predates_process, (str(file), *_transitive_imports(file)))):
        return None
    python = f"{sys.implementation.cache_tag}-numba{numba}-{CACHE_FORMAT}"
    return cache_root() / python / f"{file.stem}-{_source_digest(file)[:16]}"


def _source_digest(file: Path) -> str:
    package = source_digests.source_infos(cache_root())
    total = hashlib.sha256(f"{file.name}\0{_source_of(file).digest}".encode())
    for name in sorted(_transitive_imports(file)):
        total.update(f"{name}\0{package[name].digest}".encode())
    return total.hexdigest()


@functools.cache
def _predates_process(name: str) -> bool:
    """Whether a file, of the package or by its full path, was not written nor put there since this process began."""
    told = (source_digests.PACKAGE_FOLDER / name).stat()
    return max(told.st_mtime, told.st_ctime) < source_digests.PROCESS_START


@functools.cache
def _transitive_imports(file: Path) -> set[str]:
    """Returns the names of all files of the package that a file imports, directly or not."""
    package = source_digests.source_infos(cache_root())
    found: set[str] = set()
    waiting = [*_source_of(file).imports]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(package[name].imports)
    return found


@functools.cache
def _source_of(file: Path) -> source_digests.SourceInfo:
    """Returns what is known of a file, which need not be one of the package's."""
    package = source_digests.source_infos(cache_root())
    name = (
        file.relative_to(source_digests.PACKAGE_FOLDER).as_posix()
        if source_digests.PACKAGE_FOLDER in file.parents
        else ""
    )
    return package.get(name) or source_digests.read_source(file, package)
