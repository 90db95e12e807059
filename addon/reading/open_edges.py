# SPDX-License-Identifier: GPL-3.0-or-later
"""How open a mesh is, quick enough for a panel: pieces of an open mesh cannot be closed."""

from __future__ import annotations

import bpy
import numpy as np

from . import weight_digest

# of each mesh, by what it depends on
_counts: dict[int, tuple[tuple, int]] = {}


def count(obj: bpy.types.Object) -> int:
    """Returns how many edges of the mesh of `obj`, as it is without modifiers, are not between two faces."""
    mesh = obj.data
    depends = (weight_digest.changes(mesh), len(mesh.vertices), len(mesh.loops))
    known = _counts.get(mesh.session_uid)
    if known is None or known[0] != depends:
        known = (depends, _count(mesh))
        if len(_counts) > 100:
            _counts.clear()
        _counts[mesh.session_uid] = known
    return known[1]


def _count(mesh: bpy.types.Mesh) -> int:
    edges = np.empty(len(mesh.loops), np.int32)
    mesh.loops.foreach_get("edge_index", edges)
    return int(np.count_nonzero(np.bincount(edges, minlength=len(mesh.edges)) != 2))
