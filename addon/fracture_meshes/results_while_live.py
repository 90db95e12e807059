# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that pieces of a bake replace, while they run live: the viewport shows the bodies, renders the pieces.

What is hidden is marked, so that a file that Blender has saved by itself is put right when it is loaded.
"""

from __future__ import annotations

from collections.abc import Iterable

import bpy

from ..blender_data import object_hiding
from .result_objects import results_of

# custom property of objects that this file has hidden: whether they were hidden before
HIDDEN_KEY = "sinew_hidden_by_live"


def show_bodies(bodies: Iterable[bpy.types.Object]) -> None:
    """Shows bodies in the viewport in place of their pieces."""
    for obj in bodies:
        if not obj.sinew.is_replaced:
            continue
        for made in results_of(obj):
            if made.type == "MESH":
                was_hidden = made.hide_viewport and not object_hiding.is_driven(made)
                object_hiding.remove_drivers(made)
                made[HIDDEN_KEY] = was_hidden
                made.hide_viewport = True
        object_hiding.restore_visibility(obj)
        obj[HIDDEN_KEY] = obj.hide_render
        obj.hide_render = True


def undo_marks() -> bool:
    """Gives what is marked its own visibility, and returns whether there was any; pieces still have to be attached."""
    marked = [obj for obj in bpy.data.objects if obj.library is None and HIDDEN_KEY in obj]
    for obj in marked:
        was_hidden = bool(obj[HIDDEN_KEY])
        if obj.sinew.result_of is None:
            obj.hide_render = was_hidden
        else:
            obj.hide_viewport = was_hidden
        del obj[HIDDEN_KEY]
    return bool(marked)
