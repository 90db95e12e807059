# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeps memory that arrays leave behind for the next ones, where the C library would hand it back.

glibc returns every large array to Linux at once, and Linux clears each page of the next one when it is first touched:
on virtual machines that takes longer than to compute what goes there. A Newton iteration of 150,000 tets makes arrays
of 100 MB, and of the same sizes again in the next one.
"""

from __future__ import annotations

import ctypes
import sys

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # of glibc's malloc.h
MAX_KEPT_BYTES = 1 << 30
MAX_HEAP_ARRAY_BYTES = 1 << 30, 1 << 25  # from which arrays have pages of their own; older libraries allow the second


def keep_freed_memory() -> bool:
    """Lets this process keep up to 1 GiB that is freed; returns whether its C library can be told so.

    It is for processes that do nothing but simulate: others would miss what is kept.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        set_option = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False  # another C library
    kept = set_option(TRIM_THRESHOLD, MAX_KEPT_BYTES)
    return bool(kept and any(set_option(MMAP_THRESHOLD, size) for size in MAX_HEAP_ARRAY_BYTES))
