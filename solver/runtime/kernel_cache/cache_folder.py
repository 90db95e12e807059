# SPDX-License-Identifier: GPL-3.0-or-later
"""Where compiled kernels lie: shipped ones in a package of their own, others in the user's cache folder.

A folder is named by the digest of the sources, Python, Numba and the target: never by a path, a time or the machine, so
that a folder can be compiled elsewhere. The shipped one is only read. Where nothing can be written, kernels that are
not shipped are compiled anew each time.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import sys
import tempfile
from pathlib import Path

import numba

from . import source_digests
from .kernel_target import kernel_target

CACHE_FORMAT = 5  # counts up when `function_cache.py` stores kernels in another way
CACHE_VARIABLE = "SINEW_KERNEL_CACHE"
SHIPPED_PACKAGE = "sinew_kernels"  # made by scripts/build_zip.py
STAMP = "all-compiled"  # a file in the folder of a version of which all kernels are there


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
    """Returns whether kernels can be kept between runs on this machine."""
    try:
        cache_root().mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=cache_root()):
            return True
    except OSError:
        return False


@functools.cache
def own_folder(file: Path) -> Path | None:
    """Returns the folder to which the kernels of a file are written; None: they cannot be kept.

    Asked when a kernel is first called: what was changed since this process began may not be what it has loaded.
    """
    file = file.resolve()
    if not file.is_file() or not is_cache_available() or not source_digests.is_older_than_process(file, cache_root()):
        return None
    if source_digests.is_developing() or source_digests.PACKAGE_FOLDER not in file.parents:
        return cache_root() / folder_name(source_digests.file_digest(file, cache_root()), f"{file.stem}-")
    return cache_root() / version_name()


@functools.cache
def shipped_folder() -> Path | None:
    """Returns the folder with the kernels that were shipped for these sources; None: there are none."""
    spec = None if source_digests.is_developing() else importlib.util.find_spec(SHIPPED_PACKAGE)
    folder = Path(spec.origin).parent / version_name() if spec is not None and spec.origin else None
    return folder if folder is not None and folder.is_dir() else None


@functools.cache
def version_name() -> str:
    """Returns the name of the folder for the kernels of all sources."""
    return folder_name(source_digests.package_digest())


def folder_name(sources: str, before: str = "") -> str:
    """Returns the name of a folder for kernels of sources with that digest; short, for Windows' sake."""
    parts = (sources, numba.__version__, kernel_target(), str(CACHE_FORMAT))
    return f"{before}{sys.implementation.cache_tag}-{hashlib.sha256(repr(parts).encode()).hexdigest()[:16]}"


def is_all_compiled() -> bool:
    """Returns whether all kernels of the present sources were shipped, or compiled here."""
    folders = (shipped_folder(), cache_root() / version_name())
    return any(folder is not None and (folder / STAMP).is_file() for folder in folders)


def mark_all_compiled() -> None:
    """Says that all kernels of the present sources are compiled."""
    folder = cache_root() / version_name()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / STAMP).touch()
