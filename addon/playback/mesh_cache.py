# SPDX-License-Identifier: GPL-3.0-or-later
"""Plays a cache by Blender's own Mesh Cache modifier, which needs no add-on."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import bpy

from ...solver.bake.cache import CacheMetadata, layout
from ..blender_data.sinew_modifier import ensure_modifier, find_modifier
from ..blender_data.time_remapping import time_stretch
from ..cache.cache_paths import portable_path


def attach(obj: bpy.types.Object, cache: Path, key: str) -> None:
    """Makes `obj` play the body `key` of a cache folder, unless it does already.

    Raises:
        StorageFailed: The folder has no cache.
    """
    head = CacheMetadata.load(cache)
    play_file(obj, ensure_modifier(obj), head, layout.play_path(cache, key))


def play_file(obj: bpy.types.Object, modifier: bpy.types.MeshCacheModifier, head: CacheMetadata, file: Path) -> None:
    """Makes a modifier of `obj` play a PC2 file with the timing of a cache, unless it does already."""
    path = portable_path(file, bpy.data.filepath)
    for name, value in _modifier_settings(obj, head, path).items():
        # setting a value triggers an evaluation, even if the value is the same
        present = getattr(modifier, name)
        if (tuple(present) if isinstance(value, tuple) else present) != value:
            setattr(modifier, name, value)


def detach(obj: bpy.types.Object) -> None:
    """Makes `obj` show its own shape again. The modifier stays in the stack."""
    modifier = find_modifier(obj)
    if modifier is not None and modifier.filepath:
        modifier.filepath = ""


def refresh(objects: Iterable[bpy.types.Object]) -> None:
    """Makes objects read their caches again after new frames."""
    for obj in objects:
        obj.update_tag(refresh={"DATA"})


def attached_file(obj: bpy.types.Object) -> Path | None:
    """Returns the file that `obj` plays, existing or not, or None."""
    modifier = find_modifier(obj)
    if modifier is None or not modifier.filepath:
        return None
    return Path(bpy.path.abspath(modifier.filepath.replace("\\", "/")))


def _modifier_settings(obj: bpy.types.Object, head: CacheMetadata, path: str) -> dict[str, object]:
    """Returns the modifier's settings: it reads sample `frame_scale · frame - frame_start` of the file.

    The artist sets its Influence, which blends the bake with the modifiers above, such as the rig.
    """
    affect = obj.sinew.affect_group
    return {
        "cache_format": "PC2",
        "filepath": path,
        "interpolation": "LINEAR",
        "time_mode": "FRAME",
        "play_mode": "SCENE",
        "deform_mode": "OVERWRITE",
        "frame_scale": head.samples_per_frame * time_stretch(obj),
        "frame_start": float(head.samples_per_frame * head.frame_start),
        "forward_axis": "POS_Y",
        "up_axis": "POS_Z",
        "flip_axis": (False, False, False),
        "vertex_group": affect if affect in obj.vertex_groups else "",
        "invert_vertex_group": False,
    }
