# SPDX-License-Identifier: GPL-3.0-or-later
"""Join Tendon: makes a muscle and tendons that are modeled beside it one closed mesh, and the tendons its tendon."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import bpy
import numpy as np

from ...solver.mesh.geometry.manifold_defects import find_manifold_defects
from ...solver.runtime.arrays import Bools, Floats, Indices
from ...solver.runtime.errors import BadInput, SinewError
from ..evaluation.evaluated_mesh import evaluated_mesh, positions, triangles
from ..evaluation.matrix_units import transform_points
from ..evaluation.mesh_signed_distance import MeshDistance, welded
from ..fracture_meshes import result_mesh
from ..fracture_meshes.source_mesh_arrays import read_modeled, removing_on_failure
from ..playback import solved_frame
from . import mesh_defects, muscle_setup, roles
from .mesh_layer_transfer import transfer_layers
from .skeleton import skeleton_bones
from .thickness import thin_thickness

if TYPE_CHECKING:
    from ...solver.mesh.level_set.joined_surface import JoinedSurface

TENDON = "Tendon"  # vertex group
VOXELS_ACROSS, LEAST_DIVISIONS, MOST_DIVISIONS = 6, 60, 300  # across the thinnest part, and along the longest side
SEAM_VOXELS = 6  # how far from the seam the surface may move
MOST_VOXELS = 30.0e6


@dataclass(frozen=True, eq=False)
class ClosedMesh:
    """A closed mesh in the space of the muscle whose faces look outwards."""

    vertices: Floats
    triangles: Indices


def join_tendons(
    context: bpy.types.Context,
    muscle: bpy.types.Object,
    tendons: Sequence[bpy.types.Object],
    voxel: float = 0.0,
    seam_width: float = 0.0,
) -> list[SinewError]:
    """Unites a muscle with tendons, which are removed, and returns what is doubtful.

    A muscle that has its settings ends anew on the bones nearest to its ends, and the tendons are its Tendon Group.

    Args:
        context: Its scene has the bones.
        muscle: A mesh, as it was modeled, whose object stays.
        tendons: Closed meshes, as they are shown.
        voxel: Size in object space [Blender units]; 0: as suits the thinnest part.
        seam_width: How far from the seam the surface may move [Blender units]; 0: SEAM_VOXELS voxels.

    Raises:
        BadInput: "join-not-closed", "join-shape-keys", "join-apart", "join-inside", "join-voxels", "leave-edit-mode" or
            "muscle-mesh-linked". Nothing was changed.
    """
    _check_muscle(muscle)
    parts = [_modeled(muscle), *(_shown(context, muscle, each) for each in tendons)]
    size = voxel or _fitting_voxel(parts)
    found = _join(muscle, parts, size, seam_width or SEAM_VOXELS * size)
    _replace_mesh(context.scene, muscle, found)
    _paint_tendon(muscle, found.is_tendon, max(_thickness(each) for each in parts[1:]))
    solved_frame.remove([muscle])  # of the former vertices
    muscle.sinew.path_points.clear()  # it is no longer the mesh that Draw Muscle would rebuild
    for each in tendons:
        mesh = each.data
        bpy.data.objects.remove(each)
        if not mesh.users:
            bpy.data.meshes.remove(mesh)
    is_muscle = roles.is_flesh(muscle) and muscle.sinew.use_muscle
    if not is_muscle or len(skeleton_bones(context, {muscle})) < 2:
        return []
    context.view_layer.update()
    return muscle_setup.make_muscles(context, [muscle])


def _check_muscle(obj: bpy.types.Object) -> None:
    if obj.mode == "EDIT":
        raise BadInput("leave-edit-mode", name=obj.name)
    if obj.data.library is not None:
        raise BadInput("muscle-mesh-linked", name=obj.name)
    if obj.data.shape_keys is not None:
        raise BadInput("join-shape-keys", name=obj.name)


def _modeled(obj: bpy.types.Object) -> ClosedMesh:
    return _closed_mesh(obj, positions(obj.data), triangles(obj.data))


def _shown(context: bpy.types.Context, muscle: bpy.types.Object, tendon: bpy.types.Object) -> ClosedMesh:
    """Returns the mesh of a tendon as its modifiers make it, in the space of the muscle."""
    evaluated = tendon.evaluated_get(context.evaluated_depsgraph_get())
    with evaluated_mesh(evaluated) as mesh:
        points, faces = positions(mesh), triangles(mesh)
    return _closed_mesh(
        tendon, transform_points(np.array(muscle.matrix_world.inverted_safe() @ tendon.matrix_world), points), faces
    )


def _closed_mesh(obj: bpy.types.Object, points: Floats, faces: Indices) -> ClosedMesh:
    """Returns a closed mesh, its faces turned outwards.

    Raises:
        BadInput: "join-not-closed": it is not closed; "mesh-empty".
    """
    points, faces = welded(points, faces)
    if not len(faces):
        raise BadInput("mesh-empty", name=obj.name)
    defects = find_manifold_defects(faces)
    if defects is not None:
        raise BadInput("join-not-closed", name=obj.name, defects=mesh_defects.defects_text(defects))
    corners = (points - points.mean(axis=0))[faces]
    volume = np.einsum("ti,ti->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2]))
    return ClosedMesh(points, faces if volume >= 0.0 else np.ascontiguousarray(faces[:, ::-1]))


def _thickness(part: ClosedMesh) -> float:
    longest = float(np.ptp(part.vertices, axis=0).max())
    return thin_thickness(part.vertices, part.triangles) or longest / LEAST_DIVISIONS


def _fitting_voxel(parts: Sequence[ClosedMesh]) -> float:
    longest = float(np.ptp(np.concatenate([part.vertices for part in parts]), axis=0).max())
    wanted = min(_thickness(part) for part in parts) / VOXELS_ACROSS
    return min(max(wanted, longest / MOST_DIVISIONS), longest / LEAST_DIVISIONS)


def _join(muscle: bpy.types.Object, parts: Sequence[ClosedMesh], voxel: float, seam_width: float) -> JoinedSurface:
    from ...solver.mesh.level_set.joined_surface import join_surfaces  # loads SciPy

    points = np.concatenate([part.vertices for part in parts])
    count = float(np.prod(np.ptp(points, axis=0) / voxel + 8.0, dtype=np.float64))
    if count > MOST_VOXELS:
        raise BadInput("join-voxels", count=f"{count / 1.0e6:,.0f}")
    belly, *rods = (MeshDistance(part.vertices, part.triangles) for part in parts)
    found = join_surfaces(belly, rods, (points.min(axis=0), points.max(axis=0)), voxel, seam_width)
    if found.pieces > 1:
        raise BadInput("join-apart", name=muscle.name, count=found.pieces)
    if not found.has_seam:
        raise BadInput("join-inside", name=muscle.name)
    return found


def _replace_mesh(scene: bpy.types.Scene, obj: bpy.types.Object, found: JoinedSurface) -> None:
    """Gives an object a new mesh with the materials, UVs, attributes and weights of the nearest faces of the former."""
    source, former = read_modeled(scene, obj), obj.data
    mesh = bpy.data.meshes.new(former.name)
    with removing_on_failure(mesh):
        mesh.from_pydata(found.vertices.tolist(), [], found.quads.tolist())
        mesh.polygons.foreach_set("use_smooth", np.ones(len(found.quads), np.bool_))
        weights = transfer_layers(mesh, source)
    obj.data = mesh
    result_mesh.add_groups(obj, weights, source.groups)
    if not former.users:
        name = former.name
        bpy.data.meshes.remove(former)
        mesh.name = name


def _paint_tendon(obj: bpy.types.Object, is_tendon: Bools, thickness: float) -> None:
    """Adds vertices to the Tendon Group of a muscle, which may be an attribute; sheets get as deep as tendons need."""
    settings = obj.sinew
    attribute = obj.data.attributes.get(settings.tendon_group) if settings.tendon_group else None
    if attribute is not None and attribute.data_type == "FLOAT" and attribute.domain == "POINT":
        values = np.empty(len(is_tendon), np.float32)
        attribute.data.foreach_get("value", values)
        attribute.data.foreach_set("value", np.where(is_tendon, np.float32(1.0), values))
    else:
        name = settings.tendon_group or TENDON
        group = obj.vertex_groups.get(name) or obj.vertex_groups.new(name=name)
        group.add(np.flatnonzero(is_tendon).tolist(), 1.0, "REPLACE")
        settings.tendon_group = group.name
    if settings.tendon_depth > 0.0:
        settings.tendon_depth = max(settings.tendon_depth, 0.5 * thickness)
