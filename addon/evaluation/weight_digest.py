# SPDX-License-Identifier: GPL-3.0-or-later
"""Digests of vertex weights, cached until Blender reports a change of the mesh: 90,000 vertices take 0.3 s."""

from __future__ import annotations

import bpy
import numpy as np

from ...solver.runtime.arrays import digest
from ..runtime.memo import Memo

MAX_OBJECTS = 1000  # that are remembered


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
_digests: Memo[str] = Memo(MAX_OBJECTS)


def weight_digest(obj: bpy.types.Object) -> str:
    """Returns a digest of all vertex groups of a mesh object: their names and weights."""
    mesh = obj.data
    stamp = (change_count(obj), change_count(mesh))
    return _digests.result((obj.session_uid, mesh.session_uid), stamp, lambda: _digest(obj, mesh))


def change_count(item: bpy.types.ID) -> int:
    """Returns how often Blender reported a change of the geometry of an object or mesh."""
    return changes.count(item.session_uid)


def invalidate() -> None:
    """Forgets the digests: an undo changes weights without a report."""
    _digests.clear()


def _digest(obj: bpy.types.Object, mesh: bpy.types.Mesh) -> str:
    names = [f"{group.index} {group.name}" for group in obj.vertex_groups]
    if not names:
        return ""
    found = [(i, e.group, e.weight) for i, v in enumerate(mesh.vertices) for e in v.groups]
    return digest([*names, np.array(found, np.float32)])
