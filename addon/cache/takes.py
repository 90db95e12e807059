# SPDX-License-Identifier: GPL-3.0-or-later
"""The takes of a scene: caches beside each other, of which one plays."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import bpy

from ...solver.bake.cache import has_bake
from ..runtime.memo import Throttle
from . import cache_folder_status, cache_paths

MAX_SCENES = 100  # that are remembered
FIRST_NUMBER = 2  # of the takes that are named by number: the first one has no name


@dataclass(frozen=True)
class Take:
    """A take that has a bake.

    Attributes:
        name: Of the take, "" for the one without a name.
        folder: Its cache.
    """

    name: str
    folder: Path

    @property
    def last_frame(self) -> int | None:
        """The last frame that is baked, at most a second ago."""
        return cache_folder_status.read_status(self.folder).last_frame


_takes: Throttle[list[Take]] = Throttle(MAX_SCENES, cache_folder_status.MAX_AGE_SECONDS)


def takes(scene: bpy.types.Scene) -> list[Take]:
    """Returns the takes of a scene that have a bake, by name; none where the artist has chosen the folder."""
    if scene.sinew.cache_path:
        return []
    # the panel asks many times a second, and a network drive answers slowly
    stamp = (cache_folder_status.invalidation_count(), bpy.data.filepath, scene.sinew.take)
    return _takes.result(scene.session_uid, lambda: _find_takes(scene), stamp)


def _find_takes(scene: bpy.types.Scene) -> list[Take]:
    folder = cache_paths.default_folder(scene, bpy.data.filepath, take="")
    start = folder.name.removesuffix(cache_paths.SUFFIX)
    try:
        siblings = list(folder.parent.iterdir())
    except OSError:  # the drive is gone, or nobody may list the folder
        siblings = []
    # caches of other files and scenes, whose names begin alike: "shot-night.blend" beside "shot.blend"
    others = [path.stem for path in siblings if path.suffix == ".blend" and path.stem.startswith(f"{start}-")]
    with_scene = f"{start}-{cache_paths.file_name(scene.name)}"
    others += [f"{start}-{cache_paths.file_name(each.name)}" for each in bpy.data.scenes if each != scene]
    found, present = {}, cache_paths.cache_folder(scene)
    for path in siblings:
        if path == present:  # which may have another name, as when its own was not free at the first save
            continue
        name = path.name.removesuffix(cache_paths.SUFFIX)
        beginnings = [each for each in (with_scene, start) if _begins(name, each)]
        is_of_another = any(_begins(name, other) for other in others)
        if path.suffix != cache_paths.SUFFIX or is_of_another or not beginnings or not has_bake(path):
            continue
        possible = (name.removeprefix(each)[1:] for each in beginnings)
        take = next((each for each in possible if cache_paths.take_folder(scene, each) == path), None)
        if take is not None:
            found[take] = path
    if has_bake(present):
        found[scene.sinew.take.strip()] = present
    return [Take(name, path) for name, path in sorted(found.items())]


def _begins(name: str, start: str) -> bool:
    return name == start or name.startswith(f"{start}-")


def next_name(scene: bpy.types.Scene) -> str:
    """Returns the name of the take after those that there are: "Take 2"."""
    names = [take.name for take in takes(scene)] + [scene.sinew.take]
    numbers = [int(found[1]) for name in names if (found := re.fullmatch(r"Take (\d+)", name.strip()))]
    return f"Take {max([FIRST_NUMBER - 1, *numbers]) + 1}"


def find_take(scene: bpy.types.Scene, name: str) -> Take | None:
    """Returns the take of a name that has a bake."""
    return next((take for take in takes(scene) if take.name == name), None)


def temporary_takes(scene: bpy.types.Scene) -> list[Take]:
    """Returns the takes of a scene of an unsaved file that do not play; saving the file moves the one that does."""
    if scene.sinew.cache_path:
        return []
    present, home = cache_paths.cache_folder(scene), cache_paths.temporary_home()
    return [take for take in _find_takes(scene) if take.folder != present and home in take.folder.parents]
