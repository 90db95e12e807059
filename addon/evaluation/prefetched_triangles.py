# SPDX-License-Identifier: GPL-3.0-or-later
"""The triangles of large meshes, which Blender gives one by one: 100,000 take 20 ms.

So an export that may not hold up Blender's window prefetches them before it reads all else. They are kept until
`forget` is called, and count for an evaluated mesh that has the same faces and the same positions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import bpy
import numpy as np
import numpy.typing as npt

from ...solver.runtime.arrays import Indices
from ..blender_data.object_handle import ObjectHandle
from ..runtime.memo import Memo
from .evaluated_mesh import raw_positions, triangles
from .geometry_update_counter import change_count
from .prefetched_vertex_weights import MOVING_MODIFIERS

MIN_VERTICES = 10_000  # of meshes that are prefetched
MAX_MESHES = 100  # that are remembered


@dataclass(frozen=True, eq=False)
class MeshTriangles:
    """The triangles of a mesh as it is modeled, (t, 3), and its positions [Blender units], (n, 3)."""

    triangles: Indices
    positions: npt.NDArray[np.float32]


_known: Memo[MeshTriangles] = Memo(MAX_MESHES)


def prefetch(objects: Iterable[bpy.types.Object]) -> Iterator[None]:
    """Reads the triangles of large mesh objects, one in each slice, so that `mesh_triangles` has them until `forget`.

    Blender may do anything between two slices: a mesh that changes meanwhile, or goes, is left out.
    """
    meshes = (obj for obj in objects if obj.type == "MESH" and len(obj.data.vertices) >= MIN_VERTICES)
    handles = [ObjectHandle.of(obj) for obj in meshes]
    return (slice_ for handle in handles for slice_ in _read(handle))


def _read(handle: ObjectHandle) -> Iterator[None]:
    obj = handle.find()
    if obj is not None and obj.mode != "EDIT":
        mesh = obj.data
        _known.store(mesh.session_uid, _stamp(mesh), MeshTriangles(triangles(mesh), raw_positions(mesh)))
    yield


def mesh_triangles(obj: bpy.types.Object, mesh: bpy.types.Mesh) -> Indices:
    """Returns the triangulated faces of the evaluated mesh of an object, (t, 3): those prefetched, or read now."""
    own = obj.data
    if _known.has(own.session_uid, _stamp(own)):
        known = _known.latest(own.session_uid)
        has_others = any(each.show_viewport and each.type not in MOVING_MODIFIERS for each in obj.modifiers)
        has_all = (len(mesh.vertices), len(mesh.loops), len(mesh.polygons)) == _counts(own)
        # quads are cut along one or the other diagonal as their corners lie
        if known is not None and has_all and not has_others and np.array_equal(known.positions, raw_positions(mesh)):
            return known.triangles.copy()
    return triangles(mesh)


def forget() -> None:
    """Forgets what was prefetched."""
    _known.clear()


def _stamp(mesh: bpy.types.Mesh) -> tuple[int, ...]:
    return change_count(mesh), *_counts(mesh)


def _counts(mesh: bpy.types.Mesh) -> tuple[int, int, int]:
    return len(mesh.vertices), len(mesh.loops), len(mesh.polygons)
