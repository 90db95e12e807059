# SPDX-License-Identifier: GPL-3.0-or-later
"""The point of a surface that is closest to a given one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Floats, Indices, floats
from ...runtime.jit import kernel
from ...runtime.threads.thread_pool import run_in_chunks
from .closest_on_triangle import closest_on_triangle
from .triangle_bvh import STACK_SIZE, Bvh


@dataclass(frozen=True)
class ClosestPoints:
    """Closest points of a surface.

    Attributes:
        distance: Distance to the surface [m], inf where nothing lies within the limit, (k,).
        triangle: Index of the triangle in the surface, -1 where nothing lies within the limit, (k,).
        weights: Barycentric weights of the closest point in that triangle, (k, 3).
    """

    distance: Floats
    triangle: Indices
    weights: Floats


def closest_points(bvh: Bvh, points: npt.ArrayLike, limit: float = np.inf) -> ClosestPoints:
    """Returns the closest point of the surface for each of `points` [m], (k, 3), no farther than `limit` [m]."""
    points = floats(points, -1, 3)
    distance = np.empty(len(points))
    triangle = np.empty(len(points), np.int32)
    weights = np.empty((len(points), 3))

    def work(part: slice) -> None:
        fill_closest_points(
            bvh.boxes, bvh.tree, bvh.corners, points[part], float(limit), distance[part], triangle[part], weights[part]
        )

    run_in_chunks(len(points), work)
    found = triangle >= 0
    triangle[found] = bvh.order[triangle[found]]
    return ClosestPoints(distance, triangle, weights)


@kernel()
def fill_closest_points(boxes, tree, corners, points, limit, distance, triangle, weights):
    """Fills distance, triangle (in the order of the leaves) and weights of the closest point to each point."""
    stack = np.empty(STACK_SIZE, np.int64)
    for i in range(points.shape[0]):
        d2, t, u, v, w = closest_point(
            boxes, tree, corners, points[i, 0], points[i, 1], points[i, 2], limit * limit, stack
        )
        distance[i] = np.sqrt(d2) if t >= 0 else np.inf
        triangle[i] = t
        weights[i, 0] = u
        weights[i, 1] = v
        weights[i, 2] = w


@kernel(device_only=True)
def closest_point(boxes, tree, corners, x, y, z, limit2, stack):
    """Returns the closest point to one point, nearer children first.

    Args:
        boxes, tree, corners: See `Bvh`.
        x, y, z: The point [m].
        limit2: Square of the distance beyond which nothing is looked for [m²].
        stack: Scratch, (STACK_SIZE,) int64.

    Returns:
        Squared distance [m²], triangle in the order of the leaves (-1: none within the limit), its weights u, v, w.
    """
    best = limit2
    found = -1
    bu, bv, bw = 0.0, 0.0, 0.0
    stack[0] = 0
    depth = 1
    while depth > 0:
        depth -= 1
        node = stack[depth]
        if box_distance2(boxes, node, x, y, z) > best:
            continue
        second = np.int64(tree[node, 0])
        if second < 0:
            first = tree[node, 1]
            for t in range(first, first + tree[node, 2]):
                d2, u, v, w = closest_on_triangle(corners, t, x, y, z)
                if d2 < best or (found < 0 and d2 <= best):
                    best, found, bu, bv, bw = d2, t, u, v, w
        else:
            near = node + 1
            far = second
            if box_distance2(boxes, far, x, y, z) < box_distance2(boxes, near, x, y, z):
                near, far = far, near
            stack[depth] = far
            stack[depth + 1] = near
            depth += 2
    return best, found, bu, bv, bw


@kernel(device_only=True)
def box_distance2(boxes, node, x, y, z):
    """Returns the squared distance from a point to a node's box [m²], 0 inside."""
    dx = max(boxes[node, 0] - x, x - boxes[node, 3], 0.0)
    dy = max(boxes[node, 1] - y, y - boxes[node, 4], 0.0)
    dz = max(boxes[node, 2] - z, z - boxes[node, 5], 0.0)
    return dx * dx + dy * dy + dz * dz
