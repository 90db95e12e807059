# SPDX-License-Identifier: GPL-3.0-or-later
"""What the mesh of a broken body has, computed from its cut and the layers of the render mesh.

Nothing here asks Blender, so that another thread may compute it. `result_mesh.py` makes the mesh.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...solver.runtime.arrays import Floats, Indices
from ..cache.final_mesh_file import StoredResult
from . import attribute_transfer
from .attribute_transfer import SourcePositions
from .source_mesh_arrays import ATTRIBUTE_TYPES, Layer, SourceMesh

UV_NAME = "UVMap"


@dataclass(frozen=True, eq=False)
class BrokenMeshValues:
    """A mesh of k vertices, f polygons and c corners.

    Attributes:
        points: Vertices [Blender units], object space, (k, 3).
        result: Its topology, and where in the render mesh it comes from.
        vertices: Its vertices on the render mesh.
        slots: Slot of the render mesh of each polygon; of broken faces any, (f,).
        uv: UVs of the corners by the names of maps, (c, 2) each.
        layers: Layers of vertices, corners and faces, with their values here.
        edge_layers: Layers of edges, with the values of the render mesh.
        source_edge: The edge of the render mesh that contains the edge after each corner, or −1, (c,).
        normals: Shading normals of the corners, (c, 3); None: those that Blender computes from the faces.
    """

    points: npt.NDArray[np.float32]
    result: StoredResult
    vertices: SourcePositions
    slots: Indices
    uv: dict[str, npt.NDArray[np.float32]]
    layers: list[tuple[Layer, npt.NDArray]]
    edge_layers: list[Layer]
    source_edge: Indices
    normals: Floats | None


def broken_mesh_values(
    result: StoredResult, source: SourceMesh, points: Floats, has_own_normals: bool
) -> BrokenMeshValues:
    """Returns what a mesh has.

    Args:
        result: The final topology.
        source: The render mesh before the cut.
        points: Vertices at the first frame in object space [Blender units], (k, 3).
        has_own_normals: Whether it is shaded as the render mesh was; else as Blender does where edges are sharp.
    """
    vertices, corners = attribute_transfer.locate_on_source(
        result, source.topology, lambda rows: source.nearest(points[rows])
    )
    normals = attribute_transfer.face_normals(points, result.face_start, result.corners)
    edge_layers = [layer for layer in source.layers if layer.domain == "EDGE"]
    slots = or_zero(source.material_index, result.source_face)
    return BrokenMeshValues(
        points=np.ascontiguousarray(points, np.float32),
        result=result,
        vertices=vertices,
        slots=np.minimum(slots, max(len(source.materials), 1) - 1).astype(np.int32),
        uv=dict(_uv_maps(result, source, corners, _box_projected_uvs(result, source, points, normals))),
        layers=list(_layers(result, source, vertices, corners)),
        edge_layers=edge_layers,
        source_edge=attribute_transfer.source_edges(result, source.topology) if edge_layers else np.zeros(0, np.int64),
        normals=_corner_normals(result, source, corners, normals) if has_own_normals else None,
    )


def _box_projected_uvs(result: StoredResult, source: SourceMesh, points: Floats, normals: Floats) -> Floats:
    """Returns UVs of the corners by box projection, (c, 2); 1 is the longest side of the body."""
    size = float(np.ptp(source.points, axis=0).max(initial=0.0))
    return attribute_transfer.box_projection(points[result.corners], normals[result.face_of_corner], size)


def _uv_maps(
    result: StoredResult, source: SourceMesh, corners: SourcePositions, projected: Floats
) -> Iterator[tuple[str, npt.NDArray[np.float32]]]:
    """Yields every UV map, with the projection on broken faces; one if the render mesh has none."""
    broken = result.is_broken[result.face_of_corner]
    own = {layer.name: layer.values for layer in source.layers if layer.name in source.uv_maps[0]}
    for name in source.uv_maps[0] or [UV_NAME]:
        values = projected.copy()
        if name in own:
            values[~broken] = corners.blend(own[name])[~broken]
        yield name, values.astype(np.float32)


def _layers(
    result: StoredResult, source: SourceMesh, vertices: SourcePositions, corners: SourcePositions
) -> Iterator[tuple[Layer, npt.NDArray]]:
    """Yields layers that are transferred, but UV maps and those of edges, with their values."""
    for layer in source.layers:
        if layer.name in source.uv_maps[0]:
            continue
        has_mean = ATTRIBUTE_TYPES[layer.type][3]
        if layer.domain == "POINT":
            yield layer, vertices.blend(layer.values) if has_mean else vertices.pick(layer.values)
        elif layer.domain == "CORNER":
            yield layer, corners.blend(layer.values) if has_mean else corners.pick(layer.values)
        elif layer.domain == "FACE":
            yield layer, or_zero(layer.values, result.source_face)


def or_zero(values: npt.NDArray, rows: npt.NDArray[np.integer]) -> npt.NDArray:
    """Returns rows of values, zero for the rows below zero."""
    taken = values[np.maximum(rows, 0)].copy()
    taken[rows < 0] = 0
    return taken


def _corner_normals(
    result: StoredResult, source: SourceMesh, corners: SourcePositions, face_normals: Floats
) -> Floats | None:
    """Returns the normals of the render mesh, and on broken faces those of the faces.

    A mesh of flat faces gets none: with them, Cycles would shade a bent quad as one plane instead of two triangles.
    """
    if source.is_flat:
        return None
    faces = result.face_of_corner
    broken = result.is_broken[faces]
    normals = attribute_transfer.unit_vectors(corners.blend(source.normals))
    normals[broken] = face_normals[faces][broken]
    return normals
