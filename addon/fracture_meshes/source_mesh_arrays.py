# SPDX-License-Identifier: GPL-3.0-or-later
"""The exported render mesh as arrays: its topology and all its layers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

import bpy
import numpy as np
import numpy.typing as npt
from mathutils import Matrix, Vector
from mathutils.kdtree import KDTree

from ...solver.runtime.arrays import Floats, Indices
from ..blender_data import sinew_modifier
from ..evaluation.evaluated_mesh import corner_vertices, evaluated_mesh, polygon_of_triangle, polygon_starts, positions
from ..evaluation.prefetched_vertex_weights import all_weights
from ..evaluation.scene_copy import SceneCopy
from .attribute_transfer import MeshTopology

# per attribute type: name of the value, numbers per value, whether a mean makes sense
ATTRIBUTE_TYPES = {
    "FLOAT": ("value", 1, np.float32, True),
    "FLOAT2": ("vector", 2, np.float32, True),
    "FLOAT_VECTOR": ("vector", 3, np.float32, True),
    "FLOAT_COLOR": ("color", 4, np.float32, True),
    "BYTE_COLOR": ("color", 4, np.float32, True),
    "INT": ("value", 1, np.int32, False),
    "INT8": ("value", 1, np.int32, False),
    "BOOLEAN": ("value", 1, np.bool_, False),
    "INT32_2D": ("value", 2, np.int32, False),
    "INT16_2D": ("value", 2, np.int32, False),
    "QUATERNION": ("value", 4, np.float32, False),
    "FLOAT4X4": ("value", 16, np.float32, False),
}
# attributes that Blender makes itself, or that the result has of its own
NOT_TRANSFERRED = {"position", "custom_normal", "material_index", "broken", "piece", "opens"}
# names with a leading dot belong to the editor, except seams
TRANSFERRED_HIDDEN = {".uv_seam"}


@dataclass(frozen=True)
class Layer:
    """One attribute: its name, type and domain as Blender calls them, and its values, (n,) or (n, k)."""

    name: str
    type: str
    domain: str
    values: npt.NDArray


@dataclass(frozen=True)
class SourceMesh:
    """A render mesh.

    Attributes:
        points: Vertices [Blender units], object space, (n, 3).
        topology: Of the mesh.
        triangle_vertices: Vertices of its triangles, (t, 3).
        normals: Shading normals of its corners, (l, 3).
        layers: Its attributes.
        materials: Of its slots.
        material_index: Slot of each polygon, (p,).
        groups: Name of each vertex group in use, and the weights of all vertices, (n,).
        uv_maps: Names of the UV maps, of the active one and of the rendered one.
        colours: Names of the active and of the rendered colour attribute, or "".
        matrix: World ← object space.
        has_custom_normals: Whether its shading normals differ from those that Blender computes from its faces.
        is_flat: Whether all its faces are flat shaded; renderers then use the normals of triangles.
    """

    points: Floats
    topology: MeshTopology
    triangle_vertices: npt.NDArray
    normals: Floats
    layers: list[Layer]
    materials: list[bpy.types.Material | None]
    material_index: npt.NDArray
    groups: dict[str, Floats]
    uv_maps: tuple[list[str], str, str]
    colours: tuple[str, str]
    matrix: Matrix
    has_custom_normals: bool
    is_flat: bool

    def nearest(self, points: Floats) -> Indices:
        """Returns the vertex nearest to each of the points (n, 3), (n,)."""
        return np.array([self._tree.find(point)[1] for point in points.tolist()], np.int64)

    @cached_property
    def _tree(self) -> KDTree:
        used = np.unique(self.topology.loop_vertex)
        tree = KDTree(len(used))
        for vertex in used.tolist():
            tree.insert(Vector(self.points[vertex]), vertex)
        tree.balance()
        return tree


def read_source(scene: bpy.types.Scene, obj: bpy.types.Object, frame: int) -> SourceMesh:
    """Returns the mesh of `obj` before Sinew's modifier, at a frame."""
    with SceneCopy(scene, {obj: sinew_modifier.input_modifier_count(obj)}) as scene_copy:
        scene_copy.set_frame(frame)
        evaluated = scene_copy.evaluated(obj)
        with evaluated_mesh(evaluated) as mesh:
            return _read(mesh, evaluated)


def read_modeled(scene: bpy.types.Scene, obj: bpy.types.Object) -> SourceMesh:
    """Returns the mesh of `obj` without any modifier."""
    with SceneCopy(scene, {obj: 0}) as scene_copy:
        scene_copy.set_frame(scene.frame_current)
        evaluated = scene_copy.evaluated(obj)
        with evaluated_mesh(evaluated) as mesh:
            return _read(mesh, evaluated)


def _read(mesh: bpy.types.Mesh, evaluated: bpy.types.Object) -> SourceMesh:
    mesh.calc_loop_triangles()
    starts = polygon_starts(mesh)
    topology = MeshTopology(
        # as attributes: Blender copies these a hundred times faster than the properties of corners
        corner_vertices(mesh),
        read_property(mesh.attributes[".corner_edge"].data, "value", np.int32),
        starts,
        read_property(mesh.loop_triangles, "loops", np.int32, 3),
        polygon_of_triangle(starts),
    )
    uv, colours = mesh.uv_layers, mesh.color_attributes
    rendered = next((layer.name for layer in uv if layer.active_render), "")
    shown = colours[colours.render_color_index].name if colours.render_color_index >= 0 else ""
    return SourceMesh(
        points=positions(mesh),
        topology=topology,
        triangle_vertices=topology.loop_vertex[topology.triangle_loops],
        normals=read_property(mesh.corner_normals, "vector", np.float32, 3).astype(np.float64),
        layers=list(_layers(mesh)),
        materials=[slot.material.original if slot.material else None for slot in evaluated.material_slots],
        material_index=_material_indices(mesh),
        groups=_groups(evaluated, mesh),
        uv_maps=([layer.name for layer in uv], uv.active.name if uv.active else "", rendered),
        colours=(colours.active_color_name or "", shown),
        matrix=evaluated.matrix_world.copy(),
        has_custom_normals=mesh.has_custom_normals,
        is_flat=mesh.normals_domain == "FACE",
    )


def _material_indices(mesh: bpy.types.Mesh) -> npt.NDArray:
    attribute = mesh.attributes.get("material_index")
    if attribute is None:
        return np.zeros(len(mesh.polygons), np.int32)  # as the property of polygons is then, which takes long to read
    if (attribute.domain, attribute.data_type) == ("FACE", "INT"):
        return read_property(attribute.data, "value", np.int32)
    return read_property(mesh.polygons, "material_index", np.int32)


def read_property(items: bpy.types.bpy_prop_collection, name: str, kind: type, width: int = 1) -> npt.NDArray:
    """Returns one property of all items, (n,) or (n, width)."""
    values: npt.NDArray = np.empty(len(items) * width, kind)
    items.foreach_get(name, values)
    return values if width == 1 else values.reshape(-1, width)


def _layers(mesh: bpy.types.Mesh) -> Iterator[Layer]:
    for attribute in mesh.attributes:
        name = attribute.name
        hidden = name.startswith(".") and name not in TRANSFERRED_HIDDEN
        if hidden or name in NOT_TRANSFERRED or attribute.data_type not in ATTRIBUTE_TYPES:
            continue
        value, width, kind, _ = ATTRIBUTE_TYPES[attribute.data_type]
        yield Layer(name, attribute.data_type, attribute.domain, read_property(attribute.data, value, kind, width))


def _groups(evaluated: bpy.types.Object, mesh: bpy.types.Mesh) -> dict[str, Floats]:
    names = [group.name for group in evaluated.vertex_groups]
    if not names:
        return {}
    found, count = all_weights(evaluated.original, mesh), len(mesh.vertices)
    return {name: found.of_group(group, count).astype(np.float64) for group, name in enumerate(names)}


@contextmanager
def removing_on_failure(mesh: bpy.types.Mesh) -> Iterator[None]:
    """Removes an incomplete mesh if the block fails."""
    try:
        yield
    except BaseException:
        bpy.data.meshes.remove(mesh)
        raise
