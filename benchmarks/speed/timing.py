# SPDX-License-Identifier: GPL-3.0-or-later
"""Times that can be compared: the compared calls take turns in one run, so that all see the same machine."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import numba

from sinew.solver.runtime.threads.thread_count import set_thread_count, thread_count

ROUNDS = 5


def interleaved_times(
    calls: Mapping[str, Callable[[], object]], rounds: int = ROUNDS, first: int = 1
) -> dict[str, list[float]]:
    """Calls all of `calls` in turns for `rounds` rounds; returns the time of each call by name [s].

    The `first` calls of each do not count: they compile, allocate and fill caches.
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
    """Returns a function that makes `times` calls in a row: all but the first find caches and threads warm."""

    def calls() -> None:
        for _ in range(times):
            call()

    return calls


def seconds(call: Callable[[], object]) -> float:
    """Returns the time of one call [s], without garbage collection."""
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
    """Runs kernels, and the benchmarks' own loops over `numba.prange`, on `count` threads."""
    before = thread_count()
    numba.set_num_threads(set_thread_count(count))
    try:
        yield
    finally:
        set_thread_count(before)
        numba.set_num_threads(before)
