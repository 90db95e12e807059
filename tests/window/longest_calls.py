# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures how long functions of modules take, wherever others look them up: the longest call of each. No Blender."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager as AbstractContextManager
from contextlib import contextmanager
from types import ModuleType
from typing import Any

Table = dict[str, dict[str, float]]


class Yardstick:
    """A known amount of work, done beside calls that take long: a busy machine makes both slower alike."""

    def __init__(self, work: Callable[[], object], least_ms: float) -> None:
        """Takes the work, and how many milliseconds of its thread a call must take to be compared with it."""
        self.least_ms = least_ms
        self.spent = 0.0  # by the work so far [s], which is no part of a call around it
        self._work = work

    def seconds(self) -> float:
        """Does the work, and returns the time of the thread that it took [s]."""
        begun = time.thread_time()
        self._work()
        taken = time.thread_time() - begun
        self.spent += taken
        return taken


@contextmanager
def measuring(functions: Sequence[tuple[ModuleType, str]], yardstick: Yardstick | None = None) -> Iterator[Table]:
    """Yields a table that grows: of each function the number of calls, and the longest on the clock and of its thread.

    Other processes take the processor too: the time of the thread leaves them out, and what is read from the disk. Yet
    it grows beside a process that shares the core or its cache. A yardstick leaves that out: `most_yardsticks` is how
    many times as long as the yardstick right after it a call took at most, of those that are compared with it.
    """
    table: Table = {}
    usual = [(module, name, getattr(module, name)) for module, name in functions]
    for module, name, function in usual:
        setattr(module, name, _timed(function, f"{module.__name__.rpartition('.')[2]}.{name}", table, yardstick))
    try:
        yield table
    finally:
        for module, name, function in usual:
            setattr(module, name, function)


def _timed(function: Callable[..., Any], name: str, table: Table, yardstick: Yardstick | None) -> Callable[..., Any]:
    @functools.wraps(function)
    def timed(*arguments: Any, **options: Any) -> Any:
        clock, own = time.perf_counter(), _own_seconds(yardstick)
        try:
            return function(*arguments, **options)
        finally:
            taken = 1e3 * (_own_seconds(yardstick) - own)
            row = table.setdefault(name, {"calls": 0, "longest_ms": 0.0, "longest_thread_ms": 0.0})
            row["calls"] += 1
            row["longest_ms"] = max(row["longest_ms"], round(1e3 * (time.perf_counter() - clock), 1))
            row["longest_thread_ms"] = max(row["longest_thread_ms"], round(taken, 1))
            if yardstick is not None and taken >= yardstick.least_ms:
                compared = 1e-3 * taken / yardstick.seconds()
                row["most_yardsticks"] = max(row.get("most_yardsticks", 0.0), round(compared, 2))

    return timed


def _own_seconds(yardstick: Yardstick | None) -> float:
    """Returns the time of the thread without that of the yardstick [s]."""
    return time.thread_time() - (0.0 if yardstick is None else yardstick.spent)
