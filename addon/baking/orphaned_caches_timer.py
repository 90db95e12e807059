# SPDX-License-Identifier: GPL-3.0-or-later
"""Looks for caches that nobody plays any more when Blender has started, beside everything else, and notes them."""

from __future__ import annotations

import threading
from pathlib import Path

import bpy

from ..cache import cache_paths, orphaned_caches
from ..cache.orphaned_caches import OrphanedCache
from . import bake_timer

START_DELAY_SECONDS = 3.0
POLL_SECONDS = 0.5

_thread: threading.Thread | None = None
_found: list[OrphanedCache] = []
is_dismissed = False  # whether a person does not want to see them before the next start


def register() -> None:
    """Begins to look, where there is a window."""
    if not bpy.app.background:
        bpy.app.timers.register(start_search, first_interval=START_DELAY_SECONDS, persistent=True)


def unregister() -> None:
    """Looks no more."""
    for timer in (start_search, _poll):
        if bpy.app.timers.is_registered(timer):
            bpy.app.timers.unregister(timer)
    orphaned_caches.lock_folders(())


def start_search() -> None:
    """Deletes what is old and finds the rest, in a thread that touches nothing of Blender's."""
    global _thread
    if _thread is None:
        cache_paths.lock_temporary_folders()
        _thread = threading.Thread(target=_search, args=(cache_paths.temporary_home().parent,), daemon=True)
        _thread.start()
        bpy.app.timers.register(_poll, first_interval=POLL_SECONDS, persistent=True)


def orphaned() -> list[OrphanedCache]:
    """Returns what nobody plays, as it was when it was looked for last."""
    return _found


def delete(folders: list[Path]) -> int:
    """Deletes some of them, and returns how many bytes they had.

    Raises:
        StorageFailed: The operating system refused.
    """
    global _found
    size = sum(lost.size for lost in _found if lost.folder in folders)
    for folder in folders:
        orphaned_caches.delete(folder)
    _found = [lost for lost in _found if lost.folder.is_dir() and lost.folder not in folders]
    return size


def _search(temporary: Path) -> None:
    global _found
    orphaned_caches.delete_old(temporary)
    _found = orphaned_caches.find_orphaned(temporary)


def _poll() -> float | None:
    global _thread
    if _thread is not None and _thread.is_alive():
        return POLL_SECONDS
    _thread = None
    bake_timer.redraw()
    return None
