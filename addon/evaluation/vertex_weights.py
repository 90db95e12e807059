# SPDX-License-Identifier: GPL-3.0-or-later
"""Weights of the vertices of an evaluated mesh, from a vertex group or an attribute."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import numpy as np

from ...solver.runtime.arrays import Floats
from ...solver.runtime.errors import BadInput
from .prefetched_vertex_weights import all_weights

# attribute types that can be weights
WEIGHT_TYPES = {"FLOAT", "BOOLEAN", "INT", "INT8"}
VECTOR_TYPE = "FLOAT_VECTOR"  # of attributes that can be directions


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
        found = all_weights(evaluated.original, mesh).of_group(group.index, len(mesh.vertices))
        return np.clip(found.astype(np.float64), 0.0, 1.0)
    attribute = mesh.attributes.get(name)
    if attribute is None:
        raise BadInput("group-gone", name=owner, group=name, field=field)
    if attribute.domain != "POINT" or attribute.data_type not in WEIGHT_TYPES:
        raise BadInput("attribute-not-weights", name=owner, group=name)
    values = raw_weights(attribute, len(mesh.vertices))
    return np.clip(np.nan_to_num(values.astype(np.float64)), 0.0, 1.0)


def vectors(mesh: bpy.types.Mesh, name: str, owner: str, field: str) -> Floats:
    """Returns the vectors of a vertex attribute, (n, 3).

    Args:
        mesh: Of the evaluated object.
        name: Of the attribute, which a modifier may write.
        owner: Name of the object, for messages.
        field: Label of the setting that uses it.

    Raises:
        BadInput: The mesh has no such attribute, or one of another kind.
    """
    attribute = mesh.attributes.get(name)
    if attribute is None:
        raise BadInput("group-gone", name=owner, group=name, field=field)
    if attribute.domain != "POINT" or attribute.data_type != VECTOR_TYPE:
        raise BadInput("attribute-not-vectors", name=owner, group=name)
    return np.nan_to_num(raw_vectors(attribute, len(mesh.vertices)).astype(np.float64))


def raw_vectors(attribute: bpy.types.Attribute, count: int) -> np.ndarray:
    """Returns the values of a vector attribute, as Blender stores them, (n, 3)."""
    values = np.empty(3 * count, np.float32)
    attribute.data.foreach_get("vector", values)
    return values.reshape(-1, 3)


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
