# SPDX-License-Identifier: GPL-3.0-or-later
"""Points and tets: which tet holds a point, and which is closest where none does (kernels)."""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Floats, Indices
from ...runtime.jit import kernel
from ...runtime.row_cross_products import row_cross_products
from ..tet_quality import DEGENERATE_TET_RATIO
from .box_tree import LEAF_SIZE

INSIDE_TOLERANCE = 1.0e-9
# a tet may be farther than the closest by this part of the distance, if that is less than its size
DISTANCE_MARGIN = 0.25
STACK_SIZE = 128  # more than the depth of any tree over 2³¹ items, times two


def barycentric_rows(nodes: Floats, tets: Indices) -> tuple[Floats, Floats]:
    """Returns what makes barycentric coordinates a product: λ₁₂₃ = rows · (p − x₀), λ₀ = 1 − Σ λ₁₂₃.

    Args:
        nodes: Node positions [m], (n, 3).
        tets: Tets of any orientation, (m, 4).

    Returns:
        rows: Inverse edge matrices [1/m], (m, 3, 3); zero where a tet has no volume.
        steepness: Squared gradients of the four coordinates [1/m²], (m, 4); zero where a tet has no volume.
    """
    corner = nodes[tets]
    edges = corner[:, 1:] - corner[:, :1]
    normals = row_cross_products(edges[:, (1, 2, 0)], edges[:, (2, 0, 1)])
    six_volumes = np.einsum("mi,mi->m", edges[:, 0], normals[:, 0])
    first, second, third = np.einsum("mki,mki->km", edges, edges)
    longest = np.sqrt(np.maximum(np.maximum(first, second), third))
    is_flat = np.abs(six_volumes) <= DEGENERATE_TET_RATIO * longest**3
    rows = normals / np.where(is_flat, np.inf, six_volumes)[:, None, None]
    gradients = np.stack([-(rows[:, 0] + rows[:, 1] + rows[:, 2]), rows[:, 0], rows[:, 1], rows[:, 2]], axis=1)
    return rows, np.einsum("mki,mki->mk", gradients, gradients)


@kernel()
def barycentric(p0, p1, p2, nodes, corner, rows, tet):
    """Returns the four barycentric coordinates of the point p in a tet whose first node is `corner`."""
    d0, d1, d2 = p0 - nodes[corner, 0], p1 - nodes[corner, 1], p2 - nodes[corner, 2]
    l1 = rows[tet, 0, 0] * d0 + rows[tet, 0, 1] * d1 + rows[tet, 0, 2] * d2
    l2 = rows[tet, 1, 0] * d0 + rows[tet, 1, 1] * d1 + rows[tet, 1, 2] * d2
    l3 = rows[tet, 2, 0] * d0 + rows[tet, 2, 1] * d1 + rows[tet, 2, 2] * d2
    return 1.0 - l1 - l2 - l3, l1, l2, l3


@kernel(device_only=True)
def squared_distance_to_box(p0, p1, p2, lower, upper, node):
    """Returns the squared distance between the point p and the box of a node of a tree [m²]."""
    d0 = max(0.0, max(lower[node, 0] - p0, p0 - upper[node, 0]))
    d1 = max(0.0, max(lower[node, 1] - p1, p1 - upper[node, 1]))
    d2 = max(0.0, max(lower[node, 2] - p2, p2 - upper[node, 2]))
    return d0 * d0 + d1 * d1 + d2 * d2


@kernel(device_only=True)
def squared_distance_to_tet(p0, p1, p2, nodes, tets, tet, steepness, limit, l0, l1, l2, l3):
    """Returns the squared distance between the point p, outside, and a tet in which it has the coordinates l [m²].

    Inf where the point is farther than √limit from the plane of a face that it sees. Only such faces can hold the
    closest point: the foot of the perpendicular where it lies in the face, else a point of one of its three sides.
    """
    coordinates = (l0, l1, l2, l3)
    best = np.inf
    for i in range(4):
        if coordinates[i] < 0.0 and coordinates[i] * coordinates[i] > limit * steepness[tet, i]:
            return np.inf
    for i in range(4):
        if coordinates[i] >= 0.0:
            continue
        a = np.uintp(tets[tet, (i + 1) & 3])
        b = np.uintp(tets[tet, (i + 2) & 3])
        c = np.uintp(tets[tet, (i + 3) & 3])
        u0, u1, u2 = nodes[b, 0] - nodes[a, 0], nodes[b, 1] - nodes[a, 1], nodes[b, 2] - nodes[a, 2]
        v0, v1, v2 = nodes[c, 0] - nodes[a, 0], nodes[c, 1] - nodes[a, 1], nodes[c, 2] - nodes[a, 2]
        w0, w1, w2 = p0 - nodes[a, 0], p1 - nodes[a, 1], p2 - nodes[a, 2]
        n0, n1, n2 = u1 * v2 - u2 * v1, u2 * v0 - u0 * v2, u0 * v1 - u1 * v0
        nn = n0 * n0 + n1 * n1 + n2 * n2
        beta = (n0 * (w1 * v2 - w2 * v1) + n1 * (w2 * v0 - w0 * v2) + n2 * (w0 * v1 - w1 * v0)) / nn
        gamma = (n0 * (u1 * w2 - u2 * w1) + n1 * (u2 * w0 - u0 * w2) + n2 * (u0 * w1 - u1 * w0)) / nn
        if beta >= 0.0 and gamma >= 0.0 and beta + gamma <= 1.0:
            height = n0 * w0 + n1 * w1 + n2 * w2
            best = min(best, height * height / nn)
            continue
        for side in range(3):
            e, f = a, b
            if side == 1:
                e, f = b, c
            elif side == 2:
                e, f = c, a
            d0, d1, d2 = nodes[f, 0] - nodes[e, 0], nodes[f, 1] - nodes[e, 1], nodes[f, 2] - nodes[e, 2]
            g0, g1, g2 = p0 - nodes[e, 0], p1 - nodes[e, 1], p2 - nodes[e, 2]
            t = (g0 * d0 + g1 * d1 + g2 * d2) / (d0 * d0 + d1 * d1 + d2 * d2)
            t = min(1.0, max(0.0, t))
            g0, g1, g2 = g0 - t * d0, g1 - t * d1, g2 - t * d2
            best = min(best, g0 * g0 + g1 * g1 + g2 * g2)
    return best


@kernel()
def find_tets(nodes, tets, rows, steepness, lower, upper, order, points, tet, distance):
    """Writes for every point the tet that it is bound to and its distance from the closest tet.

    A point inside tets gets the one of lowest number. A point outside gets, of the tets that are not much farther
    than the closest one (a quarter of the distance, and one edge of the closest), the tet in which its barycentric
    coordinates are smallest; of equally small ones (to 1e-9) the lowest number.

    Three sweeps over the tree: 0 looks for tets that hold the point, 1 for how far the closest is, 2 for the mildest.

    Args:
        nodes: Node positions [m], (n, 3).
        tets: Tets, (m, 4).
        rows, steepness: See `barycentric_rows`.
        lower, upper, order: A box tree over those of the tets that have a volume.
        points: Points [m], (k, 3).
        tet: Out, (k,).
        distance: Out, distance from the closest tet [m], (k,).
    """
    leaf_count = np.uintp(lower.shape[0] // 2)
    stack = np.empty(STACK_SIZE, np.uintp)
    away = np.empty(STACK_SIZE)
    before = np.uintp(tets[order[0], 0])
    for i in range(points.shape[0]):
        p0, p1, p2 = points[i, 0], points[i, 1], points[i, 2]
        chosen = np.int64(-1)
        nearest = 0.0
        mildest = np.inf
        limit = 0.0
        for sweep in range(3):
            if sweep == 1:
                if chosen >= 0:
                    break
                # Points come in the order of a mesh: a node of the tet of the one before is a good first bound.
                for axis in range(3):
                    limit += (points[i, axis] - nodes[before, axis]) ** 2 * (1.0 + INSIDE_TOLERANCE)
            elif sweep == 2:
                closest = np.sqrt(nearest)
                a, b = np.uintp(tets[chosen, 0]), np.uintp(tets[chosen, 1])
                edge2 = 0.0
                for axis in range(3):
                    edge2 += (nodes[a, axis] - nodes[b, axis]) ** 2
                limit = (closest * (1.0 + INSIDE_TOLERANCE) + min(DISTANCE_MARGIN * closest, np.sqrt(edge2))) ** 2
            top = 1
            stack[0] = np.uintp(1)
            away[0] = 0.0
            while top > 0:
                top -= 1
                node = stack[top]
                if away[top] > limit:
                    continue
                if node < leaf_count:
                    for side in range(2):
                        stack[top] = np.uintp(np.uintp(node << np.uintp(1)) + np.uintp(side))
                        away[top] = squared_distance_to_box(p0, p1, p2, lower, upper, stack[top])
                        if away[top] <= limit:
                            top += 1
                    if sweep == 1 and top > 1 and away[top - 1] > away[top - 2]:  # the nearer one first
                        stack[top - 1], stack[top - 2] = stack[top - 2], stack[top - 1]
                        away[top - 1], away[top - 2] = away[top - 2], away[top - 1]
                    continue
                first = np.uintp(np.uintp(node - leaf_count) * np.uintp(LEAF_SIZE))
                for step in range(LEAF_SIZE):
                    slot = np.uintp(first + np.uintp(step))
                    if slot >= np.uintp(order.shape[0]):
                        break
                    t = np.uintp(order[slot])
                    l0, l1, l2, l3 = barycentric(p0, p1, p2, nodes, np.uintp(tets[t, 0]), rows, t)
                    if sweep == 0:
                        if min(min(l0, l1), min(l2, l3)) >= -INSIDE_TOLERANCE and (chosen < 0 or np.int64(t) < chosen):
                            chosen = np.int64(t)
                        continue
                    largest = max(max(abs(l0), abs(l1)), max(abs(l2), abs(l3)))
                    if sweep == 2 and largest > mildest * (1.0 + INSIDE_TOLERANCE):
                        continue
                    squared = squared_distance_to_tet(p0, p1, p2, nodes, tets, t, steepness, limit, l0, l1, l2, l3)
                    if squared > limit:
                        continue
                    if sweep == 1:
                        nearest = squared
                        limit = squared
                        chosen = np.int64(t)
                    elif largest < mildest * (1.0 - INSIDE_TOLERANCE) or np.int64(t) < chosen:
                        mildest = min(mildest, largest)
                        chosen = np.int64(t)
        before = np.uintp(tets[chosen, 0])
        tet[i] = chosen
        distance[i] = np.sqrt(nearest)
