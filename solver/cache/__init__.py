# SPDX-License-Identifier: GPL-3.0-or-later
"""The cache folder: what was baked, on disk (docs/architecture.md). Loads neither Numba nor SciPy."""

from .behind import WritesBehind
from .delete import delete_cache, is_cache
from .head import CachedBody, CacheHead
from .lock import CacheLock, is_locked
from .reader import CacheReader
from .results import Result
from .stored_frame import Frame
from .writer import CacheWriter, free_space

__all__ = [
    "CacheHead",
    "CacheLock",
    "CacheReader",
    "CacheWriter",
    "CachedBody",
    "Frame",
    "Result",
    "WritesBehind",
    "delete_cache",
    "free_space",
    "is_cache",
    "is_locked",
]
