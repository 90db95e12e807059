# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a serial kernel on several threads, part by part.

Every kernel lets go of Python's lock, so ordinary threads are enough, and a serial kernel compiles in a third of
the time of a parallel one. Each part writes its own rows: the result does not depend on the number of threads.
"""

from __future__ import annotations

import itertools
import traceback
from collections.abc import Callable
from queue import SimpleQueue
from threading import Event, Thread

import numpy as np

from .thread_count import thread_count

PART_SIZE = 1024


def run_in_chunks(count: int, work: Callable[[slice], None], part_size: int = PART_SIZE) -> None:
    """Calls `work` with slices that together cover `range(count)`, on as many threads as kernels may use."""
    if count:
        run_ranges(0, count, part_size, lambda first, end: work(slice(first, end)))


def run_parts(count: int, work: Callable[[int], None]) -> None:
    """Calls `work` with the numbers from 0 to `count`, on as many threads as kernels may use, which are kept.

    For kernels of less than a millisecond, called again and again: nobody waits for a thread that has not begun.
    """
    helpers = min(thread_count(), count) - 1
    if helpers <= 0:
        for part in range(count):
            work(part)
        return
    numbers, ended, failed = itertools.count(), SimpleQueue[int | BaseException](), Event()

    def run() -> int:
        done = 0
        while not failed.is_set() and (part := next(numbers)) < count:
            try:
                work(part)
            except BaseException:
                failed.set()  # nobody begins another: what they write may be gone soon
                raise
            done += 1
        return done

    def help_out() -> None:
        try:
            ended.put(run())
        except BaseException as error:
            ended.put(error)

    start_in_background(helpers, help_out)
    WAKEUP_COUNTER[0] += 1
    left = count - run()
    while left > 0:
        done = ended.get()
        if isinstance(done, BaseException):
            raise done
        left -= done


def run_ranges(begin: int, end: int, at_once: int, work: Callable[[int, int], None]) -> None:
    """Calls `work` with the begins and ends of ranges of `at_once` numbers, as `run_parts` does."""
    if end - begin <= at_once:
        work(begin, end)
        return
    firsts = range(begin, end, at_once)
    run_parts(len(firsts), lambda part: work(firsts[part], min(firsts[part] + at_once, end)))


def start_in_background(threads: int, work: Callable[[], object]) -> None:
    """Lets so many other threads do the same `work` beside what follows, for which nobody waits.

    Without what a pool does to tell of their ends: it keeps Python's lock for longer than small passes take.
    """
    while len(_background_threads) < threads:
        thread = Thread(target=_serve, args=(_pending_work,), daemon=True)
        _background_threads.append(thread)
        thread.start()
    for _ in range(threads):
        _pending_work.put(work)


# Counts how often there was something new to do, for threads that linger in a kernel (`worker_team.py`).
WAKEUP_COUNTER = np.zeros(1, np.int64)

_background_threads: list[Thread] = []
_pending_work: SimpleQueue[Callable[[], object]] = SimpleQueue()


def _serve(waiting: SimpleQueue[Callable[[], object]]) -> None:
    while True:
        try:
            waiting.get()()
        except Exception:  # told, and the thread goes on: who leads does the work meanwhile
            traceback.print_exc()
