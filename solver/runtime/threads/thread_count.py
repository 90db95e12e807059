# SPDX-License-Identifier: GPL-3.0-or-later
"""How many threads kernels use: a number of each thread that calls them."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numba.core.config

_config: Any = numba.core.config

# What each thread has been told; Numba's own count would load the library that its parallel loops run by
_thread_settings = threading.local()


def set_thread_count(count: int | None) -> int:
    """Sets how many threads kernels use that this one calls (None: all of the machine) and returns that number."""
    most = int(_config.NUMBA_NUM_THREADS)
    _thread_settings.count = most if not count else max(1, min(int(count), most))
    return int(_thread_settings.count)


def fair_thread_count() -> int:
    """Returns how many threads a bake should begin with: all, or its share where other programs have the cores.

    Where more programs run than there are cores, threads of a step wait for the one that is not running, hundreds of
    times in a step; two can take twice as long as one. No bit depends on the number. Windows tells no load average.
    """
    most = int(_config.NUMBA_NUM_THREADS)
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return most if load <= most else max(1, int(most * most / load))


def thread_count() -> int:
    """Returns how many threads kernels use that this one calls."""
    return int(getattr(_thread_settings, "count", _config.NUMBA_NUM_THREADS))


@contextmanager
def restoring_thread_count() -> Iterator[None]:
    """Lets kernels use as many threads behind a while as before it."""
    before = thread_count()
    try:
        yield
    finally:
        set_thread_count(before)


@contextmanager
def using_threads(count: int) -> Iterator[None]:
    """Lets kernels use `count` threads for a while."""
    with restoring_thread_count():
        set_thread_count(count)
        yield


def limiting_threads(count: int) -> AbstractContextManager[None]:
    """Lets kernels use `count` threads at most for a while: more would only wait for each other."""
    return using_threads(max(1, min(count, thread_count())))
