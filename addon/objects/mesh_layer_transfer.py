# SPDX-License-Identifier: GPL-3.0-or-later
"""Gives a mesh that was made anew what the mesh in its place had: materials, UVs, attributes and weights."""

from __future__ import annotations

import bpy
import numpy as np
from mathutils import Vector
from mathutils.bvhtree import BVHTree

from ...solver.runtime.arrays import Floats
from ..fracture_meshes import result_mesh
from ..fracture_meshes.attribute_transfer import SourcePositions
from ..fracture_meshes.source_mesh_arrays import ATTRIBUTE_TYPES, Layer, SourceMesh, read_property


def transfer_layers(mesh: bpy.types.Mesh, source: SourceMesh) -> SourcePositions:
    """Gives a mesh the slots, UVs and attributes of the nearest triangles, and returns where its vertices are."""
    tree = BVHTree.FromPolygons(source.points.tolist(), source.triangle_vertices.tolist())
    points = read_property(mesh.vertices, "co", np.float32, 3).astype(np.float64)
    centres = read_property(mesh.polygons, "center", np.float32, 3).astype(np.float64)
    of_vertex, of_face = _nearest(tree, points), _nearest(tree, centres)
    loops = read_property(mesh.loops, "vertex_index", np.int32)
    of_corner = np.repeat(of_face, read_property(mesh.polygons, "loop_total", np.int32))
    # one triangle for all corners of a face: seams are not smeared over it
    corners = SourcePositions(
        source.topology.triangle_loops[of_corner], _weights(source, of_corner, points[loops], inside=False)
    )
    places = SourcePositions(source.triangle_vertices[of_vertex], _weights(source, of_vertex, points, inside=True))
    for layer in source.layers:
        _transfer_layer(mesh, layer, places, corners, source.topology.polygon_of_triangle[of_face])
    mesh.materials.clear()
    for material in source.materials:
        mesh.materials.append(material)
    slots = source.material_index[source.topology.polygon_of_triangle[of_face]]
    mesh.polygons.foreach_set("material_index", slots.astype(np.int32))
    result_mesh.set_active_layers(mesh, source)
    return places


def _nearest(tree: BVHTree, points: Floats) -> np.ndarray:
    return np.array([tree.find_nearest(Vector(point))[2] for point in points.tolist()], np.int64)


def _weights(source: SourceMesh, triangle: np.ndarray, points: Floats, inside: bool) -> Floats:
    """Returns barycentric weights of points in the planes of triangles, (n, 3), kept in the triangle if `inside`."""
    a, b, c = (source.points[source.triangle_vertices[triangle, i]] for i in range(3))
    normal = np.cross(b - a, c - a)
    square = np.maximum(np.einsum("ij,ij->i", normal, normal), np.finfo(float).tiny)
    v = np.einsum("ij,ij->i", np.cross(points - a, c - a), normal) / square
    w = np.einsum("ij,ij->i", np.cross(b - a, points - a), normal) / square
    weights = np.stack([1.0 - v - w, v, w], axis=1)
    if inside:
        weights = np.clip(weights, 0.0, 1.0)
        weights /= weights.sum(axis=1, keepdims=True)
    # beyond a sliver of a triangle there is no telling
    return np.clip(weights, -2.0, 3.0)


def _transfer_layer(
    mesh: bpy.types.Mesh, layer: Layer, vertices: SourcePositions, corners: SourcePositions, faces: np.ndarray
) -> None:
    has_mean = ATTRIBUTE_TYPES[layer.type][3]
    if layer.domain == "EDGE" or layer.name in ("sharp_face", "sharp_edge"):
        return
    if layer.domain == "FACE":
        values = layer.values[faces]
    else:
        places = vertices if layer.domain == "POINT" else corners
        values = places.blend(layer.values) if has_mean else places.pick(layer.values)
    result_mesh.add_layer(mesh, layer, values)
