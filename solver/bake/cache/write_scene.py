# SPDX-License-Identifier: GPL-3.0-or-later
"""The scene in a cache folder: written beside the one that is there, and put in its place when it is whole."""

from __future__ import annotations

import shutil
from pathlib import Path

from ...runtime.atomic_files import PART_SUFFIX, replace
from ...runtime.locked_file_retries import remove_folder
from ...runtime.storage_errors import make_folder, named_errors
from ...scene.scene import Scene
from ...scene.tracks import MemoryTracks
from . import layout


def write_scene(scene: Scene, tracks: MemoryTracks, cache: Path) -> None:
    """Writes a scene and its tracks into a cache; a scene that was there stays whole until this one is.

    Raises:
        StorageFailed: The folder cannot be written.
    """
    target = cache / layout.SCENE_FOLDER
    part = target.with_name(target.name + PART_SUFFIX)
    make_folder(cache)
    try:
        with named_errors(cache):
            remove_folder(part)
            scene.save(part)
            tracks.save(part)
            replace_scene(part, target)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def replace_scene(part: Path, target: Path) -> None:
    """Puts a finished scene where another one may be, which is away only between two renames."""
    old = target.with_name(target.name + layout.OLD_SUFFIX)
    remove_folder(old)
    if target.exists():
        replace(target, old)
    replace(part, target)
    shutil.rmtree(old, ignore_errors=True)
