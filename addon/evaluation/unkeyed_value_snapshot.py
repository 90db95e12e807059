# SPDX-License-Identifier: GPL-3.0-or-later
"""Values of animated properties as the artist sees them now, which evaluating another frame replaces.

A bone that was turned and not keyed keeps its turn only until the animation is evaluated again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import bpy

from ..blender_data.rna_serialisation import animated_paths


class UnkeyedValues:
    """The values of all animated properties of some objects, of their data and of their shape keys."""

    def __init__(self, objects: Iterable[bpy.types.Object]) -> None:
        """Takes them as they are now."""
        self._values = [
            (item, path, value)
            for item in _data_blocks(objects)
            for path in sorted(animated_paths(item))
            if (value := _value(item, path)) is not None
        ]

    def apply(self, view_layer: bpy.types.ViewLayer) -> None:
        """Lets the dependency graph of a view layer, which has evaluated the animation, have these values instead."""
        for item, path, value in self._values:
            _set_value(item, path, value)  # also where it is the same: only the evaluated one may be another
        view_layer.update()

    def restore(self) -> bool:
        """Gives properties the values that they had, and returns whether any was another one.

        The data-blocks have to be there still.
        """
        changed = False
        for item, path, value in self._values:
            if _value(item, path) != value:
                _set_value(item, path, value)
                changed = True
        return changed


def _data_blocks(objects: Iterable[bpy.types.Object]) -> Iterator[bpy.types.ID]:
    seen: set[bpy.types.ID] = set()
    for obj in objects:
        for item in (obj, obj.data, getattr(obj.data, "shape_keys", None)):
            if item is not None and item not in seen and item.library is None:
                seen.add(item)
                yield item


def _value(item: bpy.types.ID, path: str) -> Any:
    """Returns a value that can be compared and set, or None where the path leads nowhere."""
    try:
        found = item.path_resolve(path)
    except ValueError:
        return None
    return tuple(found) if hasattr(found, "__len__") and not isinstance(found, str | set) else found


def _set_value(item: bpy.types.ID, path: str, value: Any) -> None:
    if path.endswith('"]'):  # a custom property
        owner, _, name = path.rpartition("[")
        (item.path_resolve(owner) if owner else item)[name[1:-2]] = value
        return
    owner, _, name = path.rpartition(".")
    try:
        setattr(item.path_resolve(owner) if owner else item, name, value)
    except AttributeError:
        pass  # a driver may set what nobody else may, and sets it again
