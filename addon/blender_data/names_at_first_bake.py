# SPDX-License-Identifier: GPL-3.0-or-later
"""Names that digests have of objects: those at the first bake, which stay when bodies, bones or Wraps are renamed."""

from __future__ import annotations

from collections.abc import Iterable

import bpy


def name_at_first_bake(item: bpy.types.ID, name: str) -> str:
    """Returns what an object was called at its first bake, or a name where it never was in one, or is no object.

    Another object that has that name now, or remembers it too, as duplicates do, must not be taken for this one.
    """
    first = item.sinew.baked_name if isinstance(item, bpy.types.Object) else ""
    if not first or first == item.name or first in bpy.data.objects:
        return name
    same = (other for other in bpy.data.objects if other.sinew.baked_name == first)
    return first if min(same, key=lambda other: other.name) == item else name


def remember_names(objects: Iterable[bpy.types.Object]) -> None:
    """Lets objects remember what they are called, unless they remember a name or are linked."""
    for obj in objects:
        if obj.library is None and not obj.sinew.baked_name:
            obj.sinew.baked_name = obj.name
