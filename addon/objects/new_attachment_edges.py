# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws edges from vertices of a body to the nearest places of what a row of its attachments is about."""

from __future__ import annotations

import bpy
import numpy as np
from mathutils import Vector
from mathutils.bvhtree import BVHTree

from ...solver.runtime.arrays import Floats, Indices
from ..evaluation.matrix_units import transform_points

NAME = "{name} Edges"


def nearest_places(points: Floats, vertices: Floats, triangles: Indices) -> Floats:
    """Returns the places of a surface, or the vertices of what has no faces, that are nearest to points, (k, 3)."""
    if not len(triangles):
        squares = np.square(points[:, None] - vertices[None]).sum(axis=2)
        return vertices[np.argmin(squares, axis=1)]
    tree = BVHTree.FromPolygons(vertices.tolist(), triangles.tolist())
    return np.array([tree.find_nearest(Vector(point))[0] for point in points.tolist()], np.float64).reshape(-1, 3)


def add_edges(obj: bpy.types.Object, row: bpy.types.PropertyGroup, begins: Floats, ends: Floats) -> int:
    """Adds edges to the mesh of edges of a row, or to a new one beside the body; returns how many.

    Args:
        obj: The body.
        row: Of its attachments.
        begins, ends: Of the edges, world [Blender units], (k, 3) each.
    """
    if row.edges is None or not row.edges.users_scene:
        name = NAME.format(name=obj.name)
        made = bpy.data.objects.new(name, bpy.data.meshes.new(name))
        made.hide_render = True
        obj.users_collection[0].objects.link(made)
        row.edges = made
    mesh, count = row.edges.data, len(begins)
    first_vertex, first_edge = len(mesh.vertices), len(mesh.edges)
    world = np.stack([begins, ends], axis=1).reshape(-1, 3)
    local = transform_points(np.array(row.edges.matrix_world.inverted_safe(), np.float64), world)
    mesh.vertices.add(2 * count)
    mesh.edges.add(count)
    for number, place in enumerate(local.tolist(), first_vertex):
        mesh.vertices[number].co = place
    for number in range(count):
        mesh.edges[first_edge + number].vertices = first_vertex + 2 * number, first_vertex + 2 * number + 1
    mesh.update()
    return count
