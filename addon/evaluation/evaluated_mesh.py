# SPDX-License-Identifier: GPL-3.0-or-later
"""Evaluated meshes as arrays of vertices and triangles."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import bpy
import numpy as np
import numpy.typing as npt

from ...solver.runtime.arrays import Bools, Floats, Indices


@contextmanager
def evaluated_mesh(evaluated: bpy.types.Object) -> Iterator[bpy.types.Mesh]:
    """Yields the mesh of an evaluated object for the duration of the block."""
    mesh = evaluated.to_mesh()
    try:
        yield mesh
    finally:
        evaluated.to_mesh_clear()


def raw_positions(mesh: bpy.types.Mesh) -> npt.NDArray[np.float32]:
    """Returns vertex positions [Blender units], object space, as Blender stores them, (n, 3)."""
    values = np.empty(len(mesh.vertices) * 3, np.float32)
    attribute = mesh.attributes.get("position")  # it is missing in Edit Mode, and without vertices
    if attribute is not None and len(attribute.data) == len(mesh.vertices):
        attribute.data.foreach_get("vector", values)  # one copy, instead of one per vertex
    else:
        mesh.vertices.foreach_get("co", values)
    return values.reshape(-1, 3)


def positions(mesh: bpy.types.Mesh) -> Floats:
    """Returns vertex positions [Blender units], object space, (n, 3)."""
    return raw_positions(mesh).astype(np.float64)


def loose_edges(mesh: bpy.types.Mesh) -> Indices:
    """Returns the vertices of the edges without faces, (m, 2)."""
    ends, is_loose = np.empty(2 * len(mesh.edges), np.int32), np.zeros(len(mesh.edges), bool)
    mesh.edges.foreach_get("vertices", ends)
    mesh.edges.foreach_get("is_loose", is_loose)
    return ends.reshape(-1, 2)[is_loose]


def have_faces(mesh: bpy.types.Mesh, edges: Indices) -> Bools:
    """Returns whether both vertices of edges, (m, 2), have faces, (m,)."""
    has_face = np.zeros(len(mesh.vertices), bool)
    has_face[corner_vertices(mesh)] = True
    return has_face[edges].all(axis=1)


def longest_side(points: Floats, matrix: Floats) -> float:
    """Returns the longest side of the box around `points` (n, 3) along the object's own axes, times its scale.

    This is the largest of Blender's Dimensions; rotation does not change it.
    """
    if len(points) == 0:
        return 0.0
    columns = np.ascontiguousarray(points.T)  # at least twice as fast as along rows of three
    return float((np.ptp(columns, axis=1) * np.linalg.norm(matrix[:3, :3], axis=0)).max())


def triangles(mesh: bpy.types.Mesh) -> Indices:
    """Returns the triangulated faces, (t, 3)."""
    mesh.calc_loop_triangles()
    values = np.empty(len(mesh.loop_triangles) * 3, np.int32)
    mesh.loop_triangles.foreach_get("loops", values)
    return corner_vertices(mesh)[values].reshape(-1, 3)


def corner_vertices(mesh: bpy.types.Mesh) -> npt.NDArray[np.int32]:
    """Returns the vertex of each corner, (l,)."""
    values = np.empty(len(mesh.loops), np.int32)
    attribute = mesh.attributes.get(".corner_vert")
    if attribute is not None and len(attribute.data) == len(values):
        attribute.data.foreach_get("value", values)  # one copy, as above
    else:
        mesh.loops.foreach_get("vertex_index", values)
    return values


def polygon_starts(mesh: bpy.types.Mesh) -> npt.NDArray[np.int32]:
    """Returns the first corner of each polygon, and the number of corners, (p + 1,)."""
    starts = np.empty(len(mesh.polygons) + 1, np.int32)
    mesh.polygons.foreach_get("loop_start", starts[:-1])
    starts[-1] = len(mesh.loops)
    return starts


def polygon_of_triangle(starts: npt.NDArray[np.int32]) -> Indices:
    """Returns the polygon of each triangle of `triangles(mesh)` for its `polygon_starts`, (t,), rising."""
    corners = np.diff(starts)
    # a polygon of n corners has n − 2, in the order of the polygons; Blender gives them one by one, which takes longer
    return np.repeat(np.arange(len(corners), dtype=np.int32), corners - 2)
