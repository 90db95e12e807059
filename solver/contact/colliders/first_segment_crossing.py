# SPDX-License-Identifier: GPL-3.0-or-later
"""Intersects a segment with a triangle mesh."""

from __future__ import annotations

from ...runtime.jit import kernel

# a segment through a side that two triangles share must not slip between them
BARYCENTRIC_TOLERANCE = 1.0e-9  # barycentric weight below zero up to which a segment still crosses a triangle


@kernel()
def first_crossing(boxes, tree, corners, a, b, stack):
    """Returns the parameter in [0, 1] where the segment a → b first crosses a triangle, and that triangle.

    Args:
        boxes, tree, corners: See `Bvh`.
        a, b: Ends of the segment [m], (3,).
        stack: Scratch, (STACK_SIZE,) int64.

    Returns:
        Parameter, 2 without a crossing, and the triangle in the order of the leaves, −1 for none.
    """
    best = 2.0
    found = -1
    stack[0] = 0
    depth = 1
    while depth > 0:
        depth -= 1
        node = stack[depth]
        if not crosses_box(boxes, node, a, b, min(best, 1.0)):
            continue
        second = tree[node, 0]
        if second >= 0:
            stack[depth] = second
            stack[depth + 1] = node + 1
            depth += 2
            continue
        for t in range(tree[node, 1], tree[node, 1] + tree[node, 2]):
            s = crosses_triangle(corners, t, a, b)
            if s < best:
                best = s
                found = t
    return best, found


@kernel(device_only=True)
def crosses_box(boxes, node, a, b, limit):
    """Returns whether the segment from a to a + limit (b − a) crosses the box of a node."""
    first = 0.0
    last = limit
    for axis in range(3):
        start = a[axis]
        length = b[axis] - start
        if length == 0.0:
            if start < boxes[node, axis] or start > boxes[node, 3 + axis]:
                return False
        else:
            one = (boxes[node, axis] - start) / length
            other = (boxes[node, 3 + axis] - start) / length
            first = max(first, min(one, other) - 1e-12)
            last = min(last, max(one, other) + 1e-12)
    return first <= last


@kernel(device_only=True)
def crosses_triangle(corners, t, a, b):
    """Returns the parameter in [0, 1] where the segment a → b crosses triangle t, 2 where it does not.

    Source: Möller and Trumbore (1997), Fast, Minimum Storage Ray/Triangle Intersection.
    """
    ex, ey, ez = corners[t, 3] - corners[t, 0], corners[t, 4] - corners[t, 1], corners[t, 5] - corners[t, 2]
    fx, fy, fz = corners[t, 6] - corners[t, 0], corners[t, 7] - corners[t, 1], corners[t, 8] - corners[t, 2]
    wx, wy, wz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    px, py, pz = wy * fz - wz * fy, wz * fx - wx * fz, wx * fy - wy * fx
    size = ex * px + ey * py + ez * pz
    if size == 0.0:
        return 2.0
    sx, sy, sz = a[0] - corners[t, 0], a[1] - corners[t, 1], a[2] - corners[t, 2]
    u = (sx * px + sy * py + sz * pz) / size
    if u < -BARYCENTRIC_TOLERANCE or u > 1.0 + BARYCENTRIC_TOLERANCE:
        return 2.0
    qx, qy, qz = sy * ez - sz * ey, sz * ex - sx * ez, sx * ey - sy * ex
    v = (wx * qx + wy * qy + wz * qz) / size
    if v < -BARYCENTRIC_TOLERANCE or u + v > 1.0 + BARYCENTRIC_TOLERANCE:
        return 2.0
    s = (fx * qx + fy * qy + fz * qz) / size
    return s if 0.0 <= s <= 1.0 else 2.0
