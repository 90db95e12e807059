# SPDX-License-Identifier: GPL-3.0-or-later
"""Shows bodies as they are live: a Mesh Cache modifier of its own that plays the newest sample in a ring file.

It follows Sinew's modifier, which keeps playing the bake, so taking it away puts everything back as it was. It is in no
render. It adds no data-block, so that handlers around a save may take it away and add it again.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import bpy

from ..blender_data.override_saving import store_override_settings
from ..blender_data.sinew_modifier import LIVE_MODIFIER_NAME, find_live_modifier, find_modifier, input_modifier_count


def show(obj: bpy.types.Object, file: Path) -> None:
    """Lets an object play a ring file, from its first sample on."""
    store_override_settings([obj])
    modifier, baked = find_live_modifier(obj), find_modifier(obj)
    if modifier is None:
        place = input_modifier_count(obj) + (baked is not None)
        modifier = obj.modifiers.new(LIVE_MODIFIER_NAME, "MESH_CACHE")
        obj.modifiers.move(list(obj.modifiers).index(modifier), place)
    modifier.show_expanded = modifier.show_render = False
    modifier.cache_format = "PC2"
    modifier.time_mode, modifier.play_mode = "FRAME", "CUSTOM"
    modifier.interpolation, modifier.deform_mode = "NONE", "OVERWRITE"
    modifier.frame_scale, modifier.frame_start = 1.0, 0.0
    modifier.forward_axis, modifier.up_axis = "POS_Y", "POS_Z"
    modifier.eval_frame = 0.0
    if baked is not None:
        modifier.factor = baked.factor
    affect = obj.sinew.affect_group
    modifier.vertex_group = affect if affect in obj.vertex_groups else ""
    modifier.filepath = file.as_posix()


def show_slot(obj: bpy.types.Object, slot: int) -> None:
    """Lets an object show a sample of its ring file."""
    modifier = find_live_modifier(obj)
    if modifier is not None:
        modifier.eval_frame = float(slot)


def remove(objects: Iterable[bpy.types.Object]) -> None:
    """Shows objects as they were before."""
    for obj in objects:
        modifier = find_live_modifier(obj)
        if modifier is not None:
            obj.modifiers.remove(modifier)
