# SPDX-License-Identifier: GPL-3.0-or-later
"""A balanced tree of boxes around triangles, for closest points, winding numbers and crossings."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Floats, Indices, floats, indices
from ...runtime.jit import kernel
from .multipole_moments import boxes_and_moments

LEAF_SIZE = 4
# A tree halved at every node is never deeper than this: 2³¹ triangles and more.
STACK_SIZE = 64


class BvhArrays(NamedTuple):
    """The arrays of a `Bvh` that kernels take."""

    boxes: Floats
    tree: Indices
    corners: Floats
    moments: Floats


@dataclass(frozen=True)
class Bvh:
    """A binary tree in preorder: the first child of node i is i + 1. Kernels take its arrays.

    Attributes:
        boxes: Least and greatest corner of each node's triangles [m], (k, 6).
        tree: Second child (-1 in a leaf), first triangle, number of triangles, next node that is not below
            this one, (k, 4).
        corners: Triangles in the order of the leaves, three corners each [m], (t, 9).
        order: Index in the surface of each of these triangles, (t,).
        moments: What a node's triangles look like from far away, see `multipole_moments.py`, (k, 13).
    """

    boxes: Floats
    tree: Indices
    corners: Floats
    order: Indices
    moments: Floats

    @property
    def arrays(self) -> BvhArrays:
        """`boxes`, `tree`, `corners` and `moments`, as kernels take them."""
        return BvhArrays(self.boxes, self.tree, self.corners, self.moments)


def build_bvh(vertices: npt.ArrayLike, triangles: npt.ArrayLike) -> Bvh:
    """Returns the tree of `triangles`, (t, 3) with t ≥ 1, over `vertices` [m], (n, 3)."""
    corners = floats(vertices, -1, 3)[indices(triangles, -1, 3)]
    order, tree = _bisect((corners.min(axis=1) + corners.max(axis=1)) / 2)
    corners = np.ascontiguousarray(corners[order].reshape(-1, 9))
    boxes, moments = boxes_and_moments(tree, corners)
    return Bvh(boxes, tree, corners, order, moments)


@kernel()
def fit_boxes(tree, corners, boxes):
    """Writes the boxes of all nodes around triangles in the order of the leaves, for `Bvh`'s arrays."""
    for node in range(len(tree) - 1, -1, -1):  # children come after their parents
        second = tree[node, 0]
        for axis in range(3):
            low, high = np.inf, -np.inf
            if second < 0:
                for t in range(tree[node, 1], tree[node, 1] + tree[node, 2]):
                    for corner in range(axis, 9, 3):
                        low, high = min(low, corners[t, corner]), max(high, corners[t, corner])
            else:
                low = min(boxes[node + 1, axis], boxes[second, axis])
                high = max(boxes[node + 1, 3 + axis], boxes[second, 3 + axis])
            boxes[node, axis], boxes[node, 3 + axis] = low, high


def _bisect(middles: Floats) -> tuple[Indices, Indices]:
    """Orders triangles by halving them, level by level, at the median along the longest side of their middles' box.

    Args:
        middles: Middles of the triangles' boxes [m], (t, 3).

    Returns:
        The triangles in the order of the leaves, (t,), and the tree, (k, 4).
    """
    order = np.arange(len(middles), dtype=np.int64)
    tree = np.empty((_node_count(len(middles)), 4), np.int32)
    node, first, size = np.array([0], np.int64), np.array([0], np.int64), np.array([len(middles)], np.int64)
    while len(node):
        tree[node] = np.stack([np.full(len(node), -1, np.int64), first, size, node + _node_counts(size)], axis=1)
        inner = size > LEAF_SIZE
        node, first, size = node[inner], first[inner], size[inner]
        if not len(node):
            break
        _sort_along_longest(middles, first, size, order)
        half = size // 2
        second = node + 1 + _node_counts(half)
        tree[node, 0] = second
        node = np.concatenate([node + 1, second])
        first, size = np.concatenate([first, first + half]), np.concatenate([half, size - half])
    return order.astype(np.int32), tree


def _sort_along_longest(middles: Floats, first: npt.NDArray, size: npt.NDArray, order: npt.NDArray) -> None:
    """Sorts each group of `order`, from `first` on and so long, along the longest side of its box."""
    starts = np.concatenate([[0], np.cumsum(size, dtype=np.int64)[:-1]])
    group = np.repeat(np.arange(len(size), dtype=np.int64), size)
    place = np.repeat(first - starts, size) + np.arange(len(group), dtype=np.int64)
    x = middles[order[place]]
    least, most = np.minimum.reduceat(x, starts), np.maximum.reduceat(x, starts)
    axis = np.argmax(most - least, axis=1)
    rows = np.arange(len(size), dtype=np.int64)
    low, length = least[rows, axis], (most - least)[rows, axis]
    along = x[np.arange(len(x), dtype=np.int64), axis[group]] - low[group]
    along /= np.where(length > 0.0, length * 1.001, 1.0)[group]  # in [0, 1), so that groups stay apart
    order[place] = order[place[np.argsort(group + along, kind="stable")]]


def _node_counts(sizes: npt.NDArray) -> npt.NDArray:
    """Returns how many nodes trees over so many triangles have, (k,); `sizes` differ by one at most."""
    least = int(sizes.min())
    return np.array([_node_count(least), _node_count(least + 1)], np.int64)[sizes - least]


@functools.cache
def _node_count(count: int) -> int:
    """Returns how many nodes a tree over `count` triangles has."""
    return 1 if count <= LEAF_SIZE else 1 + _node_count(count // 2) + _node_count(count - count // 2)
