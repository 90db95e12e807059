# SPDX-License-Identifier: GPL-3.0-or-later
"""Evaluated meshes as arrays: vertices, triangles, and weights of vertex groups or attributes by name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import bpy
import numpy as np
from mathutils import Matrix

from ...solver.runtime.arrays import Floats, Indices
from ...solver.runtime.errors import BadInput

# attribute types that can be weights, and the dtype of their values
WEIGHT_TYPES = {"FLOAT", "BOOLEAN", "INT", "INT8"}


@contextmanager
def evaluated_mesh(evaluated: bpy.types.Object) -> Iterator[bpy.types.Mesh]:
    """Yields the mesh of an evaluated object for the duration of the block."""
    mesh = evaluated.to_mesh()
    try:
        yield mesh
    finally:
        evaluated.to_mesh_clear()


def positions(mesh: bpy.types.Mesh) -> Floats:
    """Returns vertex positions [Blender units], object space, (n, 3)."""
    values = np.empty(len(mesh.vertices) * 3, np.float32)
    attribute = mesh.attributes.get("position")  # it is missing in Edit Mode, and without vertices
    if attribute is not None and len(attribute.data) == len(mesh.vertices):
        attribute.data.foreach_get("vector", values)  # one copy, instead of one per vertex
    else:
        mesh.vertices.foreach_get("co", values)
    return values.reshape(-1, 3).astype(np.float64)


def longest_side(points: Floats, matrix: Floats) -> float:
    """Returns the longest side of the box around `points` (n, 3) along the object's own axes, times its scale.

    This is the largest of Blender's Dimensions; rotation does not change it.
    """
    if len(points) == 0:
        return 0.0
    return float((np.ptp(points, axis=0) * np.linalg.norm(matrix[:3, :3], axis=0)).max())


def triangles(mesh: bpy.types.Mesh) -> Indices:
    """Returns the triangulated faces, (t, 3)."""
    mesh.calc_loop_triangles()
    values = np.empty(len(mesh.loop_triangles) * 3, np.int32)
    mesh.loop_triangles.foreach_get("vertices", values)
    return values.reshape(-1, 3)


def weights(evaluated: bpy.types.Object, mesh: bpy.types.Mesh, name: str, owner: str, field: str) -> Floats:
    """Returns the weights of a vertex group or attribute, clamped to 0 … 1, (n,).

    Args:
        evaluated: The evaluated object.
        mesh: Its mesh.
        name: Of a vertex group, or else of a vertex attribute, which a modifier may write.
        owner: Name of the object, for messages.
        field: Label of the setting that uses it.

    Raises:
        BadInput: The mesh has neither.
    """
    group = evaluated.vertex_groups.get(name)
    if group is not None:
        return np.clip(group_weights(mesh, [group.index])[0], 0.0, 1.0)
    attribute = mesh.attributes.get(name)
    if attribute is None:
        raise BadInput("group-gone", name=owner, group=name, field=field)
    if attribute.domain != "POINT" or attribute.data_type not in WEIGHT_TYPES:
        raise BadInput("attribute-not-weights", name=owner, group=name)
    values = raw_weights(attribute, len(mesh.vertices))
    return np.clip(np.nan_to_num(values.astype(np.float64)), 0.0, 1.0)


def raw_weights(attribute: bpy.types.Attribute, count: int) -> np.ndarray:
    """Returns the values of an attribute of one of `WEIGHT_TYPES`, as Blender stores them, (n,)."""
    kind = {"FLOAT": np.float32, "BOOLEAN": np.bool_}.get(attribute.data_type, np.int32)
    values = np.empty(count, kind)
    attribute.data.foreach_get("value", values)
    return values


def group_weights(mesh: bpy.types.Mesh, groups: Sequence[int]) -> Floats:
    """Returns the weights of the vertex groups of these indices, (k, n)."""
    row_of = {group: row for row, group in enumerate(groups)}
    values = np.zeros((len(groups), len(mesh.vertices)))
    for i, vertex in enumerate(mesh.vertices):
        for element in vertex.groups:
            row = row_of.get(element.group)
            if row is not None:
                values[row, i] = element.weight
    return values


def metres_matrix(matrix_world: Matrix, unit: float) -> Floats:
    """Returns world [m] ← object space [Blender units], with `unit` metres in a Blender unit, (4, 4)."""
    matrix = np.array(matrix_world, np.float64)
    matrix[:3] *= unit
    return matrix


def rigid_matrix(matrix_world: Matrix, unit: float) -> Floats:
    """Returns world [m] ← object space [m], (4, 4)."""
    matrix = metres_matrix(matrix_world, unit)
    matrix[:3, :3] /= unit
    return matrix


def to_world(matrix: Floats, points: Floats) -> Floats:
    """Returns `points` (n, 3) moved by `matrix` (4, 4)."""
    return points @ matrix[:3, :3].T + matrix[:3, 3]
