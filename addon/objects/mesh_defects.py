# SPDX-License-Identifier: GPL-3.0-or-later
"""Defects that keep a body's mesh from being closed, found fast enough for a panel."""

from __future__ import annotations

import bpy
import numpy as np

from ...solver.mesh.geometry.manifold_defects import ManifoldDefects, find_manifold_defects
from ..blender_data import sinew_modifier
from ..evaluation.geometry_update_counter import change_count
from ..runtime.memo import Memo

# modifiers that may close or open a mesh: with one above Sinew's place, only the bake checks the mesh
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


def mesh_defects(obj: bpy.types.Object) -> ManifoldDefects | None:
    """Returns the defects of the mesh of `obj`; None for a closed mesh, and where modifiers may change the topology."""
    above = list(obj.modifiers)[: sinew_modifier.input_modifier_count(obj)]
    if any(modifier.type in TOPOLOGY_MODIFIERS for modifier in above):
        return None
    mesh = obj.data
    depends = (change_count(mesh), len(mesh.vertices), len(mesh.loops))
    return _defects_of_meshes.result(mesh.session_uid, depends, lambda: _find_defects(mesh))


def _find_defects(mesh: bpy.types.Mesh) -> ManifoldDefects | None:
    triangles = np.empty(3 * len(mesh.loop_triangles), np.int32)
    mesh.loop_triangles.foreach_get("vertices", triangles)
    return find_manifold_defects(triangles.reshape(-1, 3))


def defects_text(defects: ManifoldDefects) -> str:
    """Returns the defects as text: "42 open edges and 3 edges with more than two faces"."""
    named = (
        (defects.open_edges, "open edge", "open edges"),
        (defects.nonmanifold_edges, "edge with more than two faces", "edges with more than two faces"),
        (defects.flipped_edges, "edge between faces turned to different sides",
         "edges between faces turned to different sides"),
        (defects.degenerate_triangles, "face without area", "faces without area"),
    )  # fmt: skip
    parts = [f"{count:,} {one if count == 1 else many}" for count, one, many in named if count]
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
