# SPDX-License-Identifier: GPL-3.0-or-later
"""Searches for orphaned caches in a thread when Blender has started."""

from __future__ import annotations

import threading
from pathlib import Path

import bpy

from ..cache import cache_paths, orphaned_caches
from ..cache.orphaned_caches import OrphanedCache
from ..cache.temporary_folders import temporary_folders
from . import bake_timer

START_DELAY_SECONDS = 3.0
POLL_SECONDS = 0.5


class OrphanSearch:
    """One search at a time, and what the last one found.

    Attributes:
        orphans: The orphaned caches.
        is_dismissed: Whether the artist does not want to see them before the next start.
    """

    def __init__(self) -> None:
        self.orphans: list[OrphanedCache] = []
        self.is_dismissed = False
        self._thread: threading.Thread | None = None

    @property
    def is_running(self) -> bool:
        """Whether a thread searches."""
        return self._thread is not None and self._thread.is_alive()

    def start(self, temporary: Path) -> None:
        """Searches a folder for temporary files in a thread, which touches nothing of Blender's."""
        if not self.is_running:
            self._thread = threading.Thread(target=self.search, args=(temporary,), daemon=True)
            self._thread.start()

    def search(self, temporary: Path) -> None:
        """Deletes old caches in a folder for temporary files, and finds the other orphaned ones."""
        orphaned_caches.delete_old(temporary)
        self.orphans = orphaned_caches.find_orphaned(temporary)

    def delete(self, folders: list[Path]) -> int:
        """Deletes some of the orphans, and returns how many bytes they had.

        Raises:
            StorageFailed: The operating system refused.
        """
        size = sum(orphan.size for orphan in self.orphans if orphan.folder in folders)
        for folder in folders:
            orphaned_caches.delete(folder)
        self.orphans = [o for o in self.orphans if o.folder.is_dir() and o.folder not in folders]
        return size


# of this Blender
orphan_search = OrphanSearch()


def register() -> None:
    """Searches soon, where there is a window."""
    if not bpy.app.background:
        bpy.app.timers.register(start_search, first_interval=START_DELAY_SECONDS, persistent=True)


def unregister() -> None:
    """Searches no more."""
    for timer in (start_search, _poll):
        if bpy.app.timers.is_registered(timer):
            bpy.app.timers.unregister(timer)
    temporary_folders.lock(())


def start_search() -> None:
    """Starts a search, and draws the panels when it has ended."""
    if not orphan_search.is_running:
        cache_paths.lock_temporary_folders()
        orphan_search.start(cache_paths.temporary_home().parent)
        bpy.app.timers.register(_poll, first_interval=POLL_SECONDS, persistent=True)


def _poll() -> float | None:
    if orphan_search.is_running:
        return POLL_SECONDS
    bake_timer.redraw()
    return None
