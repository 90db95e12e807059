# SPDX-License-Identifier: GPL-3.0-or-later
"""The points at which attachments link the surface of a body, with the colours of the rows: at rest, and of a bake."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import bpy
import numpy as np
import numpy.typing as npt
from mathutils import Matrix, Vector

from ...solver.bake.cache import CacheReader
from ...solver.runtime.arrays import Floats, Indices
from ...solver.runtime.errors import StorageFailed
from ..evaluation.evaluated_mesh import loose_edges, positions
from ..evaluation.matrix_units import transform_points
from ..evaluation.surface_tree import surface_tree
from ..evaluation.vertex_weights import group_weights
from ..objects import roles
from ..objects.attachment_rows import (
    attachment_owners,
    counting_rows,
    edge_rows,
    has_edges,
    holds_material,
    is_to_bone,
    is_without_target,
    row_surfaces,
    row_target,
)

MAX_POINTS_PER_ROW = 4000  # of more, evenly chosen ones are shown
Colour = tuple[float, float, float]


def row_colours(obj: bpy.types.Object) -> tuple[Colour, ...]:
    """Returns the colours of the rows of a body and its Wrap, as a bake numbers them."""
    return tuple(_colour(row) for _, row in _numbered_rows(obj))


def row_stamp(obj: bpy.types.Object) -> tuple:
    """Returns what the rows of a body and its Wrap say about points, and their colours."""
    return tuple(
        (
            (row.target_type, row.kind, row.reach, row.group, row.target_group),
            (row.stiffness > 0.0, row.bone, _colour(row), _target_stamp(row), _edges_stamp(row)),
        )
        for _, row in _numbered_rows(obj)
    )


def points_at_rest(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Iterator[tuple[Colour, Floats]]:
    """Yields the colour of each row that links the surface, and vertices in reach, in world space, (k, 3).

    An estimate at the rest pose: a bake links points all over the surface. Rows about all bones are left out.
    """
    for owner, row in _numbered_rows(obj):
        is_held = roles.is_flesh(obj) and is_to_bone(row) and holds_material(row)
        for target in [] if is_held or is_without_target(row) or has_edges(row) else row_surfaces(row):
            if target.type == "MESH":
                yield _colour(row), _vertices_in_reach(owner, target, row, depsgraph)


def edges_at_rest(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Iterator[tuple[Colour, Floats]]:
    """Yields the colour of each row with edges and the ends of these as drawn, in world space, (2 e, 3)."""
    for _, row in edge_rows(obj):
        evaluated = row.edges.evaluated_get(depsgraph)
        ends = positions(evaluated.data)[loose_edges(evaluated.data)].reshape(-1, 3)
        yield _colour(row), transform_points(np.array(evaluated.matrix_world), ends)


def baked_points(model: Mapping[str, npt.NDArray], x: npt.ArrayLike) -> Iterator[tuple[int, Floats]]:
    """Yields the number of each attachment of a body, and its points [m], (k, 3).

    Args:
        model: Arrays of the body in the cache.
        x: Positions of its nodes in a frame [m], (n, 3).
    """
    yield from _bound_points(model, np.asarray(x, np.float64))
    if "linked_attachment" not in model:
        return
    number, tet = np.asarray(model["linked_attachment"]), np.asarray(model["linked_tet"])
    corners = np.asarray(x, np.float64)[np.asarray(model["tets"])[tet]]
    points = np.einsum("ka,kai->ki", model["linked_weights"], corners)
    for each in np.unique(number).tolist():
        yield each, points[_evenly(np.flatnonzero(number == each))]


def broken_rows(reader: CacheReader, frame: int, key: str) -> set[int]:
    """Returns the numbers of the attachments of a body that have broken up to a frame, or to the nearest baked one."""
    baked = reader.baked_range()
    if baked is None:
        return set()
    try:
        return reader.broken_attachments(min(max(frame, baked[0]), baked[1]), key)
    except StorageFailed:
        return set()


def _bound_points(model: Mapping[str, npt.NDArray], x: Floats) -> Iterator[tuple[int, Floats]]:
    """Yields the same of nodes that attachments bind."""
    number = np.asarray(model.get("bound_attachment", np.zeros(0, np.int32)))
    for each in np.unique(number[number >= 0]).tolist():
        yield each, x[_evenly(np.flatnonzero(number == each))]


def _numbered_rows(obj: bpy.types.Object) -> Iterator[tuple[bpy.types.Object, bpy.types.PropertyGroup]]:
    for owner, _ in attachment_owners(obj):
        for _, row in counting_rows(owner, owner.sinew):
            yield owner, row


def _colour(row: bpy.types.PropertyGroup) -> Colour:
    red, green, blue = row.color
    return red, green, blue


def _target_stamp(row: bpy.types.PropertyGroup) -> tuple:
    target = row_target(row)
    return () if target is None else (target.name, *map(tuple, target.matrix_world))


def _edges_stamp(row: bpy.types.PropertyGroup) -> tuple:
    if not has_edges(row):
        return ()
    box = tuple(round(value, 6) for corner in row.edges.bound_box for value in corner)
    return row.edges.name, row.edges.mode, len(row.edges.data.edges), box, *map(tuple, row.edges.matrix_world)


def _vertices_in_reach(
    owner: bpy.types.Object, target: bpy.types.Object, row: bpy.types.PropertyGroup, depsgraph: bpy.types.Depsgraph
) -> Floats:
    evaluated, other = owner.evaluated_get(depsgraph), target.evaluated_get(depsgraph)
    points = transform_points(np.array(evaluated.matrix_world), positions(evaluated.data))
    group = owner.vertex_groups.get(row.group)
    if group is not None:
        points = points[group_weights(evaluated.data, [group.index])[0] > 0.0]
    points = points[_evenly(np.arange(len(points), dtype=np.int64))]
    tree = surface_tree(target, depsgraph)
    matrix: Matrix = other.matrix_world
    inverse = matrix.inverted_safe()

    def distance(point: Vector) -> float:
        place = tree.find_nearest(inverse @ point)[0]
        return np.inf if place is None else (matrix @ place - point).length

    return points[np.array([distance(Vector(point)) < row.reach for point in points.tolist()], bool)]


def _evenly(numbers: npt.NDArray[np.int64]) -> Indices | npt.NDArray[np.int64]:
    """Returns as many of some numbers as are shown, (k,)."""
    count = min(len(numbers), MAX_POINTS_PER_ROW)
    return numbers[np.linspace(0, max(len(numbers) - 1, 0), count).astype(np.int64)]
