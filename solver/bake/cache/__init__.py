# SPDX-License-Identifier: GPL-3.0-or-later
"""The cache folder (docs/architecture.md). Loads neither Numba nor SciPy."""

from .background_writer import BackgroundWriter
from .delete import delete_bake, delete_cache, delete_folder, has_bake, is_cache
from .final_mesh_counts import FractureResult
from .frame_npz import Frame
from .lock import CacheLock, is_locked
from .metadata import CachedBody, CacheMetadata
from .reader import CacheReader
from .writer import CacheWriter, free_space

__all__ = [
    "CacheMetadata",
    "CacheLock",
    "CacheReader",
    "CacheWriter",
    "CachedBody",
    "Frame",
    "FractureResult",
    "BackgroundWriter",
    "delete_bake",
    "delete_cache",
    "delete_folder",
    "free_space",
    "has_bake",
    "is_cache",
    "is_locked",
]
