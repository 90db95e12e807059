# SPDX-License-Identifier: GPL-3.0-or-later
"""A tree of boxes per skin, made once at rest and fitted anew to every step, and what meets at each vertex."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..arrays import Floats, Indices
from ..geometry.box_tree import LEAF_SIZE, build_box_tree
from ..jit import kernel

Whole = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SkinTrees:
    """The trees of all skins, one after the other; see `geometry/box_tree.py` for how their nodes are numbered.

    Attributes:
        start: Where the boxes of each skin begin, (s + 1,): root, children … are start + 1, start + 2, start + 3 …
        order: Triangles, counted over all skins, in the order of the leaves; those of a skin begin with its first
            triangle, (t,).
        at_start, at: The triangles at each vertex: at[at_start[i] : at_start[i + 1]], (v + 1,) and (3 t,).
    """

    start: Whole
    order: Indices
    at_start: Whole
    at: Indices


def make_trees(rest: Floats, triangles: Indices, triangle_start: Whole) -> SkinTrees:
    """Returns the trees of skins, by vertices at rest [m], (v, 3), and triangles, (t, 3)."""
    starts, orders = [0], [np.zeros(0, np.int32)]
    for first, last in zip(triangle_start[:-1].tolist(), triangle_start[1:].tolist(), strict=True):
        corners = rest[triangles[first:last]]
        tree = build_box_tree(corners.min(axis=1), corners.max(axis=1))
        starts.append(starts[-1] + 2 * tree.leaf_count)
        orders.append(tree.order + np.int32(first))
    corner = np.argsort(triangles.ravel(), kind="stable")
    at_start = np.searchsorted(triangles.ravel()[corner], np.arange(len(rest) + 1))
    return SkinTrees(
        np.array(starts, np.int64),
        np.concatenate(orders),
        at_start.astype(np.int64),
        (corner // 3).astype(np.int32),
    )


@kernel()
def fit_boxes(skin, start, end, more, triangles, triangle_start, tree_start, order, boxes):
    """Writes the boxes of one skin's tree: they hold its triangles at both ends of a step and `more` around them [m].

    Args:
        skin: Which.
        start, end: Vertices at both ends of the step [m], (v, 3).
        more: [m].
        triangles, triangle_start: See `Skins`.
        tree_start, order: See `SkinTrees`.
        boxes: Out, least and greatest corner [m], (nodes, 6).
    """
    root = tree_start[skin]
    leaves = (tree_start[skin + 1] - root) // 2
    first, last = triangle_start[skin], triangle_start[skin + 1]
    for leaf in range(leaves):
        box = boxes[root + leaves + leaf]
        for axis in range(3):
            box[axis], box[3 + axis] = np.inf, -np.inf
        for slot in range(first + leaf * LEAF_SIZE, min(first + (leaf + 1) * LEAF_SIZE, last)):
            t = order[slot]
            for corner in range(3):
                i = triangles[t, corner]
                for axis in range(3):
                    a, b = start[i, axis], end[i, axis]
                    box[axis] = min(box[axis], min(a, b) - more)
                    box[3 + axis] = max(box[3 + axis], max(a, b) + more)
    for node in range(leaves - 1, 0, -1):
        box, one, other = boxes[root + node], boxes[root + 2 * node], boxes[root + 2 * node + 1]
        for axis in range(3):
            box[axis] = min(one[axis], other[axis])
            box[3 + axis] = max(one[3 + axis], other[3 + axis])
