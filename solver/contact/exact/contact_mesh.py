# SPDX-License-Identifier: GPL-3.0-or-later
"""All surfaces of a scene that Exact contact keeps apart, as one mesh, and its pairs that are close."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...mesh.geometry.box_tree import LEAF_SIZE, BoxTree, build_box_tree
from ...mesh.geometry.closedness import has_inside
from ...runtime.arrays import Bools, Floats, Indices, floats
from ...runtime.jit import kernel

Int64s = npt.NDArray[np.int64]

STACK_SIZE = 64
NO_STRANDS = np.zeros((0, 2), np.int32)
# what is behind a surface: nothing, as behind a sheet; its inside; all that is below a plane
OPEN, CLOSED, HALF_SPACE = range(3)
MIXED, NOTHING = -1, -2  # below a node of a tree: features of several surfaces, none


@dataclass(frozen=True, eq=False)
class ContactMesh:
    """Vertices, edges and triangles of all surfaces.

    Attributes:
        rest: Vertices at rest [m], (n, 3).
        triangles: (t, 3).
        edges: Each once, the smaller vertex first, (e, 2).
        points: Vertices that are tested against triangles, (p,).
        point_area: Their share of the surface, 0 for other vertices [m²], (n,).
        surface: Of each vertex, (n,).
        may_touch: Which surfaces are kept apart, symmetric; the diagonal says which from themselves, (s, s).
        owner: The surface whose body each one belongs to: itself, but for further points of a body, (s,).
        side: What is behind each: `OPEN`, `CLOSED` or `HALF_SPACE`, (s,).
        start: Vertices where the simulation begins [m], (n, 3): what is close there is kept no farther apart.
        thickness: Of each surface; two keep the sum of theirs [m], (s,).
    """

    rest: Floats
    triangles: Indices
    edges: Indices
    points: Indices
    point_area: Floats
    surface: Indices
    may_touch: Bools
    owner: Indices
    side: Indices
    start: Floats
    thickness: Floats

    @functools.cached_property
    def edge_area(self) -> Floats:
        """A third of the triangles beside each edge, but no more than either end has, or what these have [m²], (e,)."""
        third, numbers = triangle_areas(self.rest, self.triangles) / 3.0, self.edge_numbers(self.edges)
        places = np.searchsorted(numbers, self.edge_numbers(np.sort(_sides(self.triangles), axis=1)))
        area = np.bincount(places, np.repeat(third, 3), len(numbers))
        ends = self.point_area[self.edges].min(axis=1, initial=np.inf)
        return np.where(area > 0.0, np.minimum(area, ends), ends)

    def edge_numbers(self, edges: Indices) -> Int64s:
        """Returns a number for each edge, the smaller vertex first, (k, 2), which rises along `edges`, (k,)."""
        return edges[:, 0].astype(np.int64) * np.int64(len(self.rest)) + edges[:, 1]


class ClosePairs(NamedTuple):
    """Pairs of features, each as four vertices.

    Attributes:
        point_triangle: A point and a triangle, (k, 4).
        edge_edge: Both ends of two edges, (m, 4).
    """

    point_triangle: Indices
    edge_edge: Indices


class BoxedFeatures(NamedTuple):
    """Features of one kind with the boxes around their paths.

    Attributes:
        vertices: Of each feature, (k, c).
        lower, upper: Corners of the boxes [m], (k, 3).
    """

    vertices: Indices
    lower: Floats
    upper: Floats


class TreeArrays(NamedTuple):
    """The arrays of a `BoxTree`, as kernels take them.

    Attributes:
        lower, upper, order: See `BoxTree`.
        surface: The surface that all features below a node belong to, or `MIXED`, (nodes,).
    """

    lower: Floats
    upper: Floats
    order: Indices
    surface: Indices


def make_contact_mesh(
    rest: Floats,
    triangles: Indices,
    surface: Indices,
    may_touch: Bools,
    point_area: Floats | None = None,
    owner: Indices | None = None,
    is_half_space: Bools | None = None,
    strands: Indices | None = None,
) -> ContactMesh:
    """Returns the mesh of triangles, (t, 3), and strands, (e, 2), over vertices at rest [m], (n, 3); see `ContactMesh`.

    Without `point_area`, each vertex has a third of its triangles, and those of no triangle are no points. Without
    `owner`, each surface is its own. `is_half_space`, (s,), says which are planes with everything below inside.
    """
    sides = np.sort(np.concatenate([_sides(triangles), NO_STRANDS if strands is None else strands]), axis=1)
    edges = np.unique(sides, axis=0).astype(np.int32)
    shares = vertex_areas(rest, triangles)
    is_point = np.zeros(len(rest), bool)
    is_point[triangles] = True
    if point_area is not None:
        shares, is_point = point_area, is_point | (point_area > 0.0)
    points = np.flatnonzero(is_point).astype(np.int32)
    own = np.arange(len(may_touch), dtype=np.int32) if owner is None else owner
    side = surface_sides(rest, triangles, surface[triangles[:, 0]], len(may_touch))
    if is_half_space is not None:
        side[is_half_space] = HALF_SPACE
    none = np.zeros(len(may_touch))
    return ContactMesh(rest, triangles, edges, points, shares, surface, may_touch, own, side, rest, none)


def loose_edges(mesh: ContactMesh) -> Indices:
    """Returns the edges of no triangle, (e, 2)."""
    count, sides = np.int64(len(mesh.rest)), np.sort(_sides(mesh.triangles), axis=1).astype(np.int64)
    edges = mesh.edges.astype(np.int64)
    return mesh.edges[~np.isin(edges[:, 0] * count + edges[:, 1], sides[:, 0] * count + sides[:, 1])]


def _sides(triangles: Indices) -> Indices:
    """Returns the sides of triangles, (3 t, 2)."""
    return triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)


def surface_sides(rest: Floats, triangles: Indices, surface: Indices, count: int) -> Indices:
    """Returns which of `count` surfaces of triangles, (t,), are `CLOSED` and which `OPEN`, (count,)."""
    sides = np.full(count, OPEN, np.int32)
    for number in np.unique(surface):
        used, corners = np.unique(triangles[surface == number], return_inverse=True)
        if has_inside(rest[used], corners.reshape(-1, 3)):
            sides[number] = CLOSED
    return sides


def vertex_areas(rest: Floats, triangles: Indices) -> Floats:
    """Returns a third of the triangles of each vertex [m²], (n,)."""
    third = triangle_areas(rest, triangles) / 3.0
    return floats(np.bincount(triangles.ravel(), np.repeat(third, 3), len(rest)))


def triangle_areas(rest: Floats, triangles: Indices) -> Floats:
    """Returns areas of triangles [m²], (t,)."""
    corners = rest[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return 0.5 * np.linalg.norm(normals, axis=1)


def close_pairs(mesh: ContactMesh, start: Floats, end: Floats, reach: float) -> ClosePairs:
    """Returns all pairs whose boxes come closer than `reach` on straight paths, without those that share a vertex.

    Args:
        mesh: The surfaces.
        start, end: Vertices at both ends of their paths [m], (n, 3).
        reach: Distance beyond their thickness [m].
    """
    points, triangles, edges = (
        _boxed(mesh, vertices, start, end) for vertices in (mesh.points[:, None], mesh.triangles, mesh.edges)
    )
    points, far_edges = (
        BoxedFeatures(each.vertices, each.lower - reach, each.upper + reach) for each in (points, edges)
    )
    return ClosePairs(
        _overlapping(points, triangles, mesh, is_same=False), _overlapping(far_edges, edges, mesh, is_same=True)
    )


def _boxed(mesh: ContactMesh, vertices: Indices, start: Floats, end: Floats) -> BoxedFeatures:
    """Returns features of a mesh with boxes that contain their paths and their thickness."""
    lower, upper = np.empty((2, len(vertices), 3))
    fill_feature_boxes(vertices, start, end, mesh.thickness[mesh.surface[vertices[:, 0]]], lower, upper)
    return BoxedFeatures(vertices, lower, upper)


@kernel()
def fill_feature_boxes(vertices, start, end, thickness, lower, upper):
    """Writes corners of boxes around the paths of features and their thickness [m], (k, 3).

    Args:
        vertices: Of each feature, (k, c).
        start, end: Vertices at both ends of their paths [m], (n, 3).
        thickness: Of each feature [m], (k,).
        lower, upper: Out.
    """
    for feature in range(len(vertices)):
        for axis in range(3):
            low, high = np.inf, -np.inf
            for vertex in vertices[feature]:
                low = min(low, start[vertex, axis], end[vertex, axis])
                high = max(high, start[vertex, axis], end[vertex, axis])
            lower[feature, axis], upper[feature, axis] = low - thickness[feature], high + thickness[feature]


def _overlapping(first: BoxedFeatures, second: BoxedFeatures, mesh: ContactMesh, *, is_same: bool) -> Indices:
    """Returns the four vertices of all pairs of features whose boxes overlap, (k, 4).

    Args:
        first, second: The features.
        mesh: Says which surfaces may touch.
        is_same: Whether both are the same features: each pair then counts once.
    """
    if not len(first.vertices) or not len(second.vertices):
        return np.zeros((0, 4), np.int32)
    tree: BoxTree = build_box_tree(second.lower, second.upper)
    below = np.full(len(tree.lower), NOTHING, np.int32)
    fill_node_surfaces(tree.order, mesh.surface[second.vertices[:, 0]], below)
    arrays = TreeArrays(tree.lower, tree.upper, tree.order, below)
    pairs = np.empty((8 * len(first.vertices) + 64, 4), np.int32)
    while True:
        count = fill_overlapping_pairs(first, second, arrays, mesh.surface, mesh.may_touch, is_same, pairs)
        if count <= len(pairs):
            return pairs[:count]
        pairs = np.empty((count, 4), np.int32)


@kernel()
def fill_node_surfaces(order, surface, below):
    """Writes which surface all features below each node of a tree belong to, where there is one.

    Args:
        order: Of `BoxTree`.
        surface: Of each feature, (k,).
        below: Out, `NOTHING` everywhere, (nodes,).
    """
    leaves = len(below) // 2
    for place in range(len(order)):
        leaf, own = leaves + place // LEAF_SIZE, surface[order[place]]
        below[leaf] = own if below[leaf] == NOTHING or below[leaf] == own else MIXED
    for node in range(leaves - 1, 0, -1):
        one, other = below[2 * node], below[2 * node + 1]
        if one == NOTHING or other == NOTHING:
            below[node] = max(one, other)
        else:
            below[node] = one if one == other else MIXED


@kernel()
def fill_overlapping_pairs(first, second, tree, surface, may_touch, is_same, pairs):
    """Writes the vertices of pairs of features whose boxes overlap; returns how many there are.

    Args:
        first, second: `BoxedFeatures`.
        tree: `TreeArrays` of the second.
        surface, may_touch: See `ContactMesh`.
        is_same: Whether both are the same features.
        pairs: Out, (room, 4).
    """
    count, leaves = 0, len(tree.lower) // 2
    stack = np.empty(STACK_SIZE, np.int64)
    ends = first.vertices.shape[1]
    for f in range(len(first.vertices)):
        lower, upper, own = first.lower[f], first.upper[f], surface[first.vertices[f, 0]]
        stack[0], height = 1, 1
        while height > 0:
            height -= 1
            node = stack[height]
            if tree.surface[node] >= 0 and not may_touch[own, tree.surface[node]]:
                continue
            if _are_apart(lower, upper, tree.lower[node], tree.upper[node]):
                continue
            if node < leaves:
                stack[height], stack[height + 1] = 2 * node + 1, 2 * node
                height += 2
                continue
            begin = (node - leaves) * LEAF_SIZE
            for s in tree.order[begin : min(begin + LEAF_SIZE, len(tree.order))]:
                if is_same and s <= f:
                    continue
                if not may_touch[own, surface[second.vertices[s, 0]]]:
                    continue
                if _are_apart(lower, upper, second.lower[s], second.upper[s]):
                    continue
                if _share_vertex(first.vertices[f], second.vertices[s]):
                    continue
                if count < len(pairs):
                    for i in range(4):
                        pairs[count, i] = first.vertices[f, i] if i < ends else second.vertices[s, i - ends]
                count += 1
    return count


@kernel(device_only=True)
def _are_apart(lower, upper, other_lower, other_upper):
    """Returns whether two boxes have nothing in common."""
    for axis in range(3):
        if lower[axis] > other_upper[axis] or upper[axis] < other_lower[axis]:
            return True
    return False


@kernel(device_only=True)
def _share_vertex(one, other):
    """Returns whether two features have a vertex in common."""
    for i in one:
        for j in other:
            if i == j:
                return True
    return False
