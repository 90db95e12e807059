# SPDX-License-Identifier: GPL-3.0-or-later
"""Numba's cache of one kernel, in the folders of `cache_folder`: shipped kernels first, then the user's."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from numba.core.caching import CompileResultCacheImpl, FunctionCache, NullCache, _CacheLocator

from .cache_folder import own_folder, shipped_folder
from .source_digests import PACKAGE_FOLDER


class _OwnFolderLocator(_CacheLocator):
    """Tells Numba the folder of a kernel. Its name is made of the sources, so that there is no date to check."""

    def __init__(self, function: Callable, file: str) -> None:
        self._function, self._py_file = function, file

    @classmethod
    def from_function(cls, py_func: Callable, py_file: str) -> Self:
        return cls(py_func, py_file)

    def get_cache_path(self) -> str:
        return str(own_folder(Path(self._py_file)))

    def get_source_stamp(self) -> None:
        return None

    def get_disambiguator(self) -> str:
        """Returns what tells functions apart whose names, and names of whose files, are the same."""
        module = zlib.crc32(self._function.__module__.encode()) & 0xFFFF
        return f"{self._function.__code__.co_firstlineno}-{module:04x}"


class _ShippedFolderLocator(_OwnFolderLocator):
    """The same of the folder that was shipped."""

    def get_cache_path(self) -> str:
        return str(shipped_folder())


class _OwnImplementation(CompileResultCacheImpl):
    _locator_classes = [_OwnFolderLocator]


class _ShippedImplementation(CompileResultCacheImpl):
    _locator_classes = [_ShippedFolderLocator]


class _OwnCache(FunctionCache):
    _impl_class = _OwnImplementation


class _ShippedCache(FunctionCache):
    _impl_class = _ShippedImplementation


class KernelCache:
    """What was compiled of one kernel. Numba asks it before it compiles, and gives to it what it has compiled."""

    def __init__(self, function: Callable) -> None:
        """Finds the folders and reads nothing yet."""
        file = Path(function.__code__.co_filename)
        is_shipped = shipped_folder() is not None and PACKAGE_FOLDER in file.resolve().parents
        self._shipped: Any = _ShippedCache(function) if is_shipped else NullCache()
        self._own: Any = _OwnCache(function) if own_folder(file) is not None else NullCache()

    @property
    def cache_path(self) -> str | None:
        """The folder to which kernels are written."""
        return self._own.cache_path

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Returns what was compiled for a signature, or None."""
        found = self._shipped.load_overload(signature, target_context)
        if found is not None:
            return found
        try:
            return self._own.load_overload(signature, target_context)
        except (AttributeError, ImportError):
            # Numba's index names the classes of arguments: one has moved to another module, and the digest of the
            # kernel's file knows only what that file imports
            self._own.flush()
            return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Writes what was compiled for a signature."""
        self._own.save_overload(signature, compiled)

    def flush(self) -> None:
        """Forgets what is written of the kernel."""
        self._own.flush()
