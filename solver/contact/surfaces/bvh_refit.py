# SPDX-License-Identifier: GPL-3.0-or-later
"""A tree of boxes per skin, made once at rest and fitted anew to every step, and what meets at each vertex.

Trees are complete and binary, one after the other: the nodes of a skin are `start` + 1 for the root, and `start` + 2 i
and `start` + 2 i + 1 for the children of `start` + i. Leaf l has the slots from 2 `start` + 4 l on, of which some stay
empty: halves of a node are equal, so that boxes are as small as they can be.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Floats, Indices
from ...runtime.jit import kernel

Int64s = npt.NDArray[np.int64]
LEAF_SIZE = 4


@dataclass(frozen=True, eq=False)
class SurfaceTrees:
    """The trees of all skins.

    Attributes:
        start: Where the nodes of each skin begin, (s + 1,).
        order: Triangles, counted over all skins, in the slots of the leaves, −1 in empty ones, (2 start[s],).
        at_start, at: The triangles at each vertex: at[at_start[i] : at_start[i + 1]], (v + 1,) and (3 t,).
    """

    start: Int64s
    slot_triangle: Indices
    ring_start: Int64s
    ring: Indices


def make_trees(rest: Floats, triangles: Indices, triangle_start: Int64s) -> SurfaceTrees:
    """Returns the trees of skins, by vertices at rest [m], (v, 3), and triangles, (t, 3)."""
    starts, orders = [0], [np.zeros(0, np.int32)]
    for first, last in zip(triangle_start[:-1].tolist(), triangle_start[1:].tolist(), strict=True):
        corners = rest[triangles[first:last]]
        slots = _slot_triangles(0.5 * (corners.min(axis=1) + corners.max(axis=1)))
        starts.append(starts[-1] + len(slots) // 2)
        orders.append(np.where(slots >= 0, slots + first, -1).astype(np.int32))
    corner = np.argsort(triangles.ravel(), kind="stable")
    at_start = np.searchsorted(triangles.ravel()[corner], np.arange(len(rest) + 1, dtype=np.int64))
    return SurfaceTrees(
        np.array(starts, np.int64),
        np.concatenate(orders),
        at_start.astype(np.int64),
        (corner // 3).astype(np.int32),
    )


def _slot_triangles(middles: Floats) -> npt.NDArray[np.int64]:
    """Returns which triangle is in each slot of a tree, −1 in empty ones, by halving them along their longest side.

    Args:
        middles: Of the triangles' boxes [m], (t, 3).
    """
    count, leaves = len(middles), 1
    while leaves * LEAF_SIZE < count:
        leaves *= 2
    order, starts = np.arange(count, dtype=np.int64), np.array([0, count], np.int64)
    while count and len(starts) <= leaves:
        size = np.diff(starts)
        group = np.repeat(np.arange(len(size), dtype=np.int64), size)
        x = middles[order]
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
def fit_boxes(skin, swept, triangles, tree_start, order, boxes, slot_boxes):
    """Writes the boxes of one skin's tree: they hold those of its triangles' vertices.

    Args:
        skin: Which.
        swept: Boxes of the vertices [m], (v, 6).
        triangles: See `Skins`.
        tree_start, order: See `SurfaceTrees`.
        boxes: Out, least and greatest corner of nodes [m], (nodes, 6).
        slot_boxes: Out, the same of the triangles in the slots, (slots, 6).
    """
    root = tree_start[skin]
    leaves = (tree_start[skin + 1] - root) // 2
    for leaf in range(leaves):
        box = boxes[root + leaves + leaf]
        for axis in range(3):
            box[axis], box[3 + axis] = np.inf, -np.inf
        first = 2 * root + LEAF_SIZE * leaf
        for slot in range(first, first + LEAF_SIZE):
            t = order[slot]
            if t < 0:
                break
            i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
            for axis in range(3):
                low = min(min(swept[i, axis], swept[j, axis]), swept[k, axis])
                high = max(max(swept[i, 3 + axis], swept[j, 3 + axis]), swept[k, 3 + axis])
                slot_boxes[slot, axis], slot_boxes[slot, 3 + axis] = low, high
                box[axis], box[3 + axis] = min(box[axis], low), max(box[3 + axis], high)
    for node in range(leaves - 1, 0, -1):
        box, one, other = boxes[root + node], boxes[root + 2 * node], boxes[root + 2 * node + 1]
        for axis in range(3):
            box[axis] = min(one[axis], other[axis])
            box[3 + axis] = max(one[3 + axis], other[3 + axis])
