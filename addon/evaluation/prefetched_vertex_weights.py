# SPDX-License-Identifier: GPL-3.0-or-later
"""The weights in the vertex groups of a mesh, which Blender gives only one by one: 50,000 take 60 ms.

So an export that may not hold up Blender's window prefetches them, some thousand vertices at a time. They are kept
until `forget` is called, or Blender reports a change of the mesh.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import bpy
import numpy as np
import numpy.typing as npt

from ..blender_data.object_handle import ObjectHandle
from ..runtime.memo import Memo
from .geometry_update_counter import change_count

SLICE_VERTICES = 4000
MAX_MESHES = 1000  # that are remembered
# modifiers that move vertices, and leave their number and their weights as they are
MOVING_MODIFIERS = {
    "ARMATURE", "CAST", "CORRECTIVE_SMOOTH", "CURVE", "DISPLACE", "HOOK", "LAPLACIANDEFORM", "LAPLACIANSMOOTH",
    "LATTICE", "MESH_CACHE", "MESH_DEFORM", "SHRINKWRAP", "SIMPLE_DEFORM", "SMOOTH", "SURFACE_DEFORM", "WARP", "WAVE",
}  # fmt: skip


@dataclass(frozen=True)
class VertexWeights:
    """The weights of a mesh, in the order of its vertices.

    Attributes:
        vertices, groups: Vertex and index of the group of each weight, (k,).
        weights: They, (k,).
    """

    vertices: npt.NDArray[np.int32]
    groups: npt.NDArray[np.int32]
    weights: npt.NDArray[np.float32]

    def of_group(self, group: int, count: int) -> npt.NDArray[np.float32]:
        """Returns the weights of all `count` vertices in a group, 0 where they are not in it, (n,)."""
        found, own = np.zeros(count, np.float32), self.groups == group
        found[self.vertices[own]] = self.weights[own]
        return found


_known: Memo[VertexWeights] = Memo(MAX_MESHES)


def prefetch(objects: Iterable[bpy.types.Object]) -> Iterator[None]:
    """Reads the weights of mesh objects in slices, so that `all_weights` has them until `forget` is called.

    Blender may do anything between two slices: a mesh that changes meanwhile, or goes, is left out.
    """
    handles = [ObjectHandle.of(obj) for obj in objects if obj.type == "MESH" and obj.vertex_groups]
    return (slice_ for handle in handles for slice_ in _read_in_slices(handle))


def all_weights(obj: bpy.types.Object, mesh: bpy.types.Mesh) -> VertexWeights:
    """Returns the weights of a mesh in all groups: those that were prefetched, if it has them, or read now.

    Args:
        obj: The object, with the modifiers that act on the mesh.
        mesh: Its own, or the evaluated one.
    """
    return prefetched(obj, mesh) or _read(mesh, 0, len(mesh.vertices))


def prefetched(obj: bpy.types.Object, mesh: bpy.types.Mesh) -> VertexWeights | None:
    """Returns what was prefetched of an object, if a mesh has the same weights, or None; see `all_weights`."""
    own = obj.data
    if not isinstance(own, bpy.types.Mesh) or len(own.vertices) != len(mesh.vertices):
        return None
    has_others = any(each.show_viewport and each.type not in MOVING_MODIFIERS for each in obj.modifiers)
    if not _known.has(own.session_uid, _stamp(own)) or (mesh != own and has_others):
        return None
    return _known.latest(own.session_uid)


def forget() -> None:
    """Forgets what was prefetched."""
    _known.clear()


def _read_in_slices(handle: ObjectHandle) -> Iterator[None]:
    parts: list[VertexWeights] = []
    first, begun = 0, None
    while True:
        obj = handle.find()
        if obj is None or obj.mode == "EDIT":
            return
        stamp = _stamp(obj.data)
        if begun not in (None, stamp):
            return
        begun, end = stamp, min(first + SLICE_VERTICES, len(obj.data.vertices))
        parts.append(_read(obj.data, first, end))
        if end == len(obj.data.vertices):
            _known.store(obj.data.session_uid, stamp, _joined(parts))
            return
        first = end
        yield


def _stamp(mesh: bpy.types.Mesh) -> tuple[int, int]:
    return change_count(mesh), len(mesh.vertices)


def _read(mesh: bpy.types.Mesh, first: int, end: int) -> VertexWeights:
    # no lists of vertices or tuples, of which so many make Python collect garbage
    vertices: list[int] = []
    groups: list[int] = []
    values: list[float] = []
    all_vertices = mesh.vertices
    for i in range(first, end):
        for element in all_vertices[i].groups:
            vertices.append(i)
            groups.append(element.group)
            values.append(element.weight)
    return VertexWeights(np.array(vertices, np.int32), np.array(groups, np.int32), np.array(values, np.float32))


def _joined(parts: list[VertexWeights]) -> VertexWeights:
    if len(parts) == 1:
        return parts[0]
    return VertexWeights(
        np.concatenate([each.vertices for each in parts]),
        np.concatenate([each.groups for each in parts]),
        np.concatenate([each.weights for each in parts]),
    )
