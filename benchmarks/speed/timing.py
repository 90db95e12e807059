# SPDX-License-Identifier: GPL-3.0-or-later
"""Times that can be compared: who is compared takes turns in one run, so that all see the same machine."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import numba

from sinew.solver.runtime.jit import set_thread_count, thread_count

ROUNDS = 5


def interleaved_times(
    calls: Mapping[str, Callable[[], object]], rounds: int = ROUNDS, first: int = 1
) -> dict[str, list[float]]:
    """Calls all of `calls`, one after the other, in so many rounds; returns by name how long each call took [s].

    The `first` calls of each are not counted: they compile, allocate and fill caches.
    """
    for call in calls.values():
        for _ in range(first):
            call()
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            taken[name].append(seconds(call))
    return taken


def repeat(call: Callable[[], object], times: int) -> Callable[[], None]:
    """Returns what calls it so many times, one after the other: all but the first find caches and threads warm."""

    def calls() -> None:
        for _ in range(times):
            call()

    return calls


def seconds(call: Callable[[], object]) -> float:
    """Returns how long one call takes [s]; nothing is collected meanwhile."""
    collects = gc.isenabled()
    gc.disable()
    try:
        began = time.perf_counter()
        call()
        return time.perf_counter() - began
    finally:
        if collects:
            gc.enable()


def medians(taken: Mapping[str, list[float]]) -> dict[str, float]:
    """Returns the median of each."""
    return {name: statistics.median(times) for name, times in taken.items()}


@contextmanager
def using_threads(count: int) -> Iterator[None]:
    """Lets kernels use so many threads for a while, and loops over `numba.prange`, which only benchmarks have."""
    before = thread_count()
    numba.set_num_threads(set_thread_count(count))
    try:
        yield
    finally:
        set_thread_count(before)
        numba.set_num_threads(before)
