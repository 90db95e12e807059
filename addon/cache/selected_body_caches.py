# SPDX-License-Identifier: GPL-3.0-or-later
"""Caches of bodies that Simulate Selected baked after the others of a cache, in folders inside of it.

Such a bake counts once it has all of its frames, so that one that was cancelled or crashed leaves what was there. The
last one that has a body is the one that the body plays; the frames of the others stay as they were written.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from ...solver.bake.cache import CacheMetadata, delete_folder, layout
from ...solver.runtime.errors import StorageFailed
from ..runtime.memo import Memo
from . import cache_folder_status

MAX_CACHES = 100  # whose digests are in memory

_body_settings: Memo[dict[str, str]] = Memo(MAX_CACHES)


def newest_first(cache: Path) -> list[tuple[Path, CacheMetadata]]:
    """Returns the bakes that count of bodies of a cache, from the last to the first, each with its metadata."""
    found = []
    for folder in reversed(cache_folder_status.read_status(cache).selected):
        seen = cache_folder_status.read_status(folder)
        if seen.metadata is not None and seen.last_frame is not None and seen.last_frame >= seen.metadata.frame_end:
            found.append((folder, seen.metadata))
    return found


def played_folders(cache: Path) -> list[Path]:
    """Returns a cache and, from the first to the last, those of bodies that play what was baked later."""
    known: set[str] = set()
    found = []
    for folder, head in newest_first(cache):
        keys = {body.key for body in head.bodies}
        if not keys <= known:
            found.append(folder)
        known |= keys
    return [cache, *reversed(found)]


def folder_of_body(cache: Path, key: str) -> Path:
    """Returns where the frames are that a body of a cache plays."""
    later = (folder for folder, head in newest_first(cache) if any(body.key == key for body in head.bodies))
    return next(later, cache)


def selected_keys(cache: Path) -> set[str]:
    """Returns the keys of the bodies of a cache that were baked after the others."""
    return {body.key for _, head in newest_first(cache) for body in head.bodies}


def content(cache: Path) -> str:
    """Returns what tells the frames that the bodies of a cache play from others, or ""."""
    heads = (cache_folder_status.read_status(folder).metadata for folder in played_folders(cache))
    return " ".join(f"{head.scene} {head.tracks}" for head in heads if head is not None)


def next_folder(cache: Path) -> Path:
    """Returns the folder for the next bake of bodies of a cache."""
    taken = map(layout.selected_number, layout.selected_paths(cache))
    return layout.selected_path(cache, max(taken, default=0) + 1)


def delete_unplayed(cache: Path) -> None:
    """Deletes the bakes of bodies of a cache that no body plays: unfinished ones, and those that others replaced.

    Raises:
        StorageFailed: Another process is writing one, or the operating system refused.
    """
    cache_folder_status.invalidate()
    played = played_folders(cache)
    for folder in layout.selected_paths(cache):
        if folder not in played:
            delete_folder(folder)
    cache_folder_status.invalidate()


def read_body_settings(cache: Path) -> Mapping[str, str]:
    """Returns the digest of the settings of each body that a cache was baked from, by its key.

    Caches of earlier versions have none.
    """
    path = cache / layout.SCENE_FOLDER / layout.BODY_SETTINGS_FILE
    try:
        return _body_settings.result(path, path.stat().st_mtime_ns, lambda: _read_body_settings(path))
    except (OSError, StorageFailed):
        return {}


def _read_body_settings(path: Path) -> dict[str, str]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return {}
    return {str(key): str(value) for key, value in found.items()} if isinstance(found, dict) else {}


def body_settings_text(digests: Mapping[str, str]) -> str:
    """Returns the content of the file that `read_body_settings` reads."""
    return json.dumps(dict(sorted(digests.items())), indent=1) + "\n"
