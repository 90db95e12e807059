# SPDX-License-Identifier: GPL-3.0-or-later
"""Looks for caches that nobody plays any more when Blender has started, beside everything else, and notes them."""

from __future__ import annotations

import threading
from pathlib import Path

import bpy

from . import cache_place, lost_caches, pulse
from .lost_caches import LostCache

FIRST_SECONDS = 3.0
SECONDS = 0.5

_looking: threading.Thread | None = None
_found: list[LostCache] = []
is_put_off = False  # whether a person does not want to see them before the next start


def register() -> None:
    """Begins to look, where there is a window."""
    if not bpy.app.background:
        bpy.app.timers.register(look, first_interval=FIRST_SECONDS, persistent=True)


def unregister() -> None:
    """Looks no more."""
    for timer in (look, _see):
        if bpy.app.timers.is_registered(timer):
            bpy.app.timers.unregister(timer)
    lost_caches.hold(())


def look() -> None:
    """Deletes what is old and finds the rest, in a thread that touches nothing of Blender's."""
    global _looking
    if _looking is None:
        cache_place.hold_temporary()
        _looking = threading.Thread(target=_find, args=(cache_place.temporary_home().parent,), daemon=True)
        _looking.start()
        bpy.app.timers.register(_see, first_interval=SECONDS, persistent=True)


def found() -> list[LostCache]:
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
        lost_caches.delete(folder)
    _found = [lost for lost in _found if lost.folder.is_dir() and lost.folder not in folders]
    return size


def _find(temporary: Path) -> None:
    global _found
    lost_caches.delete_old(temporary)
    _found = lost_caches.find(temporary)


def _see() -> float | None:
    global _looking
    if _looking is not None and _looking.is_alive():
        return SECONDS
    _looking = None
    pulse.redraw()
    return None
