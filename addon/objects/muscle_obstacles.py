# SPDX-License-Identifier: GPL-3.0-or-later
"""Bone meshes and muscles that the surface of a drawn muscle is kept out of, and where they were when it was drawn."""

from __future__ import annotations

from collections.abc import Iterator

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ...solver.mesh.geometry.manifold_defects import find_manifold_defects
from ...solver.runtime.arrays import Floats
from ..evaluation.evaluated_mesh import evaluated_mesh, positions, triangles
from ..evaluation.matrix_units import transform_points
from ..evaluation.mesh_signed_distance import MeshDistance, welded
from . import roles
from .mirror_symmetry import MirrorSymmetry

MIRRORED = (-1.0, 1.0, 1.0)


def obstacles_around(
    context: bpy.types.Context, low: Floats, high: Floats, without: bpy.types.Object | None = None
) -> list[bpy.types.Object]:
    """Returns the bone meshes and muscles of the scene whose boxes meet that from `low` to `high` in world space."""
    muscles = [obj for obj in roles.bodies(context.scene) if roles.is_flesh(obj) and obj.sinew.use_muscle]
    found = []
    for obj in [*roles.bones(context.scene), *muscles]:
        corners = np.array([obj.matrix_world @ Vector(corner) for corner in obj.bound_box])
        if obj != without and (corners.min(axis=0) <= high).all() and (corners.max(axis=0) >= low).all():
            found.append(obj)
    return found


def obstacle_distance(obj: bpy.types.Object, matrix: Matrix) -> MeshDistance | None:
    """Returns the distances from an obstacle, None where it is not closed, so that nothing is inside it.

    Args:
        obj: A bone mesh, as its modifiers make it, or a muscle, as it was modeled.
        matrix: Space of the distances ← object space.
    """
    if roles.is_flesh(obj):
        points, faces = positions(obj.data), triangles(obj.data)
    else:
        with evaluated_mesh(obj.evaluated_get(bpy.context.evaluated_depsgraph_get())) as mesh:
            points, faces = positions(mesh), triangles(mesh)
    points, faces = welded(points, faces)
    if not len(faces) or find_manifold_defects(faces) is not None:
        return None
    if matrix.determinant() < 0.0:
        faces = np.ascontiguousarray(faces[:, ::-1])
    return MeshDistance(transform_points(np.array(matrix), points), faces)


def store_obstacles(context: bpy.types.Context, obj: bpy.types.Object, points: Floats) -> None:
    """Stores which bone meshes and muscles are around points, (n, 3) in world space, and where they are now."""
    reach = 0.5 * obj.sinew.muscle_width
    table, inverse = obj.sinew.shape_obstacles, obj.matrix_world.inverted_safe()
    table.clear()
    for other in obstacles_around(context, points.min(axis=0) - reach, points.max(axis=0) + reach, obj):
        row = table.add()
        row.object = other
        _write_matrix(row, inverse @ other.matrix_world)


def open_obstacles(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """Returns what is around a drawn muscle, but has no inside that it could be kept out of."""
    found = (row.object for row in obj.sinew.shape_obstacles if row.object is not None)
    return [other for other in found if obstacle_distance(other, Matrix()) is None]


def stored_obstacles(obj: bpy.types.Object) -> Iterator[MeshDistance]:
    """Yields the distances from what was around a muscle when it was drawn, in the space of its path."""
    to_path = Matrix.Diagonal((*(MIRRORED if obj.sinew.shape_mirrored else (1.0, 1.0, 1.0)), 1.0))
    for row in obj.sinew.shape_obstacles:
        if row.object is not None and row.object.type == "MESH":
            distance = obstacle_distance(row.object, to_path @ _matrix(row))
            if distance is not None:
                yield distance


def mirror_obstacles(sides: MirrorSymmetry, obj: bpy.types.Object, made: bpy.types.Object, mirror: Matrix) -> None:
    """Lets a mirrored muscle keep out of the objects of the other side, as they are now.

    What is the same for both sides stays where it was.
    """
    to_made = (mirror @ obj.matrix_world @ mirror).inverted_safe()
    for row in made.sinew.shape_obstacles:
        if row.object is None:
            continue
        other = sides.object(row.object)
        is_same = other == row.object
        world = obj.matrix_world @ _matrix(row) if is_same else other.matrix_world
        row.object = other if other != made else None
        _write_matrix(row, to_made @ world)


def scale_obstacles(obj: bpy.types.Object, factor: float) -> None:
    """Lets a muscle that grows by a factor in its own space keep out of what it kept out of."""
    for row in obj.sinew.shape_obstacles:
        _write_matrix(row, Matrix.Scale(factor, 4) @ _matrix(row))


def _matrix(row: bpy.types.PropertyGroup) -> Matrix:
    """Returns where an obstacle was, space of the muscle ← its own."""
    return Matrix(np.array(row.matrix).reshape(4, 4))


def _write_matrix(row: bpy.types.PropertyGroup, matrix: Matrix) -> None:
    row.matrix = [value for line in matrix for value in line]
