# SPDX-License-Identifier: GPL-3.0-or-later
"""Shows flesh as it was solved at one frame: a Mesh Cache modifier of its own that is on at this frame alone.

A driver without targets switches it, so that it needs no handler of frame changes and is never in a render.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import bpy

from ...solver.bake.cache import CacheMetadata, layout
from ..blender_data.override_saving import store_override_settings
from ..blender_data.sinew_modifier import SOLVED_MODIFIER_NAME, ensure_modifier, find_solved_modifier
from .mesh_cache import play_file

VISIBILITY = "show_viewport"


def show(obj: bpy.types.Object, cache: Path, key: str, frame: float) -> None:
    """Shows the body `key` of a cache of one frame on `obj`, at a frame of the remapped time.

    Raises:
        StorageFailed: The folder has no cache.
    """
    head = CacheMetadata.load(cache)
    store_override_settings([obj])
    baked, modifier = ensure_modifier(obj), find_solved_modifier(obj)
    if modifier is None:
        modifier = obj.modifiers.new(SOLVED_MODIFIER_NAME, "MESH_CACHE")
        modifier.show_expanded = False
    obj.modifiers.move(list(obj.modifiers).index(modifier), list(obj.modifiers).index(baked) + 1)
    modifier.show_render = False
    play_file(obj, modifier, head, layout.play_path(cache, key))
    modifier.driver_remove(VISIBILITY)
    driver = modifier.driver_add(VISIBILITY).driver
    driver.type, driver.expression = "SCRIPTED", f"frame == {frame!r}"


def remove(objects: Iterable[bpy.types.Object]) -> bool:
    """Shows objects as they are baked again, and returns whether any was shown otherwise."""
    was_shown = False
    for obj in objects:
        modifier = find_solved_modifier(obj)
        if modifier is not None:
            modifier.driver_remove(VISIBILITY)
            obj.modifiers.remove(modifier)
            was_shown = True
            data = obj.animation_data
            if data is not None and data.action is None and not len(data.drivers) and not len(data.nla_tracks):
                obj.animation_data_clear()
    return was_shown


def is_shown(objects: Iterable[bpy.types.Object]) -> bool:
    """Whether any of some objects has a solved frame."""
    return any(find_solved_modifier(obj) is not None for obj in objects)
