# SPDX-License-Identifier: GPL-3.0-or-later
"""Which triangles of a surface meet which tets."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Floats, Indices
from ...runtime.jit import kernel
from .triangle_bvh import build_bvh
from .triangle_tet import triangle_meets_tet


def triangle_tet_pairs(
    nodes: Floats, tets: Indices, vertices: Floats, triangles: Indices, slack: float
) -> tuple[Indices, Indices]:
    """Returns tet and triangle of all pairs that come closer than about `slack`, by rising tet, then triangle.

    Args:
        nodes: (n, 3).
        tets: (m, 4).
        vertices: (v, 3).
        triangles: (t, 3).
        slack: [m].
    """
    if not len(triangles):
        return np.zeros(0, np.int32), np.zeros(0, np.int32)
    bvh = build_bvh(vertices, triangles)
    corners = np.ascontiguousarray(nodes[tets].reshape(-1, 12))
    pairs = np.empty((max(1024, 4 * len(triangles)), 2), np.int32)
    count = fill_triangle_tet_pairs(corners, bvh.boxes, bvh.tree, bvh.corners, bvh.order, slack, pairs)
    if count > len(pairs):
        pairs = np.empty((count, 2), np.int32)
        fill_triangle_tet_pairs(corners, bvh.boxes, bvh.tree, bvh.corners, bvh.order, slack, pairs)
    tet, triangle = pairs[:count, 0], pairs[:count, 1]
    order = np.lexsort((triangle, tet))
    return np.ascontiguousarray(tet[order]), np.ascontiguousarray(triangle[order])


@kernel()
def fill_triangle_tet_pairs(tets, boxes, tree, corners, order, slack, pairs):
    """Fills pairs of a tet and a triangle, (p, 2), as far as there is room, and returns how many there are.

    Args:
        tets: Corners [m], (m, 12).
        boxes, tree, corners, order: See `Bvh`.
        slack: See `triangle_tet_pairs`.
        pairs: Out.
    """
    low, high, count = np.empty(3), np.empty(3), 0
    for k in range(len(tets)):
        tet = tets[k]
        for axis in range(3):
            low[axis] = min(tet[axis], tet[3 + axis], tet[6 + axis], tet[9 + axis]) - slack
            high[axis] = max(tet[axis], tet[3 + axis], tet[6 + axis], tet[9 + axis]) + slack
        node = 0
        while node < len(tree):
            box = boxes[node]
            if (
                box[0] > high[0] or box[1] > high[1] or box[2] > high[2]
                or box[3] < low[0] or box[4] < low[1] or box[5] < low[2]
            ):  # fmt: skip
                node = tree[node, 3]
                continue
            if tree[node, 0] < 0:
                for t in range(tree[node, 1], tree[node, 1] + tree[node, 2]):
                    if triangle_meets_tet(corners[t], tet, slack):
                        if count < len(pairs):
                            pairs[count, 0], pairs[count, 1] = k, order[t]
                        count += 1
            node += 1
    return count
