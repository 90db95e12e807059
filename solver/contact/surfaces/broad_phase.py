# SPDX-License-Identifier: GPL-3.0-or-later
"""Which points come near which triangles during a step: boxes of skins, then a tree per skin."""

from __future__ import annotations

import numpy as np

from ...runtime.jit import kernel
from .bvh_refit import LEAF_SIZE

STACK_DEPTH = 128
SWEEP_MARGIN_RATIO = 0.1  # how much farther than told vertices are looked for, in their ways


@kernel()
def sweep_boxes(start, end, least, more, spare, boxes):
    """Writes how far from its end each vertex may be looked for, and the boxes that hold its way, that and `more`.

    Args:
        start, end: Vertices at both ends of the step [m], (v, 3).
        least: How far there is to spare where nothing moves [m], (v,).
        more: How far around that they are felt [m], (v,).
        spare: Out, along any axis [m], (v,).
        boxes: Out, least and greatest corner [m], (v, 6).
    """
    for i in range(len(start)):
        way = 0.0
        for axis in range(3):
            way = max(way, abs(end[i, axis] - start[i, axis]))
        spare[i] = least[i] + SWEEP_MARGIN_RATIO * way
        reach = spare[i] + more[i]
        for axis in range(3):
            a, b = start[i, axis], end[i, axis]
            boxes[i, axis], boxes[i, 3 + axis] = min(a, b) - reach, max(a, b) + reach


@kernel()
def has_left_margin(looked_at, end, spare):
    """Whether a vertex ends farther from where it was looked for than there was to spare [m], (v, 3) twice and (v,)."""
    for i in range(len(end)):
        for axis in range(3):
            if not abs(end[i, axis] - looked_at[i, axis]) <= spare[i]:
                return True
    return False


@kernel()
def group_bounds(first_of, boxes, bounds):
    """Writes the boxes that hold those of each group [m], (g, 6): rows from first_of[g] to the next, (g + 1,)."""
    for group in range(len(first_of) - 1):
        for axis in range(3):
            low, high = np.inf, -np.inf
            for i in range(first_of[group], first_of[group + 1]):
                low, high = min(low, boxes[i, axis]), max(high, boxes[i, 3 + axis])
            bounds[group, axis], bounds[group, 3 + axis] = low, high


@kernel()
def find_candidate_pairs(
    first, last, swept, skin_of, nodes, may, bounds, triangles, tree_start, order, boxes, slot_boxes, point_out,
    triangle_out,
):  # fmt: skip
    """Writes pairs of points and triangles whose boxes touch, by rising point; returns how many there are.

    Of a skin's own triangles those beside the point do not count, see `shares_node_with_triangle`.

    Args:
        first, last: The points from `first` to before `last` are looked at.
        swept: Boxes of the points [m], (v, 6).
        skin_of, nodes, triangles: See `Skins`.
        may: Which skins meet which, (s, s).
        bounds: Of the skins [m], (s, 6).
        tree_start, order, boxes, slot_boxes: See `SkinTrees` and `fit_boxes`.
        point_out, triangle_out: Out, (c,) each; only as many as there is room for.
    """
    stack = np.empty(STACK_DEPTH, np.int64)
    count, room, skins = 0, len(point_out), len(may)
    for i in range(first, last):
        own = skin_of[i]
        x0, y0, z0, x1, y1, z1 = swept[i, 0], swept[i, 1], swept[i, 2], swept[i, 3], swept[i, 4], swept[i, 5]
        for skin in range(skins):
            if not may[own, skin] or boxes_disjoint(bounds[skin], x0, x1, y0, y1, z0, z1):
                continue
            root = tree_start[skin]
            leaves = (tree_start[skin + 1] - root) // 2
            stack[0] = 1
            top = 1
            while top > 0:
                top -= 1
                node = stack[top]
                if boxes_disjoint(boxes[root + node], x0, x1, y0, y1, z0, z1):
                    continue
                if node < leaves:
                    stack[top], stack[top + 1] = 2 * node + 1, 2 * node
                    top += 2
                    continue
                begin = 2 * root + (node - leaves) * LEAF_SIZE
                for slot in range(begin, begin + LEAF_SIZE):
                    t = order[slot]
                    if t < 0:
                        break
                    if boxes_disjoint(slot_boxes[slot], x0, x1, y0, y1, z0, z1):
                        continue
                    if own == skin and shares_node_with_triangle(nodes, np.int32(i), triangles, np.int64(t)):
                        continue
                    if count < room:
                        point_out[count], triangle_out[count] = i, t
                    count += 1
    return count


@kernel(inline=True, device_only=True)
def boxes_disjoint(box, x0, x1, y0, y1, z0, z1):
    """Whether a box and another one do not touch."""
    return box[0] > x1 or box[3] < x0 or box[1] > y1 or box[4] < y0 or box[2] > z1 or box[5] < z0


@kernel(inline=True, device_only=True)
def triangle_disjoint(start, end, triangles, t, x0, x1, y0, y1, z0, z1):
    """Whether the box of a triangle's way and another one do not touch."""
    i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
    for axis in range(3):
        low = min(min(start[i, axis], start[j, axis]), start[k, axis])
        low = min(low, min(min(end[i, axis], end[j, axis]), end[k, axis]))
        high = max(max(start[i, axis], start[j, axis]), start[k, axis])
        high = max(high, max(max(end[i, axis], end[j, axis]), end[k, axis]))
        if axis == 0 and (low > x1 or high < x0):
            return True
        if axis == 1 and (low > y1 or high < y0):
            return True
        if axis == 2 and (low > z1 or high < z0):
            return True
    return False


@kernel(inline=True, device_only=True)
def shares_node_with_triangle(nodes, i, triangles, t):
    """Whether vertex i never meets a triangle of its own skin: the tets share a node."""
    for corner in range(3):
        other = triangles[t, corner]
        for a in range(4):
            for b in range(4):
                if nodes[i, a] == nodes[other, b]:
                    return True
    return False
