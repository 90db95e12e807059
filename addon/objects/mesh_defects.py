# SPDX-License-Identifier: GPL-3.0-or-later
"""Defects that keep a body's mesh from being closed, found fast enough for a panel."""

from __future__ import annotations

import bpy
import numpy as np

from ...solver.mesh.geometry.manifold_defects import ManifoldDefects, find_manifold_defects
from ..blender_data import modifier_stack
from ..evaluation.geometry_update_counter import change_count
from ..runtime.memo import Memo

# modifiers that may close a mesh or open it: what is above Sinew's place is looked at when a bake begins
TOPOLOGY_MODIFIERS = {
    "BOOLEAN",
    "BUILD",
    "DECIMATE",
    "MASK",
    "MIRROR",
    "NODES",
    "REMESH",
    "SCREW",
    "SKIN",
    "SOLIDIFY",
    "WELD",
}

_defects_of_meshes: Memo[ManifoldDefects | None] = Memo(100)


def defects(obj: bpy.types.Object) -> ManifoldDefects | None:
    """Returns what keeps the mesh of `obj` from being closed; None where nothing does, or modifiers remake it."""
    above = list(obj.modifiers)[: modifier_stack.input_modifier_count(obj)]
    if any(modifier.type in TOPOLOGY_MODIFIERS for modifier in above):
        return None
    mesh = obj.data
    depends = (change_count(mesh), len(mesh.vertices), len(mesh.loops))
    return _defects_of_meshes.result(mesh.session_uid, depends, lambda: _find_defects(mesh))


def _find_defects(mesh: bpy.types.Mesh) -> ManifoldDefects | None:
    triangles = np.empty(3 * len(mesh.loop_triangles), np.int32)
    mesh.loop_triangles.foreach_get("vertices", triangles)
    return find_manifold_defects(triangles.reshape(-1, 3))
