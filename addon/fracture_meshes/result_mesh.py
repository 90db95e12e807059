# SPDX-License-Identifier: GPL-3.0-or-later
"""The Blender mesh of a broken body: the final topology with all layers of the render mesh."""

from __future__ import annotations

import bpy
import numpy as np
import numpy.typing as npt

from ...solver.runtime.arrays import Floats, Indices
from ..cache.final_mesh_file import StoredResult
from . import attribute_transfer
from .attribute_transfer import SourcePositions
from .source_mesh_arrays import ATTRIBUTE_TYPES, Layer, SourceMesh, read_property, removing_on_failure

BROKEN_ATTRIBUTE, PIECE_ATTRIBUTE, OPENS_ATTRIBUTE = "broken", "piece", "opens"
UV_NAME = "UVMap"


def make_mesh(
    name: str, result: StoredResult, source: SourceMesh, points: Floats
) -> tuple[bpy.types.Mesh, SourcePositions]:
    """Returns a new mesh, and the positions of its vertices on the render mesh.

    Args:
        name: Of the mesh.
        result: The final topology.
        source: The render mesh before the cut.
        points: Vertices at the first frame in object space [Blender units], (k, 3).
    """
    mesh = bpy.data.meshes.new(name)
    with removing_on_failure(mesh):
        _add_polygons(mesh, result, points)
        vertices, corners = attribute_transfer.locate_on_source(
            result, source.topology, lambda rows: source.nearest(points[rows])
        )
        normals = attribute_transfer.face_normals(points, result.face_start, result.corners)
        _add_uv_maps(mesh, result, source, corners, _box_projected_uvs(result, source, points, normals))
        for layer in source.layers:
            add_layer(mesh, layer, _layer_values(mesh, layer, result, source, vertices, corners))
        _add_face_attributes(mesh, result, source)
        set_active_layers(mesh, source)
        _set_shading(mesh, result, source, corners, normals)
    return mesh, vertices


def add_groups(obj: bpy.types.Object, vertices: SourcePositions, source: SourceMesh) -> None:
    """Adds the vertex groups of the render mesh to an object."""
    obj.vertex_groups.clear()
    for name, weights in source.groups.items():
        group = obj.vertex_groups.new(name=name)
        blended = np.round(vertices.blend(weights), 6)
        order = np.argsort(blended, kind="stable")
        for weight, rows in _rows_by_value(blended, order):
            if weight > 0.0:
                group.add(rows.tolist(), weight, "REPLACE")


def _rows_by_value(values: Floats, order: Indices) -> list[tuple[float, Indices]]:
    """Returns each distinct value with its rows."""
    cuts = np.flatnonzero(np.diff(values[order])) + 1
    return [(float(values[rows[0]]), rows) for rows in np.split(order, cuts) if len(rows)]


def _add_polygons(mesh: bpy.types.Mesh, result: StoredResult, points: Floats) -> None:
    mesh.vertices.add(len(points))
    mesh.vertices.foreach_set("co", np.ascontiguousarray(points, np.float32).ravel())
    mesh.loops.add(len(result.corners))
    mesh.loops.foreach_set("vertex_index", result.corners.astype(np.int32))
    mesh.polygons.add(len(result.source_face))
    mesh.polygons.foreach_set("loop_start", result.face_start[:-1].astype(np.int32))
    mesh.update(calc_edges=True)


def _box_projected_uvs(result: StoredResult, source: SourceMesh, points: Floats, normals: Floats) -> Floats:
    """Returns UVs of the corners by box projection, (c, 2); 1 is the longest side of the body."""
    size = float(np.ptp(source.points, axis=0).max(initial=0.0))
    return attribute_transfer.box_projection(points[result.corners], normals[result.face_of_corner], size)


def _add_uv_maps(
    mesh: bpy.types.Mesh, result: StoredResult, source: SourceMesh, corners: SourcePositions, projected: Floats
) -> None:
    """Adds every UV map, with the projection on broken faces; adds one if the render mesh has none."""
    broken = result.is_broken[result.face_of_corner]
    own = {layer.name: layer.values for layer in source.layers if layer.name in source.uv_maps[0]}
    for name in source.uv_maps[0] or [UV_NAME]:
        uv = mesh.uv_layers.new(name=name, do_init=False)
        values = projected.copy()
        if name in own:
            values[~broken] = corners.blend(own[name])[~broken]
        mesh.attributes[uv.name].data.foreach_set("vector", values.astype(np.float32).ravel())


def _layer_values(
    mesh: bpy.types.Mesh,
    layer: Layer,
    result: StoredResult,
    source: SourceMesh,
    vertices: SourcePositions,
    corners: SourcePositions,
) -> npt.NDArray | None:
    """Returns the values of a layer on the result, or None for a layer that is not transferred."""
    if layer.name in source.uv_maps[0]:
        return None
    has_mean = ATTRIBUTE_TYPES[layer.type][3]
    if layer.domain == "POINT":
        return vertices.blend(layer.values) if has_mean else vertices.pick(layer.values)
    if layer.domain == "CORNER":
        return corners.blend(layer.values) if has_mean else corners.pick(layer.values)
    if layer.domain == "FACE":
        return _or_zero(layer.values, result.source_face)
    if layer.domain == "EDGE":
        return _or_zero(layer.values, _source_edges(mesh, result, source))
    return None


def _source_edges(mesh: bpy.types.Mesh, result: StoredResult, source: SourceMesh) -> npt.NDArray[np.int64]:
    """Returns the edge of the render mesh that contains each edge of the result, or −1."""
    found = attribute_transfer.source_edges(result, source.topology)
    edges = np.full(len(mesh.edges), -1, np.int64)
    is_on_edge = found >= 0
    edges[read_property(mesh.loops, "edge_index", np.int32)[is_on_edge]] = found[is_on_edge]
    return edges


def _or_zero(values: npt.NDArray, rows: npt.NDArray[np.integer]) -> npt.NDArray:
    taken = values[np.maximum(rows, 0)].copy()
    taken[rows < 0] = 0
    return taken


def add_layer(mesh: bpy.types.Mesh, layer: Layer, values: npt.NDArray | None) -> None:
    """Adds an attribute like `layer` with other values, unless they are None or the name is in use."""
    if values is None:
        return
    value, _, kind, _ = ATTRIBUTE_TYPES[layer.type]
    attribute = mesh.attributes.get(layer.name) or mesh.attributes.new(layer.name, layer.type, layer.domain)
    if attribute.domain == layer.domain and attribute.data_type == layer.type:
        attribute.data.foreach_set(value, np.ascontiguousarray(values, kind).ravel())


def _add_face_attributes(mesh: bpy.types.Mesh, result: StoredResult, source: SourceMesh) -> None:
    """Adds slots and the face attributes "broken", "piece" and "opens"."""
    for material in source.materials or [None]:
        mesh.materials.append(material)
    mesh.materials.append(None)
    slots = np.minimum(_or_zero(source.material_index, result.source_face), len(mesh.materials) - 2)
    slots[result.is_broken] = broken_slot(mesh)
    mesh.polygons.foreach_set("material_index", slots.astype(np.int32))
    for name, kind, values in (
        (BROKEN_ATTRIBUTE, "BOOLEAN", result.is_broken),
        (PIECE_ATTRIBUTE, "INT", result.piece.astype(np.int32)),
        (OPENS_ATTRIBUTE, "FLOAT", result.opens.astype(np.float32)),
    ):
        mesh.attributes.new(name, kind, "FACE").data.foreach_set("value", np.ascontiguousarray(values))


def broken_slot(mesh: bpy.types.Mesh) -> int:
    """Returns the slot of the broken faces: the last one."""
    return len(mesh.materials) - 1


def set_active_layers(mesh: bpy.types.Mesh, source: SourceMesh) -> None:
    """Sets the active and the rendered layers as on the render mesh."""
    _, active, rendered = source.uv_maps
    for i, layer in enumerate(mesh.uv_layers):
        if layer.name == active:
            mesh.uv_layers.active_index = i
        layer.active_render = layer.name == rendered if rendered else i == 0
    active, rendered = source.colours
    for i, attribute in enumerate(mesh.color_attributes):
        if attribute.name == active:
            mesh.color_attributes.active_color_index = i
        if attribute.name == rendered:
            mesh.color_attributes.render_color_index = i


def _set_shading(
    mesh: bpy.types.Mesh, result: StoredResult, source: SourceMesh, corners: SourcePositions, face_normals: Floats
) -> None:
    """Shades broken faces flat with sharp rims, and all other faces as on the render mesh.

    A mesh of flat faces gets no custom normals: with them, Cycles would shade a bent quad as one plane instead of two
    triangles.
    """
    faces = result.face_of_corner
    broken = result.is_broken
    edge_of = read_property(mesh.loops, "edge_index", np.int32)
    rims = np.zeros(len(mesh.edges), bool)
    rims[edge_of[broken[faces]]] = True
    flat = mesh.attributes.get("sharp_face") or mesh.attributes.new("sharp_face", "BOOLEAN", "FACE")
    flat.data.foreach_set(
        "value", np.ascontiguousarray(read_property(flat.data, "value", np.bool_) | broken | source.is_flat)
    )
    sharp = mesh.attributes.get("sharp_edge") or mesh.attributes.new("sharp_edge", "BOOLEAN", "EDGE")
    sharp.data.foreach_set("value", np.ascontiguousarray(read_property(sharp.data, "value", np.bool_) | rims))
    if source.is_flat:
        return
    normals = attribute_transfer.unit_vectors(corners.blend(source.normals))
    normals[broken[faces]] = face_normals[faces][broken[faces]]
    mesh.normals_split_custom_set(normals.tolist())
