# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures how long Sinew's own code holds up Blender's window while a run is live: the longest call of each kind."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from bl_ext.user_default.sinew.addon.baking import bake_control, bake_timer
from bl_ext.user_default.sinew.addon.fracture_meshes import torn_mesh_modifier
from bl_ext.user_default.sinew.addon.live import brushes, grabs, keep_run, live_timer, run_control

# where others look them up, in the window's thread
MEASURED: tuple[tuple[ModuleType, str], ...] = (
    (run_control, "start"),
    (run_control, "poll"),
    (run_control, "stop"),
    (run_control, "end"),
    (run_control, "hide_for_save"),
    (run_control, "show_after_save"),
    (run_control, "hide_for_undo"),
    (torn_mesh_modifier, "show"),
    (torn_mesh_modifier, "remove_all"),
    (grabs, "take"),
    (grabs, "move"),
    (brushes, "hold"),
    (keep_run, "start"),
    (bake_control, "poll"),
    (bake_timer, "redraw"),
    (live_timer, "start"),
)


@contextmanager
def measuring() -> Iterator[dict[str, dict[str, float]]]:
    """Yields a table that grows: of each function the number of calls, and the longest on the clock and of its thread.

    Other processes take the processor too: the time of the thread leaves them out, and what is read from the disk.
    """
    table: dict[str, dict[str, float]] = {}
    usual: list[tuple[ModuleType, str, Callable[..., Any]]] = []
    for module, name in MEASURED:
        if hasattr(module, name):
            usual.append((module, name, getattr(module, name)))
            setattr(module, name, _timed(getattr(module, name), f"{module.__name__.rpartition('.')[2]}.{name}", table))
    try:
        yield table
    finally:
        for module, name, function in usual:
            setattr(module, name, function)


def _timed(function: Callable[..., Any], name: str, table: dict[str, dict[str, float]]) -> Callable[..., Any]:
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
