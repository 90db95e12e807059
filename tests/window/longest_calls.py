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


@contextmanager
def measuring(functions: Sequence[tuple[ModuleType | type, str]]) -> Iterator[Table]:
    """Yields a table that grows: of each function the number of calls, and the longest on the clock and of its thread.

    Other processes take the processor too: the time of the thread leaves them out, and what is read from the disk.
    """
    table: Table = {}
    usual = [(module, name, getattr(module, name)) for module, name in functions]
    for module, name, function in usual:
        setattr(module, name, _timed(function, f"{module.__name__.rpartition('.')[2]}.{name}", table))
    try:
        yield table
    finally:
        for module, name, function in usual:
            setattr(module, name, function)


def _timed(function: Callable[..., Any], name: str, table: Table) -> Callable[..., Any]:
    @functools.wraps(function)
    def timed(*arguments: Any, **options: Any) -> Any:
        clock, own = time.perf_counter(), time.thread_time()
        try:
            return function(*arguments, **options)
        finally:
            row = table.setdefault(name, {"calls": 0, "longest_ms": 0.0, "longest_thread_ms": 0.0})
            row["calls"] += 1
            row["longest_ms"] = max(row["longest_ms"], round(1e3 * (time.perf_counter() - clock), 1))
            row["longest_thread_ms"] = max(row["longest_thread_ms"], round(1e3 * (time.thread_time() - own), 1))

    return timed
