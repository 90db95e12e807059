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

from . import sources

FORMAT = 4  # counts up when `kept_kernels.py` keeps them in another way
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
def is_cached() -> bool:
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
    if not is_cached() or not all(map(_is_older, (str(file), *_imported(file)))):
        return None
    python = f"{sys.implementation.cache_tag}-numba{numba}-{FORMAT}"
    return cache_root() / python / f"{file.stem}-{_digest(file)[:16]}"


def _digest(file: Path) -> str:
    package = sources.known(cache_root())
    total = hashlib.sha256(f"{file.name}\0{_known(file).digest}".encode())
    for name in sorted(_imported(file)):
        total.update(f"{name}\0{package[name].digest}".encode())
    return total.hexdigest()


@functools.cache
def _is_older(name: str) -> bool:
    """Whether a file, of the package or by its full path, was not written nor put there since this process began."""
    told = (sources.PACKAGE / name).stat()
    return max(told.st_mtime, told.st_ctime) < sources.BEGAN


@functools.cache
def _imported(file: Path) -> set[str]:
    """Returns the names of all files of the package that a file imports, directly or not."""
    package = sources.known(cache_root())
    found: set[str] = set()
    waiting = [*_known(file).imports]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(package[name].imports)
    return found


@functools.cache
def _known(file: Path) -> sources.Source:
    """Returns what is known of a file, which need not be one of the package's."""
    package = sources.known(cache_root())
    name = file.relative_to(sources.PACKAGE).as_posix() if sources.PACKAGE in file.parents else ""
    return package.get(name) or sources.read(file, package)
