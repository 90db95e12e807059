# SPDX-License-Identifier: GPL-3.0-or-later
"""The passes of a scene: bodies with one number are baked together, and each pass has a cache of its own.

The first pass has the folder of the bake itself, as scenes of one pass have; the others are in folders inside it, so
that they move with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import bpy

from ...solver.bake.cache import layout
from ...solver.scene.settings.tables import BODY
from ..blender_data.object_keys import body_key
from . import cache_paths, selected_body_caches


@dataclass(frozen=True)
class BakePass:
    """A pass of a bake.

    Attributes:
        number: The number of its bodies.
        numbers: Of all passes of the scene, rising.
        bake: The folder of the whole bake.
    """

    number: int
    numbers: tuple[int, ...]
    bake: Path

    @property
    def folder(self) -> Path:
        """The folder of its own cache."""
        return pass_folder(self.bake, self.number, self.numbers)

    @property
    def earlier(self) -> tuple[BakePass, ...]:
        """The passes that it follows."""
        return tuple(BakePass(each, self.numbers, self.bake) for each in self.numbers if each < self.number)

    @property
    def has_later(self) -> bool:
        """Whether another pass follows it."""
        return self.number < self.numbers[-1]

    @property
    def is_only(self) -> bool:
        """Whether there is no other."""
        return len(self.numbers) == 1


def pass_numbers(scene: bpy.types.Scene) -> tuple[int, ...]:
    """Returns the numbers of the passes of a scene, rising."""
    bodies = (o for o in scene.objects if o.type == "MESH" and o.sinew.role == BODY and o.library is None)
    return tuple(sorted({int(obj.sinew.bake_pass) for obj in bodies}))


def passes(scene: bpy.types.Scene, bake: Path) -> list[BakePass]:
    """Returns the passes of a scene in their order; `bake` is the folder of the whole bake."""
    numbers = pass_numbers(scene)
    return [BakePass(number, numbers, bake) for number in numbers]


def pass_folder(bake: Path, number: int, numbers: tuple[int, ...]) -> Path:
    """Returns the cache of a pass in the folder of a whole bake, where the scene has passes of these numbers."""
    return bake if not numbers or number == numbers[0] else layout.pass_path(bake, number)


def body_folder(scene: bpy.types.Scene, obj: bpy.types.Object, bake: Path | None = None) -> Path:
    """Returns the cache that has what a body plays, in the present bake or that in a folder."""
    bake = cache_paths.cache_folder(scene) if bake is None else bake
    own = pass_folder(bake, int(obj.sinew.bake_pass), pass_numbers(scene))
    return selected_body_caches.folder_of_body(own, body_key(obj)) if selected_body_caches.newest_first(own) else own


def played_folders(scene: bpy.types.Scene, bake: Path) -> list[Path]:
    """Returns all caches in the folder of a whole bake that bodies of a scene play, or the folder itself."""
    found = [folder for each in passes(scene, bake) for folder in selected_body_caches.played_folders(each.folder)]
    return found or [bake]
