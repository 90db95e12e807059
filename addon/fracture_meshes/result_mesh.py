# SPDX-License-Identifier: GPL-3.0-or-later
"""The Blender mesh of a broken body: the final topology with all layers of the render mesh."""

from __future__ import annotations

from collections.abc import Mapping

import bpy
import numpy as np
import numpy.typing as npt

from ...solver.runtime.arrays import Floats, Indices
from ..cache.final_mesh_file import StoredResult
from .attribute_transfer import SourcePositions
from .broken_mesh_values import BrokenMeshValues, broken_mesh_values, or_zero
from .source_mesh_arrays import ATTRIBUTE_TYPES, Layer, SourceMesh, read_property, removing_on_failure

BROKEN_ATTRIBUTE, PIECE_ATTRIBUTE, OPENS_ATTRIBUTE = "broken", "piece", "opens"
MATERIAL_ATTRIBUTE = "material_index"


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
    values = broken_mesh_values(result, source, points, has_own_normals=True)
    return mesh_of(name, values, source), values.vertices


def mesh_of(name: str, values: BrokenMeshValues, source: SourceMesh) -> bpy.types.Mesh:
    """Returns a new mesh that has values, with the materials of the render mesh."""
    mesh = bpy.data.meshes.new(name)
    with removing_on_failure(mesh):
        _add_polygons(mesh, values)
        edge_of = np.empty(len(values.result.corners), np.int32)
        mesh.attributes[".corner_edge"].data.foreach_get("value", edge_of)
        for uv_name, uv in values.uv.items():
            made = mesh.uv_layers.new(name=uv_name, do_init=False)
            mesh.attributes[made.name].data.foreach_set("vector", uv.ravel())
        for layer, found in values.layers:
            add_layer(mesh, layer, found)
        for layer in values.edge_layers:
            add_layer(mesh, layer, or_zero(layer.values, _source_edges(mesh, values, edge_of)))
        _add_face_attributes(mesh, values, source)
        set_active_layers(mesh, source)
        _set_shading(mesh, values, source, edge_of)
    return mesh


def add_groups(obj: bpy.types.Object, vertices: SourcePositions, groups: Mapping[str, Floats]) -> None:
    """Adds vertex groups of the render mesh to an object, whose weights there are given by their names, (n,) each."""
    obj.vertex_groups.clear()
    for name, weights in groups.items():
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


def _add_polygons(mesh: bpy.types.Mesh, values: BrokenMeshValues) -> None:
    result = values.result
    mesh.vertices.add(len(values.points))
    mesh.attributes["position"].data.foreach_set("vector", values.points.ravel())
    mesh.loops.add(len(result.corners))
    mesh.attributes[".corner_vert"].data.foreach_set("value", np.ascontiguousarray(result.corners, np.int32))
    mesh.polygons.add(len(result.source_face))
    mesh.polygons.foreach_set("loop_start", np.ascontiguousarray(result.face_start[:-1], np.int32))
    mesh.update(calc_edges=True)


def _source_edges(mesh: bpy.types.Mesh, values: BrokenMeshValues, edge_of: Indices) -> npt.NDArray[np.int64]:
    """Returns the edge of the render mesh that contains each edge of the result, or −1."""
    edges = np.full(len(mesh.edges), -1, np.int64)
    is_on_edge = values.source_edge >= 0
    edges[edge_of[is_on_edge]] = values.source_edge[is_on_edge]
    return edges


def add_layer(mesh: bpy.types.Mesh, layer: Layer, values: npt.NDArray) -> None:
    """Adds an attribute like `layer` with other values, unless the name is in use."""
    value, _, kind, _ = ATTRIBUTE_TYPES[layer.type]
    attribute = mesh.attributes.get(layer.name) or mesh.attributes.new(layer.name, layer.type, layer.domain)
    if attribute.domain == layer.domain and attribute.data_type == layer.type:
        attribute.data.foreach_set(value, np.ascontiguousarray(values, kind).ravel())


def _add_face_attributes(mesh: bpy.types.Mesh, values: BrokenMeshValues, source: SourceMesh) -> None:
    """Adds slots and the face attributes "broken", "piece" and "opens".

    What has no broken faces, as a torn sheet, has the slots of its render mesh alone.
    """
    result, slots = values.result, values.slots
    materials = source.materials or [None]
    for material in materials:
        mesh.materials.append(material)
    if result.is_broken.any():
        mesh.materials.append(None)
        slots = np.where(result.is_broken, np.int32(len(materials)), slots)
    for name, kind, found in (
        (MATERIAL_ATTRIBUTE, "INT", slots.astype(np.int32)),
        (BROKEN_ATTRIBUTE, "BOOLEAN", result.is_broken),
        (PIECE_ATTRIBUTE, "INT", result.piece.astype(np.int32)),
        (OPENS_ATTRIBUTE, "FLOAT", result.opens.astype(np.float32)),
    ):
        mesh.attributes.new(name, kind, "FACE").data.foreach_set("value", np.ascontiguousarray(found))


def broken_slot(mesh: bpy.types.Mesh) -> int | None:
    """Returns the slot of the broken faces, the last one, or None where there are none, as in a torn sheet."""
    found = mesh.attributes.get(BROKEN_ATTRIBUTE)
    if found is None or not read_property(found.data, "value", np.bool_).any():
        return None
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


def _set_shading(mesh: bpy.types.Mesh, values: BrokenMeshValues, source: SourceMesh, edge_of: Indices) -> None:
    """Shades broken faces flat with sharp rims, and all other faces as on the render mesh."""
    broken = values.result.is_broken
    rims = np.zeros(len(mesh.edges), bool)
    rims[edge_of[broken[values.result.face_of_corner]]] = True
    flat = mesh.attributes.get("sharp_face") or mesh.attributes.new("sharp_face", "BOOLEAN", "FACE")
    flat.data.foreach_set(
        "value", np.ascontiguousarray(read_property(flat.data, "value", np.bool_) | broken | source.is_flat)
    )
    sharp = mesh.attributes.get("sharp_edge") or mesh.attributes.new("sharp_edge", "BOOLEAN", "EDGE")
    sharp.data.foreach_set("value", np.ascontiguousarray(read_property(sharp.data, "value", np.bool_) | rims))
    if values.normals is not None:
        mesh.normals_split_custom_set(values.normals.tolist())
