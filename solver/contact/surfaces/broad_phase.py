# SPDX-License-Identifier: GPL-3.0-or-later
"""Broad phase of surfaces: which points come near which triangles during a step, by a tree of boxes for each surface.

Each tree is built once at rest, and its boxes are fitted again for every step. Trees are complete and binary, one after
the other: nodes of a surface are `start` + 1 for the root, and `start` + 2 i and `start` + 2 i + 1 for the children of
`start` + i. Leaf l has the slots from 2 `start` + 4 l on, some of them empty: both halves of a node have equally many
triangles, which makes the boxes as small as possible. Sharp edges use the same trees, as triangles with two equal
corners.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Floats, Indices
from ...runtime.jit import kernel

Int64s = npt.NDArray[np.int64]
LEAF_SIZE = 4  # triangles in a leaf
STACK_SIZE = 128  # nodes
SWEEP_MARGIN_RATIO = 0.1  # distance beyond the end of a vertex that the search covers, over its path


class VertexRings(NamedTuple):
    """The triangles at each vertex: those of vertex i are triangle[start[i] : start[i + 1]].

    Attributes:
        start: (v + 1,).
        triangle: (3 t,).
    """

    start: Int64s
    triangle: Indices


@dataclass(frozen=True, eq=False)
class SurfaceTrees:
    """The trees of all surfaces.

    Attributes:
        start: First node of each surface, (s + 1,).
        slot_triangle: Triangles of all surfaces in the slots of the leaves, −1 in empty ones, (2 start[s],).
        rings: The triangles at each vertex.
    """

    start: Int64s
    slot_triangle: Indices
    rings: VertexRings

    def allocate_boxes(self) -> TreeBoxes:
        """Returns the trees with boxes to be fitted."""
        boxes, slot_boxes = np.empty((int(self.start[-1]), 6)), np.empty((len(self.slot_triangle), 6))
        return TreeBoxes(self.start, self.slot_triangle, boxes, slot_boxes)


class TreeBoxes(NamedTuple):
    """The trees of all surfaces with the boxes of a step.

    Attributes:
        start, slot_triangle: See `SurfaceTrees`.
        boxes: Least and greatest corner of each node [m], (nodes, 6).
        slot_boxes: The same of the triangles in the slots, (slots, 6).
    """

    start: Int64s
    slot_triangle: Indices
    boxes: Floats
    slot_boxes: Floats


def make_trees(rest: Floats, triangles: Indices, triangle_start: Int64s) -> SurfaceTrees:
    """Returns the trees of surfaces, by vertices at rest [m], (v, 3), and triangles, (t, 3)."""
    starts, orders = [0], [np.zeros(0, np.int32)]
    for first, last in zip(triangle_start[:-1].tolist(), triangle_start[1:].tolist(), strict=True):
        corners = rest[triangles[first:last]]
        slots = _slot_triangles(0.5 * (corners.min(axis=1) + corners.max(axis=1)))
        starts.append(starts[-1] + len(slots) // 2)
        orders.append(np.where(slots >= 0, slots + first, -1).astype(np.int32))
    corner = np.argsort(triangles.ravel(), kind="stable")
    ring_start = np.searchsorted(triangles.ravel()[corner], np.arange(len(rest) + 1, dtype=np.int64))
    rings = VertexRings(ring_start.astype(np.int64), (corner // 3).astype(np.int32))
    return SurfaceTrees(np.array(starts, np.int64), np.concatenate(orders), rings)


def _slot_triangles(centers: Floats) -> npt.NDArray[np.int64]:
    """Returns the triangle in each slot of a tree, −1 in empty ones, by halving boxes along their longest side.

    Args:
        centers: Of the boxes of the triangles [m], (t, 3).
    """
    count, leaves = len(centers), 1
    while leaves * LEAF_SIZE < count:
        leaves *= 2
    order, starts = np.arange(count, dtype=np.int64), np.array([0, count], np.int64)
    while count and len(starts) <= leaves:
        size = np.diff(starts)
        group = np.repeat(np.arange(len(size), dtype=np.int64), size)
        x = centers[order]
        least, most = np.minimum.reduceat(x, starts[:-1]), np.maximum.reduceat(x, starts[:-1])
        axis, row = np.argmax(most - least, axis=1), np.arange(len(size), dtype=np.int64)
        low, length = least[row, axis], (most - least)[row, axis]
        along = (x[np.arange(count, dtype=np.int64), axis[group]] - low[group]) / np.where(
            length > 0.0, 1.001 * length, 1.0
        )[group]
        order = order[np.argsort(group + along, kind="stable")]
        starts = np.sort(np.concatenate([starts, starts[:-1] + (size + 1) // 2]))
    slots = np.full((leaves, LEAF_SIZE), -1, np.int64)
    if count:
        size = np.diff(starts)
        leaf = np.repeat(np.arange(leaves, dtype=np.int64), size)
        slots[leaf, np.arange(count, dtype=np.int64) - starts[:-1][leaf]] = order
    return slots.ravel()


@kernel()
def fit_boxes(surface, swept, triangles, trees):
    """Writes the boxes of one surface's tree, which contain those of its triangles' vertices.

    Args:
        surface: Its number.
        swept: Boxes of the vertices [m], (v, 6).
        triangles: See `CollisionSurfaces`.
        trees: `TreeBoxes`.
    """
    boxes, root = trees.boxes, trees.start[surface]
    leaves = (trees.start[surface + 1] - root) // 2
    for leaf in range(leaves):
        box = boxes[root + leaves + leaf]
        for axis in range(3):
            box[axis], box[3 + axis] = np.inf, -np.inf
        first = 2 * root + LEAF_SIZE * leaf
        for slot in range(first, first + LEAF_SIZE):
            t = trees.slot_triangle[slot]
            if t < 0:
                break
            i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
            for axis in range(3):
                low = min(min(swept[i, axis], swept[j, axis]), swept[k, axis])
                high = max(max(swept[i, 3 + axis], swept[j, 3 + axis]), swept[k, 3 + axis])
                trees.slot_boxes[slot, axis], trees.slot_boxes[slot, 3 + axis] = low, high
                box[axis], box[3 + axis] = min(box[axis], low), max(box[3 + axis], high)
    for node in range(leaves - 1, 0, -1):
        box, one, other = boxes[root + node], boxes[root + 2 * node], boxes[root + 2 * node + 1]
        for axis in range(3):
            box[axis] = min(one[axis], other[axis])
            box[3 + axis] = max(one[3 + axis], other[3 + axis])


@kernel()
def sweep_boxes(start, end, min_margin, thickness, margin, boxes):
    """Writes the margin of each vertex, and a box that contains its path, the margin and the thickness.

    Args:
        start, end: Vertices at both ends of the step [m], (v, 3).
        min_margin: Margin of a vertex at rest [m], (v,).
        thickness: Distance at which other surfaces touch it [m], (v,).
        margin: Out: how far from `end` the vertex may go before another search, along any axis [m], (v,).
        boxes: Out, least and greatest corner [m], (v, 6).
    """
    for i in range(len(start)):
        length = 0.0
        for axis in range(3):
            length = max(length, abs(end[i, axis] - start[i, axis]))
        margin[i] = min_margin[i] + SWEEP_MARGIN_RATIO * length
        reach = margin[i] + thickness[i]
        for axis in range(3):
            a, b = start[i, axis], end[i, axis]
            boxes[i, axis], boxes[i, 3 + axis] = min(a, b) - reach, max(a, b) + reach


@kernel()
def has_left_margin(searched_end, end, margin):
    """Returns whether a vertex ends outside the margin of the last search [m], (v, 3) twice and (v,)."""
    for i in range(len(end)):
        for axis in range(3):
            if not abs(end[i, axis] - searched_end[i, axis]) <= margin[i]:
                return True
    return False


@kernel()
def group_bounds(group_start, boxes, bounds):
    """Writes the boxes around the boxes of each group [m], (g, 6): rows group_start[g] to the next, (g + 1,)."""
    for group in range(len(group_start) - 1):
        for axis in range(3):
            low, high = np.inf, -np.inf
            for i in range(group_start[group], group_start[group + 1]):
                low, high = min(low, boxes[i, axis]), max(high, boxes[i, 3 + axis])
            bounds[group, axis], bounds[group, 3 + axis] = low, high


@kernel()
def find_candidate_pairs(
    first, last, swept, surface_of, nodes, may_touch, bounds, triangles, trees, point_out, triangle_out
):
    """Writes pairs of points and triangles whose boxes touch, by rising point; returns how many there are.

    Triangles of the point's own surface beside the point are left out, see `shares_node_with_triangle`.

    Args:
        first, last: The points from `first` to before `last` are searched.
        swept: Boxes of the points [m], (v, 6).
        surface_of, nodes, triangles: See `CollisionSurfaces`.
        may_touch: Which surfaces collide, (s, s).
        bounds: Of the surfaces [m], (s, 6).
        trees: `TreeBoxes`, fitted.
        point_out, triangle_out: Out, (c,) each; pairs beyond that room are only counted.
    """
    tree_start, slot_triangle, boxes, slot_boxes = trees
    stack = np.empty(STACK_SIZE, np.int64)
    count, room, surfaces = 0, len(point_out), len(may_touch)
    for i in range(first, last):
        own = surface_of[i]
        x0, y0, z0, x1, y1, z1 = swept[i, 0], swept[i, 1], swept[i, 2], swept[i, 3], swept[i, 4], swept[i, 5]
        for surface in range(surfaces):
            if not may_touch[own, surface] or boxes_disjoint(bounds[surface], x0, x1, y0, y1, z0, z1):
                continue
            root = tree_start[surface]
            leaves = (tree_start[surface + 1] - root) // 2
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
                    t = slot_triangle[slot]
                    if t < 0:
                        break
                    if boxes_disjoint(slot_boxes[slot], x0, x1, y0, y1, z0, z1):
                        continue
                    if own == surface and shares_node_with_triangle(nodes, np.int32(i), triangles, np.int64(t)):
                        continue
                    if count < room:
                        point_out[count], triangle_out[count] = i, t
                    count += 1
    return count


@kernel(inline=True, device_only=True)
def boxes_disjoint(box, x0, x1, y0, y1, z0, z1):
    """Returns whether two boxes do not touch."""
    return box[0] > x1 or box[3] < x0 or box[1] > y1 or box[4] < y0 or box[2] > z1 or box[5] < z0


@kernel(inline=True, device_only=True)
def triangle_disjoint(start, end, triangles, t, x0, x1, y0, y1, z0, z1):
    """Returns whether the box of a moving triangle and another one do not touch."""
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
    """Returns whether the tets of vertex i and of a triangle share a node, so that they never collide."""
    for corner in range(3):
        other = triangles[t, corner]
        for a in range(4):
            for b in range(4):
                if nodes[i, a] == nodes[other, b]:
                    return True
    return False
