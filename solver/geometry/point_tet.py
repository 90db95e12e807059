# SPDX-License-Identifier: GPL-3.0-or-later
"""Points and tets: which tet holds a point, and which is closest where none does (kernels)."""

from __future__ import annotations

import numpy as np

from ..arrays import Floats, Indices
from ..jit import kernel
from .box_tree import LEAF_SIZE

INSIDE_TOLERANCE = 1.0e-9
FLAT = 1.0e-14  # a tet has no volume where 6 V is at most this times the cube of its longest edge
REACH = 0.25  # a tet may be farther than the closest by this part of the distance, if that is less than its size
STACK = 64  # more than the depth of any tree over 2³¹ items, times two


def barycentric_rows(nodes: Floats, tets: Indices) -> tuple[Floats, Floats]:
    """Returns what makes barycentric coordinates a product: λ₁₂₃ = rows · (p − x₀), λ₀ = 1 − Σ λ₁₂₃.

    Args:
        nodes: Node positions [m], (n, 3).
        tets: Tets of any orientation, (m, 4).

    Returns:
        rows: Inverse edge matrices [1/m], (m, 3, 3); zero where a tet has no volume.
        heights: The smallest height of every tet [m], (m,); zero where it has no volume.
    """
    corner = nodes[tets]
    edges = corner[:, 1:] - corner[:, :1]
    normals = np.stack([np.cross(edges[:, 1], edges[:, 2]), np.cross(edges[:, 2], edges[:, 0]),
                        np.cross(edges[:, 0], edges[:, 1])], axis=1)  # fmt: skip
    six_volumes = np.einsum("mi,mi->m", edges[:, 0], normals[:, 0])
    longest = np.sqrt(np.einsum("mki,mki->mk", edges, edges).max(axis=1, initial=0.0))
    is_flat = np.abs(six_volumes) <= FLAT * longest**3
    rows = normals / np.where(is_flat, np.inf, six_volumes)[:, None, None]
    gradients = np.concatenate([rows, -rows.sum(axis=1, keepdims=True)], axis=1)
    steepest = np.sqrt(np.einsum("mki,mki->mk", gradients, gradients).max(axis=1, initial=0.0))
    return rows, np.where(is_flat, 0.0, 1.0 / np.where(is_flat, 1.0, steepest))


@kernel()
def squared_distance_to_segment(p0, p1, p2, a0, a1, a2, b0, b1, b2):
    """Returns the squared distance between the point p and the segment ab [m²]."""
    d0, d1, d2 = b0 - a0, b1 - a1, b2 - a2
    length = d0 * d0 + d1 * d1 + d2 * d2
    t = 0.0
    if length > 0.0:
        t = min(1.0, max(0.0, ((p0 - a0) * d0 + (p1 - a1) * d1 + (p2 - a2) * d2) / length))
    e0, e1, e2 = p0 - a0 - t * d0, p1 - a1 - t * d1, p2 - a2 - t * d2
    return e0 * e0 + e1 * e1 + e2 * e2


@kernel()
def squared_distance_to_face(p0, p1, p2, nodes, a, b, c):
    """Returns the squared distance between the point p and the triangle of the nodes a, b, c [m²]."""
    a0, a1, a2 = nodes[a, 0], nodes[a, 1], nodes[a, 2]
    b0, b1, b2 = nodes[b, 0], nodes[b, 1], nodes[b, 2]
    c0, c1, c2 = nodes[c, 0], nodes[c, 1], nodes[c, 2]
    u0, u1, u2 = b0 - a0, b1 - a1, b2 - a2
    v0, v1, v2 = c0 - a0, c1 - a1, c2 - a2
    w0, w1, w2 = p0 - a0, p1 - a1, p2 - a2
    n0, n1, n2 = u1 * v2 - u2 * v1, u2 * v0 - u0 * v2, u0 * v1 - u1 * v0
    nn = n0 * n0 + n1 * n1 + n2 * n2
    if nn > 0.0:
        # the foot of the perpendicular, in the coordinates of the triangle
        beta = (n0 * (w1 * v2 - w2 * v1) + n1 * (w2 * v0 - w0 * v2) + n2 * (w0 * v1 - w1 * v0)) / nn
        gamma = (n0 * (u1 * w2 - u2 * w1) + n1 * (u2 * w0 - u0 * w2) + n2 * (u0 * w1 - u1 * w0)) / nn
        if beta >= 0.0 and gamma >= 0.0 and beta + gamma <= 1.0:
            height = n0 * w0 + n1 * w1 + n2 * w2
            return height * height / nn
    first = squared_distance_to_segment(p0, p1, p2, a0, a1, a2, b0, b1, b2)
    second = squared_distance_to_segment(p0, p1, p2, b0, b1, b2, c0, c1, c2)
    third = squared_distance_to_segment(p0, p1, p2, c0, c1, c2, a0, a1, a2)
    return min(first, min(second, third))


@kernel()
def barycentric(p0, p1, p2, nodes, corner, rows, tet):
    """Returns the four barycentric coordinates of the point p in a tet whose first node is `corner`."""
    d0, d1, d2 = p0 - nodes[corner, 0], p1 - nodes[corner, 1], p2 - nodes[corner, 2]
    l1 = rows[tet, 0, 0] * d0 + rows[tet, 0, 1] * d1 + rows[tet, 0, 2] * d2
    l2 = rows[tet, 1, 0] * d0 + rows[tet, 1, 1] * d1 + rows[tet, 1, 2] * d2
    l3 = rows[tet, 2, 0] * d0 + rows[tet, 2, 1] * d1 + rows[tet, 2, 2] * d2
    return 1.0 - l1 - l2 - l3, l1, l2, l3


@kernel()
def has_volume(rows, tet):
    """Returns whether a tet has barycentric coordinates at all."""
    return rows[tet, 0, 0] != 0.0 or rows[tet, 0, 1] != 0.0 or rows[tet, 0, 2] != 0.0


@kernel()
def squared_distance_to_box(p0, p1, p2, lower, upper, node):
    """Returns the squared distance between the point p and the box of a node of a tree [m²]."""
    d0 = max(0.0, max(lower[node, 0] - p0, p0 - upper[node, 0]))
    d1 = max(0.0, max(lower[node, 1] - p1, p1 - upper[node, 1]))
    d2 = max(0.0, max(lower[node, 2] - p2, p2 - upper[node, 2]))
    return d0 * d0 + d1 * d1 + d2 * d2


@kernel()
def closer_middle(p0, p1, p2, lower, upper, left, right):
    """Returns whether the middle of the box `left` is closer to the point p than that of `right`."""
    to_left = 0.0
    to_right = 0.0
    for axis in range(3):
        p = p0 if axis == 0 else (p1 if axis == 1 else p2)
        to_left += abs(2.0 * p - lower[left, axis] - upper[left, axis])
        to_right += abs(2.0 * p - lower[right, axis] - upper[right, axis])
    return to_left <= to_right


@kernel()
def containing_tet(p0, p1, p2, nodes, tets, rows, lower, upper, order):
    """Returns the tet of lowest number that holds the point p, or -1."""
    leaf_count = np.uintp(lower.shape[0] // 2)
    found = np.int64(-1)
    node = np.uintp(1)
    while True:
        is_near = (
            lower[node, 0] <= p0 <= upper[node, 0]
            and lower[node, 1] <= p1 <= upper[node, 1]
            and lower[node, 2] <= p2 <= upper[node, 2]
        )
        if is_near and node < leaf_count:
            node = np.uintp(node << np.uintp(1))
            continue
        if is_near:
            first = np.uintp(np.uintp(node - leaf_count) * np.uintp(LEAF_SIZE))
            for step in range(LEAF_SIZE):
                slot = np.uintp(first + np.uintp(step))
                if slot >= np.uintp(order.shape[0]):
                    break
                tet = np.uintp(order[slot])
                if found >= 0 and np.int64(tet) > found:
                    continue
                l0, l1, l2, l3 = barycentric(p0, p1, p2, nodes, np.uintp(tets[tet, 0]), rows, tet)
                if min(min(l0, l1), min(l2, l3)) >= -INSIDE_TOLERANCE and has_volume(rows, tet):
                    found = np.int64(tet)
        # on to the next node in depth-first order: up while it is a right child, then right
        while np.uintp(node & np.uintp(1)) == np.uintp(1):
            node = np.uintp(node >> np.uintp(1))
        if node == np.uintp(0):
            return found
        node = np.uintp(node + np.uintp(1))


@kernel()
def is_beyond(rows, tet, l0, l1, l2, l3, limit):
    """Returns whether a point with the coordinates l is beyond a face's plane by more than √limit, cheaply."""
    x1, y1, z1 = rows[tet, 0, 0], rows[tet, 0, 1], rows[tet, 0, 2]
    x2, y2, z2 = rows[tet, 1, 0], rows[tet, 1, 1], rows[tet, 1, 2]
    x3, y3, z3 = rows[tet, 2, 0], rows[tet, 2, 1], rows[tet, 2, 2]
    x0, y0, z0 = x1 + x2 + x3, y1 + y2 + y3, z1 + z2 + z3
    return (
        (l0 < 0.0 and l0 * l0 > limit * (x0 * x0 + y0 * y0 + z0 * z0))
        or (l1 < 0.0 and l1 * l1 > limit * (x1 * x1 + y1 * y1 + z1 * z1))
        or (l2 < 0.0 and l2 * l2 > limit * (x2 * x2 + y2 * y2 + z2 * z2))
        or (l3 < 0.0 and l3 * l3 > limit * (x3 * x3 + y3 * y3 + z3 * z3))
    )


@kernel()
def squared_distance_to_tet(p0, p1, p2, nodes, tets, tet, l0, l1, l2, l3):
    """Returns the squared distance between the point p, outside, and a tet in which it has the coordinates l [m²]."""
    a, b = np.uintp(tets[tet, 0]), np.uintp(tets[tet, 1])
    c, d = np.uintp(tets[tet, 2]), np.uintp(tets[tet, 3])
    best = np.inf
    # Only faces that the point sees can hold the closest point.
    if l0 < 0.0:
        best = min(best, squared_distance_to_face(p0, p1, p2, nodes, b, c, d))
    if l1 < 0.0:
        best = min(best, squared_distance_to_face(p0, p1, p2, nodes, a, c, d))
    if l2 < 0.0:
        best = min(best, squared_distance_to_face(p0, p1, p2, nodes, a, b, d))
    if l3 < 0.0:
        best = min(best, squared_distance_to_face(p0, p1, p2, nodes, a, b, c))
    return best


@kernel()
def find_tets(nodes, tets, rows, lower, upper, order, points, tet, distance):
    """Writes for every point the tet that it is bound to and its distance from the closest tet.

    A point inside tets gets the one of lowest number. A point outside gets, of the tets that are not much farther
    than the closest one (a quarter of the distance, and one edge of the closest), the tet in which its barycentric
    coordinates are smallest; of equally small ones (to 1e-9) the lowest number.

    Args:
        nodes: Node positions [m], (n, 3).
        tets: Tets, (m, 4).
        rows: Their barycentric rows [1/m], (m, 3, 3).
        lower, upper, order: A box tree over the tets.
        points: Points [m], (k, 3).
        tet: Out, (k,); -1 where there is no tet with a volume.
        distance: Out, distance from the closest tet [m], (k,).
    """
    leaf_count = np.uintp(lower.shape[0] // 2)
    one = np.uintp(1)
    stack = np.empty(STACK, np.uintp)
    before = np.int64(-1)
    for i in range(points.shape[0]):
        p0, p1, p2 = points[i, 0], points[i, 1], points[i, 2]
        chosen = containing_tet(p0, p1, p2, nodes, tets, rows, lower, upper, order)
        nearest = 0.0 if chosen >= 0 else np.inf
        limit = np.inf
        mildest = np.inf
        if chosen < 0 and before >= 0:
            # Points come in the order of a mesh: the tet of the one before is a good first bound.
            t = np.uintp(before)
            l0, l1, l2, l3 = barycentric(p0, p1, p2, nodes, np.uintp(tets[t, 0]), rows, t)
            nearest = squared_distance_to_tet(p0, p1, p2, nodes, tets, t, l0, l1, l2, l3)
            limit = nearest
            chosen = before
        for sweep in range(0 if nearest == 0.0 else 2):
            # The first sweep finds how far the closest tet is, the second the mildest among those nearly as close.
            if sweep == 1:
                if chosen < 0:
                    break
                closest = np.sqrt(nearest)
                a, b = np.uintp(tets[chosen, 0]), np.uintp(tets[chosen, 1])
                edge2 = 0.0
                for axis in range(3):
                    edge2 += (nodes[a, axis] - nodes[b, axis]) ** 2
                limit = (closest * (1.0 + INSIDE_TOLERANCE) + min(REACH * closest, np.sqrt(edge2))) ** 2
            top = 1
            stack[0] = one
            while top > 0:
                top -= 1
                node = stack[top]
                if squared_distance_to_box(p0, p1, p2, lower, upper, node) > limit:
                    continue
                if node < leaf_count:
                    left = np.uintp(node << one)
                    right = np.uintp(left + one)
                    to_left = squared_distance_to_box(p0, p1, p2, lower, upper, left)
                    to_right = squared_distance_to_box(p0, p1, p2, lower, upper, right)
                    left_first = to_left < to_right
                    if to_left == to_right:
                        left_first = closer_middle(p0, p1, p2, lower, upper, left, right)
                    if max(to_left, to_right) <= limit:
                        stack[top] = right if left_first else left
                        top += 1
                    if min(to_left, to_right) <= limit:
                        stack[top] = left if left_first else right
                        top += 1
                    continue
                first = np.uintp(np.uintp(node - leaf_count) * np.uintp(LEAF_SIZE))
                for step in range(LEAF_SIZE):
                    slot = np.uintp(first + np.uintp(step))
                    if slot >= np.uintp(order.shape[0]):
                        break
                    t = np.uintp(order[slot])
                    l0, l1, l2, l3 = barycentric(p0, p1, p2, nodes, np.uintp(tets[t, 0]), rows, t)
                    if not has_volume(rows, t) or is_beyond(rows, t, l0, l1, l2, l3, limit):
                        continue
                    largest = max(max(abs(l0), abs(l1)), max(abs(l2), abs(l3)))
                    if sweep == 1 and largest > mildest * (1.0 + INSIDE_TOLERANCE):
                        continue
                    squared = squared_distance_to_tet(p0, p1, p2, nodes, tets, t, l0, l1, l2, l3)
                    if squared > limit:
                        continue
                    if sweep == 0:
                        nearest = squared
                        limit = squared
                        chosen = np.int64(t)
                    elif largest < mildest * (1.0 - INSIDE_TOLERANCE) or np.int64(t) < chosen:
                        mildest = min(mildest, largest)
                        chosen = np.int64(t)
        before = chosen
        tet[i] = chosen
        distance[i] = np.sqrt(nearest)
