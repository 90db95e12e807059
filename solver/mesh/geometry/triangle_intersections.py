# SPDX-License-Identifier: GPL-3.0-or-later
"""Which triangles have more points in common than the corners and edges that they share, without error.

This is independent of all that keeps surfaces apart, so it can say whether that has worked. Triangles that only touch
have a point in common, too. By what they share:

- No corner: they meet if an edge of one meets the other.
- One corner: what they have in common is convex and contains the corner. If it has another point, it reaches an edge
  opposite the corner, so they meet beyond the corner if one of these two edges meets the other triangle.
- An edge: they meet beyond it if they lie in one plane on one side of it: folded flat.
- All three corners: they are one triangle twice, which counts.

Vertices at one place are different vertices: surfaces whose faces do not share them have to be welded before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...runtime.arrays import Floats, Indices, floats, indices
from ...runtime.jit import kernel
from .exact_orientation import EXPANSION_SIZE, orientation_sign, plane_orientation_sign
from .exact_segment_triangle import is_degenerate, segment_meets_triangle
from .triangle_bvh import build_bvh


@dataclass(frozen=True)
class TriangleIntersection:
    """Two triangles of surfaces that intersect.

    Attributes:
        surfaces: Keys of both; twice the same where a surface intersects itself.
        triangles: Number of each in its surface.
        place: Middle of what their boxes have in common [m], (3,).
    """

    surfaces: tuple[str, str]
    triangles: tuple[int, int]
    place: tuple[float, float, float]


def intersecting_triangles(vertices: Floats, triangles: Indices) -> Indices:
    """Returns all pairs of triangles that intersect, the smaller number first, in rising order, (k, 2).

    Args:
        vertices: Positions [m], (n, 3); triangles share a corner if they have the same vertex.
        triangles: (t, 3).
    """
    points, corners = floats(vertices, -1, 3), indices(triangles, -1, 3)
    if not len(corners):
        return np.zeros((0, 2), np.int32)
    bvh = build_bvh(points, corners)
    ordered = np.ascontiguousarray(corners[bvh.order])
    pairs = np.empty((max(len(corners), 1024), 2), np.int32)
    count = fill_intersecting_triangles(bvh.boxes, bvh.tree, points, ordered, pairs)
    if count > len(pairs):
        pairs = np.empty((count, 2), np.int32)
        fill_intersecting_triangles(bvh.boxes, bvh.tree, points, ordered, pairs)
    found = np.sort(bvh.order[pairs[:count]], axis=1)
    return found[np.lexsort((found[:, 1], found[:, 0]))]


def surface_intersections(surfaces: Mapping[str, tuple[Floats, Indices]]) -> list[TriangleIntersection]:
    """Returns all pairs of triangles that intersect, within surfaces and between them.

    Args:
        surfaces: Key → vertices [m], (n, 3), and triangles, (t, 3).
    """
    if not surfaces:
        return []
    keys, parts = list(surfaces), list(surfaces.values())
    first_vertex = np.cumsum([0, *(len(vertices) for vertices, _ in parts)], dtype=np.int64)
    first_triangle = np.cumsum([0, *(len(triangles) for _, triangles in parts)], dtype=np.int64)
    vertices = np.concatenate([floats(each, -1, 3) for each, _ in parts])
    triangles = np.concatenate(
        [indices(each, -1, 3) + first for (_, each), first in zip(parts, first_vertex[:-1], strict=True)]
    )
    pairs = intersecting_triangles(vertices, triangles)
    of = np.searchsorted(first_triangle, pairs, side="right") - 1
    corners = vertices[triangles[pairs]]  # (k, 2, 3, 3)
    lower, upper = corners.min(axis=2).max(axis=1), corners.max(axis=2).min(axis=1)
    return [
        TriangleIntersection((keys[one], keys[other]), (int(a), int(b)), tuple(place))
        for (one, other), (a, b), place in zip(
            of.tolist(), pairs - first_triangle[of], ((lower + upper) / 2.0).tolist(), strict=True
        )
    ]


@kernel()
def fill_intersecting_triangles(boxes, tree, vertices, triangles, pairs):
    """Writes pairs of triangles that intersect, each once, and returns how many there are.

    Args:
        boxes, tree: See `Bvh`.
        vertices: Positions [m], (n, 3).
        triangles: In the order of the leaves, (t, 3).
        pairs: Out, in the order of the leaves, (room, 2).
    """
    scratch, one, other = np.empty(EXPANSION_SIZE), np.empty((3, 3)), np.empty((3, 3))
    lower, upper, count = np.empty(3), np.empty(3), 0
    for f in range(len(triangles)):
        for corner in range(3):
            one[corner] = vertices[triangles[f, corner]]
        for axis in range(3):
            lower[axis] = min(one[0, axis], one[1, axis], one[2, axis])
            upper[axis] = max(one[0, axis], one[1, axis], one[2, axis])
        node = 0
        while node < len(tree):
            is_last_before = tree[node, 1] + tree[node, 2] <= f + 1  # nothing after f below this node
            if is_last_before or _is_apart(boxes[node], lower, upper):
                node = tree[node, 3]
                continue
            if tree[node, 0] < 0:
                for t in range(max(tree[node, 1], f + 1), tree[node, 1] + tree[node, 2]):
                    for corner in range(3):
                        other[corner] = vertices[triangles[t, corner]]
                    if triangles_intersect(one, other, triangles[f], triangles[t], scratch):
                        if count < len(pairs):
                            pairs[count, 0], pairs[count, 1] = f, t
                        count += 1
            node += 1
    return count


@kernel(device_only=True)
def _is_apart(box, lower, upper):
    """Returns whether two boxes have no point in common."""
    for axis in range(3):
        if box[axis] > upper[axis] or box[3 + axis] < lower[axis]:
            return True
    return False


@kernel()
def triangles_intersect(one, other, one_vertices, other_vertices, scratch):
    """Returns whether two triangles have more in common than the corners and edges that they share.

    Args:
        one, other: Corners [m], (3, 3).
        one_vertices, other_vertices: Their numbers, (3,).
        scratch: Room for an expansion, (EXPANSION_SIZE,).
    """
    for axis in range(3):
        if max(one[0, axis], one[1, axis], one[2, axis]) < min(other[0, axis], other[1, axis], other[2, axis]):
            return False
        if max(other[0, axis], other[1, axis], other[2, axis]) < min(one[0, axis], one[1, axis], one[2, axis]):
            return False
    shared, at, there = 0, -1, -1  # corners in common; the last one's place in both
    last, last_there = -1, -1  # corners that the other has not
    for i in range(3):
        place = -1
        for j in range(3):
            if one_vertices[i] == other_vertices[j]:
                place = j
        if place >= 0:
            shared, at, there = shared + 1, i, place
        else:
            last = i
    if shared == 3:
        return True
    if shared == 2:
        for j in range(3):
            if other_vertices[j] != one_vertices[(last + 1) % 3] and other_vertices[j] != one_vertices[(last + 2) % 3]:
                last_there = j
        return _folded_flat(one[(last + 1) % 3], one[(last + 2) % 3], one[last], other[last_there], scratch)
    if shared == 1:
        return _opposite_edge_meets(one, at, other, scratch) or _opposite_edge_meets(other, there, one, scratch)
    for i in range(3):
        if segment_meets_triangle(one[i], one[(i + 1) % 3], other, scratch):
            return True
        if segment_meets_triangle(other[i], other[(i + 1) % 3], one, scratch):
            return True
    return False


@kernel(device_only=True)
def _opposite_edge_meets(one, at, other, scratch):
    """Returns whether the edge opposite corner `at`, which triangles share, meets the other one beyond this corner."""
    v, p, q = one[at], one[(at + 1) % 3], one[(at + 2) % 3]
    if is_degenerate(v, p, q, scratch):  # the corner may lie on the edge itself
        return _is_elsewhere_in(p, v, other, scratch) or _is_elsewhere_in(q, v, other, scratch)
    return segment_meets_triangle(p, q, other, scratch)


@kernel(device_only=True)
def _is_elsewhere_in(p, v, triangle, scratch):
    """Returns whether p is in a triangle, and not where v is."""
    is_elsewhere = p[0] != v[0] or p[1] != v[1] or p[2] != v[2]
    return is_elsewhere and segment_meets_triangle(p, p, triangle, scratch)


@kernel(device_only=True)
def _folded_flat(a, b, c, d, scratch):
    """Returns whether triangles a b c and a b d have more in common than the edge a b."""
    if orientation_sign(a, b, c, d, scratch) != 0:
        return False
    for axis in range(3):
        one = plane_orientation_sign(a, b, c, axis, scratch)
        if one != 0:
            return one == plane_orientation_sign(a, b, d, axis, scratch)
    if not (is_degenerate(a, c, d, scratch) and is_degenerate(b, c, d, scratch)):
        return False
    for axis in range(3):  # all on one line: both reach beyond the same end
        low, high = min(a[axis], b[axis]), max(a[axis], b[axis])
        if min(c[axis], d[axis]) > high or max(c[axis], d[axis]) < low:
            return True
    return False
