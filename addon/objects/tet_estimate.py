# SPDX-License-Identifier: GPL-3.0-or-later
"""An estimate of the number of tets that a body will get, fast enough for a panel."""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np

from ...solver.mesh.tetrahedralize.estimate import estimate_tets
from ...solver.scene.scene import Meshing
from ..evaluation.evaluated_mesh import longest_side, positions
from ..runtime.memo import Memo


@dataclass(frozen=True)
class MeshMeasures:
    """Box lengths [m] (3,), area [m²] and enclosed volume [m³] in world space, and the longest side of the object [m]
    along its own axes."""

    lengths: np.ndarray
    area: float
    volume: float
    longest: float


_measures_of_meshes: Memo[MeshMeasures] = Memo(100)


def meshing(obj: bpy.types.Object, longest: float, unit: float) -> Meshing:
    """Returns how `obj` is to be filled; `unit` is the scene's metres per Blender unit."""
    settings = obj.sinew
    return Meshing(
        method="robust" if settings.use_fracture else settings.method.lower(),
        tet_size=settings.tet_size * unit if settings.sizing == "SIZE" else longest / settings.divisions,
        divisions=settings.divisions,
        interior_size=int(settings.interior_size),
    )


def tet_count(obj: bpy.types.Object, unit: float) -> int:
    """Returns about how many tets `obj` will get; 0 for a mesh without size."""
    found = measure_object(obj, unit)
    if not found.longest > 0.0:
        return 0
    return estimate_tets(found.lengths.tolist(), found.area, found.volume, meshing(obj, found.longest, unit))


def measure_object(obj: bpy.types.Object, unit: float) -> MeshMeasures:
    """Returns how large `obj` is; measured again only when the number of vertices, the box or the object's turn or
    scale changes."""
    mesh = obj.data
    matrix = np.array(obj.matrix_world.to_3x3()) * unit
    depends = (len(mesh.vertices), len(mesh.polygons), tuple(obj.dimensions), matrix.tobytes())
    return _measures_of_meshes.result(mesh.session_uid, depends, lambda: _measure_mesh(mesh, matrix))


def _measure_mesh(mesh: bpy.types.Mesh, matrix: np.ndarray) -> MeshMeasures:
    if len(mesh.polygons) == 0:
        return MeshMeasures(np.zeros(3), 0.0, 0.0, 0.0)
    points = positions(mesh)
    world = points @ matrix.T
    triangles = np.empty(3 * len(mesh.loop_triangles), np.int32)
    mesh.loop_triangles.foreach_get("vertices", triangles)
    a, b, c = (world[triangles[i::3]] for i in range(3))
    normals = np.cross(b - a, c - a)
    area = float(np.linalg.norm(normals, axis=1).sum() / 2.0)
    centre = world.mean(axis=0)
    volume = abs(float(np.einsum("ij,ij->", a - centre, normals))) / 6.0
    return MeshMeasures(np.ptp(world, axis=0), area, volume, longest_side(points, matrix))
