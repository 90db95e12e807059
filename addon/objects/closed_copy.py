# SPDX-License-Identifier: GPL-3.0-or-later
"""A closed copy of a mesh with holes or self-intersections, by voxels, with its materials, UVs and weights."""

from __future__ import annotations

import bpy
import numpy as np

from ...solver.mesh.geometry.manifold_defects import find_manifold_defects
from ...solver.runtime.errors import BadInput
from ..blender_data import sinew_modifier
from ..evaluation.evaluated_mesh import longest_side, triangles
from ..fracture_meshes import result_mesh
from ..fracture_meshes.attribute_transfer import SourcePositions
from ..fracture_meshes.source_mesh_arrays import SourceMesh, read_source, removing_on_failure
from ..playback import solved_frame
from . import roles, tet_estimate
from .mesh_layer_transfer import transfer_layers

SUFFIX = " Closed"
# voxels along a tet, and along the longest side at least and at most
VOXELS_PER_TET, MIN_VOXELS, MAX_VOXELS = 3, 64, 256


def voxel_size_for(obj: bpy.types.Object, source: SourceMesh) -> float:
    """Returns the edge of the voxels [Blender units], object space, that suits the tets of a body."""
    extent = float(np.ptp(source.points, axis=0).max(initial=0.0))
    matrix = np.array(obj.matrix_world)[:3, :3]
    longest = longest_side(source.points, matrix)
    found = tet_estimate.measure_surface(source.points @ matrix.T, source.triangle_vertices, longest)
    size = tet_estimate.meshing_of(obj.sinew, found, 1.0).tet_size
    divisions = longest / size if size else 0.0
    return extent / min(max(VOXELS_PER_TET * divisions, MIN_VOXELS), MAX_VOXELS)


def make_closed_copy(context: bpy.types.Context, obj: bpy.types.Object, voxel: float | None = None) -> bpy.types.Object:
    """Returns a body with a closed mesh that stands in for `obj`, which is hidden and no body any more.

    The mesh is the one at Sinew's place in the stack, at the present frame.

    Args:
        context: Where it is added.
        obj: The body, or the mesh that is to be one.
        voxel: Edge of the voxels [Blender units]; None: by the size of the tets.

    Raises:
        BadInput: The mesh has no extent, or voxels of that size do not close it either; nothing was changed.
    """
    scene = context.scene
    source = read_source(scene, obj, scene.frame_current)
    size = voxel or voxel_size_for(obj, source)
    if not len(source.triangle_vertices) or size <= 0.0:
        raise BadInput("mesh-empty", name=obj.name)
    mesh = _remesh(scene, source, size, obj.name + SUFFIX)
    with removing_on_failure(mesh):
        if not len(mesh.polygons) or find_manifold_defects(triangles(mesh)) is not None:
            raise BadInput("copy-not-closed", name=obj.name, size=f"{size:.3g}")
        weights = transfer_layers(mesh, source)
    made = _make_object(obj, mesh, source, weights)
    _replace_body(context, obj, made)
    return made


def _remesh(scene: bpy.types.Scene, source: SourceMesh, size: float, name: str) -> bpy.types.Mesh:
    """Returns a new mesh of Blender's voxel remesh."""
    plain = bpy.data.meshes.new(name)
    plain.from_pydata(source.points.tolist(), [], source.triangle_vertices.tolist())
    copy = bpy.data.objects.new(name, plain)
    scene.collection.objects.link(copy)
    try:
        modifier = copy.modifiers.new("Remesh", "REMESH")
        modifier.mode, modifier.voxel_size, modifier.use_smooth_shade = "VOXEL", size, True
        depsgraph = bpy.context.evaluated_depsgraph_get()
        return bpy.data.meshes.new_from_object(copy.evaluated_get(depsgraph), depsgraph=depsgraph)
    finally:
        bpy.data.objects.remove(copy)
        bpy.data.meshes.remove(plain)


def _make_object(
    obj: bpy.types.Object, mesh: bpy.types.Mesh, source: SourceMesh, vertices: SourcePositions
) -> bpy.types.Object:
    made = obj.copy()
    if made.override_library is not None:
        made = made.make_local(clear_liboverride=True)
    for modifier in list(made.modifiers)[: sinew_modifier.input_modifier_count(obj)]:
        made.modifiers.remove(modifier)
    solved_frame.remove([made])
    made.name = obj.name + SUFFIX
    made.data = mesh
    made.sinew.key, made.sinew.modifier_uid, made.sinew.place_before = "", 0, 0
    made.sinew.baked_name = ""
    result_mesh.add_groups(made, vertices, source.groups)
    return made


def _replace_body(context: bpy.types.Context, obj: bpy.types.Object, made: bpy.types.Object) -> None:
    homes = [c for c in obj.users_collection if c.library is None and c.override_library is None]
    for collection in homes or [context.scene.collection]:
        collection.objects.link(made)
    roles.clear_role(obj)
    obj.hide_viewport = obj.hide_render = True
    roles.make_body(made)
    for other in context.selected_objects:
        other.select_set(False)
    if made.name in context.view_layer.objects:
        context.view_layer.objects.active = made
        made.select_set(True)
