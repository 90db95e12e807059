# SPDX-License-Identifier: GPL-3.0-or-later
"""Counts how often Blender has reported a change: of the geometry of an object or mesh, and of anything but motion."""

from __future__ import annotations

import bpy


class ChangeCounter:
    """How often Blender has reported a change of the geometry of each object and mesh, by session id.

    Attributes:
        edit_count: Evaluations of anything but motion: of selections, new objects, edited meshes.
    """

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}
        self.edit_count = 0

    def note(self, depsgraph: bpy.types.Depsgraph) -> None:
        """Counts the changes that a depsgraph has just evaluated."""
        has_edits = False
        for update in depsgraph.updates:
            has_edits = has_edits or update.is_updated_geometry or not update.is_updated_transform
            if update.is_updated_geometry:
                uid = update.id.original.session_uid
                self._counts[uid] = self.count(uid) + 1
        self.edit_count += has_edits

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


def edit_count() -> int:
    """Returns how often Blender reported a change of anything but motion."""
    return changes.edit_count
