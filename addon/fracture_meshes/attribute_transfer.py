# SPDX-License-Identifier: GPL-3.0-or-later
"""Transfers values of a render mesh to the vertices, corners, edges and faces of its cut mesh. Knows no Blender."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...solver.runtime.arrays import Floats, Indices
from ..cache.final_mesh_file import StoredResult

# a smaller weight counts as zero: the corner is on an edge or at a vertex
EDGE_WEIGHT_TOLERANCE = 1.0e-7


@dataclass(frozen=True)
class MeshTopology:
    """The topology of a render mesh of l corners, t triangles and p polygons.

    Attributes:
        loop_vertex: Vertex of each corner, (l,).
        loop_edge: Edge from each corner to the next one around its polygon, (l,).
        polygon_start: First corner of each polygon, and l at the end, (p + 1,).
        triangle_loops: Corners of each triangle, (t, 3).
        polygon_of_triangle: Polygon of each triangle, (t,).
    """

    loop_vertex: Indices
    loop_edge: Indices
    polygon_start: Indices
    triangle_loops: Indices
    polygon_of_triangle: Indices

    @property
    def next_loop(self) -> npt.NDArray[np.int64]:
        """The corner that follows each one around its polygon, (l,)."""
        following = np.arange(1, len(self.loop_vertex) + 1, dtype=np.int64)
        following[self.polygon_start[1:] - 1] = self.polygon_start[:-1]
        return following


@dataclass(frozen=True)
class SourcePositions:
    """Positions on the render mesh: three of its corners or vertices each, and their weights.

    Attributes:
        indices: Three indices each, (n, 3).
        weights: (n, 3), sum 1.
    """

    indices: Indices
    weights: Floats

    def blend(self, values: npt.NDArray) -> Floats:
        """Returns the weighted mean of `values` (m, …) at every position, (n, …)."""
        picked = np.asarray(values, np.float64)[self.indices]
        return np.einsum("ij,ij...->i...", self.weights, picked)

    def pick(self, values: npt.NDArray) -> npt.NDArray:
        """Returns the value of the largest weight at every position, for values without a mean, (n, …)."""
        strongest = np.argmax(self.weights, axis=1)
        return values[self.indices[np.arange(len(self.indices), dtype=np.int64), strongest]]


def locate_on_source(
    result: StoredResult, topology: MeshTopology, nearest: Callable[[Indices], Indices]
) -> tuple[SourcePositions, SourcePositions]:
    """Returns the positions of a result's vertices (by vertices) and corners (by corners) on the render mesh.

    Vertices that are on broken faces only take the values of the nearest vertex of the render mesh.

    Args:
        result: The result.
        topology: Of the render mesh.
        nearest: Maps vertices of the result to the nearest vertex of the render mesh.
    """
    count = len(result.rest)
    triangle = np.full(count, -1, np.int64)
    weights = np.zeros((count, 3))
    on_mesh = np.flatnonzero(result.corner_triangle >= 0)[::-1]  # the first of several corners counts
    triangle[result.corners[on_mesh]] = result.corner_triangle[on_mesh]
    weights[result.corners[on_mesh]] = result.corner_weights[on_mesh]
    loops = topology.triangle_loops[np.maximum(triangle, 0)]
    inside = np.flatnonzero(triangle < 0)
    if len(inside):
        loops[inside] = _any_loop_of_vertex(topology)[nearest(inside)][:, None]
        weights[inside] = [1.0, 0.0, 0.0]
    vertices = topology.loop_vertex[loops]
    on_source = np.flatnonzero(result.source_vertex >= 0)
    vertices[on_source] = result.source_vertex[on_source, None]
    weights[on_source] = [1.0, 0.0, 0.0]

    broken = result.corner_triangle < 0
    own = topology.triangle_loops[np.maximum(result.corner_triangle, 0)]
    corner_loops = np.where(broken[:, None], loops[result.corners], own)
    corner_weights = np.where(broken[:, None], weights[result.corners], result.corner_weights)
    return SourcePositions(vertices, weights), SourcePositions(corner_loops, corner_weights)


def _any_loop_of_vertex(topology: MeshTopology) -> Indices:
    """Returns one of the corners of each vertex, (n,)."""
    found = np.zeros(int(topology.loop_vertex.max()) + 1, np.int32)
    found[topology.loop_vertex] = np.arange(len(topology.loop_vertex), dtype=np.int64)
    return found


def source_edges(result: StoredResult, topology: MeshTopology) -> Indices:
    """Returns, for the edge after each corner of a result, the edge of the render mesh that contains it, or −1."""
    first, second = _border_edges(result, topology)
    following = result.next_corner
    shared = np.full(len(result.corners), -1, np.int64)
    for mine in (first, second):
        for other in (first, second):
            same = (mine >= 0) & (mine == other[following])
            shared[same] = mine[same]
    return np.where(shared >= 0, topology.loop_edge[np.maximum(shared, 0)], -1)


def _border_edges(result: StoredResult, topology: MeshTopology) -> tuple[Indices, Indices]:
    """Returns the one or two edges of its polygon that contain each corner of a result, by their corners."""
    triangle = np.maximum(result.corner_triangle, 0)
    loops = topology.triangle_loops[triangle]
    rows = np.arange(len(loops), dtype=np.int64)
    weights = result.corner_weights
    following = topology.next_loop
    previous = np.empty_like(following)
    previous[following] = np.arange(len(following), dtype=np.int64)

    smallest, largest = np.argmin(weights, axis=1), np.argmax(weights, axis=1)
    begin, end = loops[rows, (smallest + 1) % 3], loops[rows, (smallest + 2) % 3]
    on_border = (weights[rows, smallest] <= EDGE_WEIGHT_TOLERANCE) & (following[begin] == end)
    first = np.where(on_border, begin, -1)
    at_vertex = weights[rows, largest] >= 1.0 - 2.0 * EDGE_WEIGHT_TOLERANCE
    corner = loops[rows, largest]
    first = np.where(at_vertex, corner, first)
    second = np.where(at_vertex, previous[corner], -1)
    broken = result.corner_triangle < 0
    return np.where(broken, -1, first), np.where(broken, -1, second)


def face_normals(points: Floats, starts: Indices, corners: Indices) -> Floats:
    """Returns unit normals of polygons (f, 3), by Newell; zero where a polygon has no area."""
    following = np.arange(1, len(corners) + 1, dtype=np.int64)
    following[starts[1:] - 1] = starts[:-1]
    a = points[corners]
    b = a[following]
    sums = np.add.reduceat(np.cross(a - points.mean(axis=0), b - points.mean(axis=0)), starts[:-1], axis=0)
    return unit_vectors(sums)


def unit_vectors(vectors: Floats) -> Floats:
    """Returns the vectors (n, 3) with length 1; zero stays zero."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0)


def box_projection(points: Floats, normals: Floats, size: float) -> Floats:
    """Returns UVs (n, 2) of points (n, 3), projected along the axis nearest to their normals (n, 3).

    One unit of UV is `size`. Images are not mirrored on either side.
    """
    axis = np.argmax(np.abs(normals), axis=1)
    rows = np.arange(len(points), dtype=np.int64)
    u = points[rows, (axis + 1) % 3] * np.where(normals[rows, axis] < 0, -1.0, 1.0)
    v = points[rows, (axis + 2) % 3]
    return np.stack([u, v], axis=1) / (size or 1.0)
