# SPDX-License-Identifier: GPL-3.0-or-later
"""Which triangles pass through which tets, and which triangles of a surface cross each other."""

from __future__ import annotations

import numpy as np

from ..arrays import Floats, Indices
from ..jit import kernel
from .box_tree import LEAF_SIZE, build_box_tree
from .bvh import Bvh
from .crossing import cross_triangle
from .triangle_tet import triangle_meets_tet


def triangles_in_tets(corners: Floats, nodes: Floats, tets: Indices, depth: float) -> tuple[Indices, Indices]:
    """Returns tets and the triangles that pass through them, sorted by tet, each (k,).

    Args:
        corners: The triangles [m], (t, 9).
        nodes: Node positions [m], (n, 3).
        tets: The tets, (m, 4).
        depth: How far a triangle has to reach into a tet to count [m].
    """
    x = nodes[tets]
    middle = x.mean(axis=1, keepdims=True)
    heights = depth / np.linalg.norm(x - middle, axis=2).max(axis=1)
    shrunk = np.ascontiguousarray(middle + (x - middle) * (1.0 - np.minimum(heights, 1.0))[:, None, None])
    tree = build_box_tree(shrunk.min(axis=1), shrunk.max(axis=1))
    shrunk = shrunk.reshape(-1, 12)
    pairs = np.empty((max(16 * len(corners), 4 * len(tets)), 2), np.int32)
    count = fill_triangles_in_tets(corners, shrunk, tree.lower, tree.upper, tree.order, pairs)
    if count > len(pairs):
        pairs = np.empty((count, 2), np.int32)
        fill_triangles_in_tets(corners, shrunk, tree.lower, tree.upper, tree.order, pairs)
    pairs = pairs[:count]
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    return np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])


def crossing_faces(bvh: Bvh, welded: Indices) -> tuple[Indices, Indices]:
    """Returns pairs of faces that cross without sharing a corner, each (k,); a pair may come twice.

    Args:
        bvh: The surface.
        welded: Its faces, corners at one place having one number, (t, 3).
    """
    faces = np.ascontiguousarray(welded[bvh.order])
    pairs = np.empty((max(4 * len(faces), 1024), 2), np.int32)
    count = fill_crossing_faces(bvh.boxes, bvh.tree, bvh.corners, faces, pairs)
    if count > len(pairs):
        pairs = np.empty((count, 2), np.int32)
        fill_crossing_faces(bvh.boxes, bvh.tree, bvh.corners, faces, pairs)
    return bvh.order[pairs[:count, 0]], bvh.order[pairs[:count, 1]]


@kernel()
def fill_triangles_in_tets(triangles, tets, lower, upper, order, pairs):
    """Fills (tet, triangle) that meet, as many as there is room for, and returns how many there are.

    Args:
        triangles: Corners [m], (t, 9).
        tets: Corners [m], (m, 12).
        lower, upper, order: A box tree over the tets.
        pairs: Out, (room, 2).
    """
    leaf_count = lower.shape[0] // 2
    count = 0
    low = np.empty(3)
    high = np.empty(3)
    for t in range(triangles.shape[0]):
        p = triangles[t]
        for axis in range(3):
            low[axis] = min(p[axis], p[3 + axis], p[6 + axis])
            high[axis] = max(p[axis], p[3 + axis], p[6 + axis])
        node = 1
        while node > 0:
            is_near = (
                lower[node, 0] <= high[0]
                and lower[node, 1] <= high[1]
                and lower[node, 2] <= high[2]
                and upper[node, 0] >= low[0]
                and upper[node, 1] >= low[1]
                and upper[node, 2] >= low[2]
            )
            if is_near and node < leaf_count:
                node = 2 * node
                continue
            if is_near:
                first = (node - leaf_count) * LEAF_SIZE
                for slot in range(first, min(first + LEAF_SIZE, order.shape[0])):
                    tet = order[slot]
                    if triangle_meets_tet(p, tets[tet], 0.0):
                        if count < pairs.shape[0]:
                            pairs[count, 0] = tet
                            pairs[count, 1] = t
                        count += 1
            while node % 2 == 1:
                node = node // 2
            if node > 0:
                node += 1
    return count


@kernel()
def fill_crossing_faces(boxes, tree, corners, faces, pairs):
    """Fills pairs of faces of which one has a side that crosses the other, and returns how many there are.

    Args:
        boxes, tree, corners: See `Bvh`.
        faces: Welded faces in the order of the leaves, (t, 3).
        pairs: Out, faces in the order of the leaves, (room, 2).
    """
    count = 0
    for f in range(faces.shape[0]):
        for side in range(3):
            a, b = 3 * side, 3 * ((side + 1) % 3)
            x, y, z = corners[f, a], corners[f, a + 1], corners[f, a + 2]
            dx, dy, dz = corners[f, b] - x, corners[f, b + 1] - y, corners[f, b + 2] - z
            node = 0
            while node < tree.shape[0]:
                if (
                    boxes[node, 0] > max(x, x + dx)
                    or boxes[node, 1] > max(y, y + dy)
                    or boxes[node, 2] > max(z, z + dz)
                    or boxes[node, 3] < min(x, x + dx)
                    or boxes[node, 4] < min(y, y + dy)
                    or boxes[node, 5] < min(z, z + dz)
                ):
                    node = tree[node, 3]
                    continue
                if tree[node, 0] < 0:
                    for t in range(tree[node, 1], tree[node, 1] + tree[node, 2]):
                        shares = False
                        for i in range(3):
                            for j in range(3):
                                shares = shares or faces[f, i] == faces[t, j]
                        if shares:
                            continue
                        _, cosine = cross_triangle(corners, t, x, y, z, dx, dy, dz)
                        if cosine != 0.0:
                            if count < pairs.shape[0]:
                                pairs[count, 0] = f
                                pairs[count, 1] = t
                            count += 1
                node += 1
    return count
