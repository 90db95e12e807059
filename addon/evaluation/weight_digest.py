# SPDX-License-Identifier: GPL-3.0-or-later
"""Digests of vertex weights, cached until Blender reports a change of the mesh: 90,000 vertices take 0.3 s."""

from __future__ import annotations

import bpy
import numpy as np
from bpy.app.handlers import persistent

from ...solver.runtime.arrays import digest

# by session id: number of changes of each object and mesh, and the digest after one of them
_changes: dict[int, int] = {}
_digests: dict[tuple[int, int], tuple[int, int, str]] = {}


def weight_digest(obj: bpy.types.Object) -> str:
    """Returns a digest of all vertex groups of a mesh object: their names and weights."""
    mesh = obj.data
    key = (obj.session_uid, mesh.session_uid)
    stamp = (change_count(obj), change_count(mesh))
    entry = _digests.get(key)
    if entry is None or entry[:2] != stamp:
        entry = (*stamp, _digest(obj, mesh))
        _digests[key] = entry
    return entry[2]


def change_count(item: bpy.types.ID) -> int:
    """Returns how often Blender reported a change of the geometry of an object or mesh."""
    return _changes.get(item.session_uid, 0)


def _digest(obj: bpy.types.Object, mesh: bpy.types.Mesh) -> str:
    names = [f"{group.index} {group.name}" for group in obj.vertex_groups]
    if not names:
        return ""
    found = [(i, e.group, e.weight) for i, v in enumerate(mesh.vertices) for e in v.groups]
    return digest([*names, np.array(found, np.float32)])


@persistent
def _note_changes(_scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    for update in depsgraph.updates:
        if update.is_updated_geometry:
            uid = update.id.original.session_uid
            _changes[uid] = _changes.get(uid, 0) + 1


@persistent
def _forget(*_: object) -> None:
    _digests.clear()


HANDLERS = {"depsgraph_update_post": _note_changes, "undo_post": _forget, "redo_post": _forget, "load_post": _forget}


def register() -> None:
    """Starts listening to changes."""
    for name, handler in HANDLERS.items():
        getattr(bpy.app.handlers, name).append(handler)


def unregister() -> None:
    """Stops listening."""
    _forget()
    for name, handler in HANDLERS.items():
        getattr(bpy.app.handlers, name).remove(handler)
