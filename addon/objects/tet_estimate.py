# SPDX-License-Identifier: GPL-3.0-or-later
"""An estimate of the number of tets that a body will get, fast enough for a panel."""

from __future__ import annotations

from dataclasses import dataclass, replace

import bpy
import numpy as np

from ...solver.mesh.tetrahedralize.estimate import MAX_SHEET_VOLUME_RATIO, estimate_tets, tet_size_for_count
from ...solver.runtime.arrays import Floats, Indices
from ...solver.scene.scene import Meshing
from ...solver.scene.settings.tet_settings import PREVIEW_TETS
from ..evaluation.evaluated_mesh import longest_side, positions, raw_positions
from ..runtime.memo import Memo
from .thickness import thin_thickness


@dataclass(frozen=True)
class MeshMeasures:
    """How large a mesh is.

    Attributes:
        lengths: Sides of its box in world space [m], (3,).
        area: [m²].
        volume: That it encloses [m³].
        longest: The longest side of the object along its own axes [m].
        thickness: Of its thin parts [m]; None where that is not known.
    """

    lengths: Floats
    area: float
    volume: float
    longest: float
    thickness: float | None = None


MAX_MESHES = 1000  # whose measures are remembered
_measures_of_meshes: Memo[MeshMeasures] = Memo(MAX_MESHES)


def meshing(obj: bpy.types.Object, unit: float, is_preview: bool = False) -> Meshing:
    """Returns how `obj` is to be filled; `unit` is the scene's metres per Blender unit."""
    return meshing_of(obj.sinew, measure_object(obj, unit), unit, is_preview)


def meshing_of(
    settings: bpy.types.PropertyGroup, found: MeshMeasures, unit: float, is_preview: bool = False
) -> Meshing:
    """Returns how a body of some measures is to be filled.

    Args:
        settings: Of the body.
        found: Its measures.
        unit: Metres in a Blender unit of the scene.
        is_preview: Whether it gets its preview tets, if it has any.
    """
    method = "robust" if settings.use_fracture else settings.method.lower()
    plain = Meshing(
        method=method,
        divisions=settings.divisions,
        interior_size=int(settings.interior_size),
        coarsest_size=int(settings.coarsest_size),
    )
    size = _tet_size(settings, found, plain, unit)
    if is_preview and has_preview(settings):
        size = max(size, _size_for_count(settings.preview_tets, found, plain))
    return replace(plain, tet_size=size)


def has_preview(settings: bpy.types.PropertyGroup) -> bool:
    """Whether a body has other tets at Preview than in final bakes."""
    return bool(PREVIEW_TETS.counts(lambda name: getattr(settings, name)))


def _size_for_count(count: int, found: MeshMeasures, plain: Meshing) -> float:
    return tet_size_for_count(found.lengths.tolist(), found.area, found.volume, found.thickness, count, plain)


def _tet_size(settings: bpy.types.PropertyGroup, found: MeshMeasures, plain: Meshing, unit: float) -> float:
    """Returns the tet size [m] that the settings come to; 0 for a mesh without size."""
    if settings.sizing == "SIZE":
        return float(settings.tet_size * unit)
    if settings.sizing == "COUNT":
        return _size_for_count(settings.tet_count, found, plain)
    return found.longest / settings.divisions


def tet_count(obj: bpy.types.Object, unit: float, is_preview: bool = False) -> int:
    """Returns about how many tets `obj` will get, in final bakes or at Preview; 0 for a mesh without size."""
    found = measure_object(obj, unit)
    if not found.longest > 0.0:
        return 0
    return estimate_tets(found.lengths.tolist(), found.area, found.volume, meshing(obj, unit, is_preview))


def preview_tet_count(obj: bpy.types.Object, unit: float, asked: int) -> int:
    """Returns about how many tets `obj` would get if it had Preview Tets and their number were `asked`."""
    found = measure_object(obj, unit)
    if not found.longest > 0.0:
        return 0
    final = meshing(obj, unit)
    assert final.tet_size is not None
    size = max(final.tet_size, _size_for_count(asked, found, final))
    return estimate_tets(found.lengths.tolist(), found.area, found.volume, replace(final, tet_size=size))


def has_no_volume(obj: bpy.types.Object) -> bool:
    """Whether the mesh of `obj` encloses next to nothing, so that only tets that cover it can fill it."""
    found = measure_object(obj, 1.0)
    return found.area > 0.0 and found.volume < MAX_SHEET_VOLUME_RATIO * found.area**1.5


def measure_object(obj: bpy.types.Object, unit: float) -> MeshMeasures:
    """Returns how large the modeled mesh of `obj` is; measured again only when the number of its vertices, its box or
    the object's turn or scale changes."""
    mesh = obj.data
    matrix = np.array(obj.matrix_world.to_3x3()) * unit
    points = raw_positions(mesh)  # not the object's dimensions, which change with every frame that plays
    box = (points.min(axis=0).tobytes(), points.max(axis=0).tobytes()) if len(points) else ()
    depends = (len(points), len(mesh.polygons), box, matrix.tobytes())
    return _measures_of_meshes.result(mesh.session_uid, depends, lambda: _measure_mesh(mesh, matrix))


def _measure_mesh(mesh: bpy.types.Mesh, matrix: Floats) -> MeshMeasures:
    points = positions(mesh)
    faces = np.empty(3 * len(mesh.loop_triangles), np.int32)
    mesh.loop_triangles.foreach_get("vertices", faces)
    return measure_surface(points @ matrix.T, faces.reshape(-1, 3), longest_side(points, matrix))


def measure_surface(world: Floats, faces: Indices, longest: float) -> MeshMeasures:
    """Returns how large a surface is.

    Args:
        world: Its vertices [m], (n, 3).
        faces: Triangles, (t, 3).
        longest: The longest side along the object's own axes [m].
    """
    if not len(faces):
        return MeshMeasures(np.zeros(3), 0.0, 0.0, 0.0)
    a, b, c = (world[faces[:, i]] for i in range(3))
    normals = np.cross(b - a, c - a)
    area = float(np.linalg.norm(normals, axis=1).sum() / 2.0)
    centre = world.mean(axis=0)
    volume = abs(float(np.einsum("ij,ij->", a - centre, normals))) / 6.0
    return MeshMeasures(np.ptp(world, axis=0), area, volume, longest, thin_thickness(world, faces))
