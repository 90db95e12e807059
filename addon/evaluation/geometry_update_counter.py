# SPDX-License-Identifier: GPL-3.0-or-later
"""Counts how often Blender has reported a change of the geometry of an object or mesh."""

from __future__ import annotations

import bpy


class ChangeCounter:
    """How often Blender has reported a change of the geometry of each object and mesh, by session id."""

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}

    def note(self, depsgraph: bpy.types.Depsgraph) -> None:
        """Counts the changes that a depsgraph has just evaluated."""
        for update in depsgraph.updates:
            if update.is_updated_geometry:
                uid = update.id.original.session_uid
                self._counts[uid] = self.count(uid) + 1

    def count(self, uid: int) -> int:
        """Returns the number of changes."""
        return self._counts.get(uid, 0)

    def clear(self) -> None:
        """Counts from zero, when nothing remembers a count."""
        self._counts.clear()


# of the open file; addon/handlers.py lets it count
changes = ChangeCounter()


def change_count(item: bpy.types.ID) -> int:
    """Returns how often Blender reported a change of the geometry of an object or mesh."""
    return changes.count(item.session_uid)
