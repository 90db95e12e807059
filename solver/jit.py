# SPDX-License-Identifier: GPL-3.0-or-later
"""The only place that names Numba's flags. Where compiled kernels are kept is in `kernel_cache.py`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numba
import numba.core.config

from .kernel_cache import cache_folder

_config: Any = numba.core.config


def kernel(
    *,
    contract: bool = False,
    inline: bool = False,
    inside: bool = False,
    bare: bool = False,
) -> Callable[[Callable], Any]:
    """Returns a decorator that compiles a top-level function of arrays and numbers.

    Args:
        contract: Whether a·b + c may be fused. Only for sums whose order is fixed anyway: the result
            stays the same for every number of threads.
        inline: Whether its instructions become part of every caller, however many they are. A loop that
            calls it can then work on several numbers at a time.
        inside: Whether only kernels call it. What Python would call it by is not compiled then: a sixth of the
            time that `find_crossings` and `find_nearest` take with all that they call.
        bare: Whether references to arrays are not counted, here and in kernels that are compiled for it: for those that
            make no arrays. Where every call counts 30 of them, and threads count the same ones, that took longer than
            passes over a hundred rows.
    """

    def decorate(function: Callable) -> Any:
        folder = cache_folder(Path(function.__code__.co_filename), numba.__version__)
        flags: dict[str, Any] = {
            "fastmath": {"contract"} if contract else False,
            "error_model": "numpy",
            "nogil": True,
            "forceinline": inline,
            # no kernel is handed over as a value, nor called by C
            "no_cfunc_wrapper": True,
            "no_cpython_wrapper": inside,
            **({"_nrt": False} if bare else {}),
        }
        if folder is None:
            return _known_to(numba.njit(**flags)(function), inside)
        before = _config.CACHE_DIR
        _config.CACHE_DIR = str(folder)
        try:
            return _known_to(numba.njit(cache=True, **flags)(function), inside)
        finally:
            _config.CACHE_DIR = before

    return decorate


def _known_to(compiled: Any, inside: bool) -> Any:
    """Returns a compiled function, which raises where Python calls it although only kernels can."""
    if inside:

        def refuse(*_: Any, **__: Any) -> None:
            raise TypeError(f"{compiled.__name__} is compiled for kernels only (kernel(inside=True))")

        # what Numba would call is not there: nothing is entered for Python, and what asks for it is refused
        compiled._insert = lambda *_: None
        compiled._compile_for_args = refuse
    return compiled


# What each thread has been told; Numba's own count would load the library that its parallel loops run by
_told = threading.local()


def set_thread_count(count: int | None) -> int:
    """Sets how many threads kernels use that this one calls (None: all of the machine) and returns that number."""
    most = int(_config.NUMBA_NUM_THREADS)
    _told.count = most if not count else max(1, min(int(count), most))
    return int(_told.count)


def thread_count() -> int:
    """Returns how many threads kernels use that this one calls."""
    return int(getattr(_told, "count", _config.NUMBA_NUM_THREADS))


@contextmanager
def at_most_threads(count: int) -> Iterator[None]:
    """Lets kernels use `count` threads at most for a while: more would only wait for each other."""
    before = thread_count()
    set_thread_count(max(1, min(count, before)))
    try:
        yield
    finally:
        set_thread_count(before)
