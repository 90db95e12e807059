# SPDX-License-Identifier: GPL-3.0-or-later
"""The checks of scene and cache folder before a bake starts."""

from __future__ import annotations

from pathlib import Path

import bpy

from ...solver.bake.cache import has_bake, layout
from ...solver.runtime.errors import BadInput
from ..cache import cache_paths
from ..evaluation import sample_times
from ..export import validation
from ..objects import flesh_supports, roles
from ..properties.role_definitions import BODY


def check_can_bake(scene: bpy.types.Scene, folder: Path) -> None:
    """Makes sure that `scene` can be baked into `folder`.

    Raises:
        BadInput: It cannot; says why.
    """
    if scene.sinew.protect and has_bake(cache_paths.cache_folder(scene)):
        raise BadInput("bake-protected", name=scene.name)
    bodies = roles.bodies(scene)
    if not bodies:
        linked = next((o for o in scene.objects if o.sinew.role == BODY and o.library is not None), None)
        if linked is not None:
            raise BadInput("linked-without-override", name=linked.name)
        raise BadInput("no-bodies", name=scene.name)
    validation.check_objects(scene)
    flesh_supports.check_held(scene)
    first, last = sample_times.frame_range(scene)
    if last < first:
        raise BadInput("frame-range-empty", start=first, end=last)
    if folder.is_dir() and not has_bake(folder) and _holds_other_files(folder):
        raise BadInput("folder-in-use", path=str(folder))


def _holds_other_files(folder: Path) -> bool:
    return any(p.is_file() and not layout.is_sinew_file(p.relative_to(folder)) for p in folder.rglob("*"))
