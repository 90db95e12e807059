# SPDX-License-Identifier: GPL-3.0-or-later
"""A balanced tree of boxes around triangles, for closest points, winding numbers and crossings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..arrays import Floats, Indices, floats, indices
from ..jit import kernel
from .moments import boxes_and_moments

LEAF_SIZE = 4
# A tree halved at every node is never deeper than this: 2³¹ triangles and more.
STACK_SIZE = 64


@dataclass(frozen=True)
class Bvh:
    """A binary tree in preorder: the first child of node i is i + 1. Kernels take its arrays.

    Attributes:
        boxes: Least and greatest corner of each node's triangles [m], (k, 6).
        tree: Second child (-1 in a leaf), first triangle, number of triangles, next node that is not below
            this one, (k, 4).
        corners: Triangles in the order of the leaves, three corners each [m], (t, 9).
        order: Index in the surface of each of these triangles, (t,).
        moments: What a node's triangles look like from far away, see `moments.py`, (k, 13).
    """

    boxes: Floats
    tree: Indices
    corners: Floats
    order: Indices
    moments: Floats

    @property
    def arrays(self) -> tuple[Floats, Indices, Floats, Floats]:
        """`boxes`, `tree`, `corners` and `moments`, as kernels take them."""
        return self.boxes, self.tree, self.corners, self.moments


def build_bvh(vertices: npt.ArrayLike, triangles: npt.ArrayLike) -> Bvh:
    """Returns the tree of `triangles`, (t, 3) with t ≥ 1, over `vertices` [m], (n, 3)."""
    corners = floats(vertices, -1, 3)[indices(triangles, -1, 3)]
    middles = np.ascontiguousarray((corners.min(axis=1) + corners.max(axis=1)) / 2)
    order = np.arange(len(corners), dtype=np.int32)
    tree = np.empty((_node_count(len(corners)), 4), np.int32)
    split_triangles(middles, order, tree)
    corners = np.ascontiguousarray(corners[order].reshape(-1, 9))
    boxes, moments = boxes_and_moments(tree, corners)
    return Bvh(boxes, tree, corners, order, moments)


def _node_count(count: int) -> int:
    """Returns how many nodes a tree over `count` triangles has when each node is halved."""
    sizes = {count: 1}
    nodes = 0
    while sizes:
        nodes += sum(sizes.values())
        below: dict[int, int] = {}
        for size, times in sizes.items():
            if size > LEAF_SIZE:
                for half in (size // 2, size - size // 2):
                    below[half] = below.get(half, 0) + times
        sizes = below
    return nodes


@kernel()
def split_triangles(middles, order, tree):
    """Orders triangles by halving them at the median of the longest side of their middles' box.

    Args:
        middles: Middles of the triangles' boxes [m], (t, 3).
        order: A permutation of the triangles, (t,); changed.
        tree: See `Bvh`, (k, 4); filled.
    """
    waiting = np.empty((STACK_SIZE, 3), np.int64)  # first, end, parent whose second child it is (or -1)
    waiting[0, 0] = 0
    waiting[0, 1] = order.shape[0]
    waiting[0, 2] = -1
    depth = 1
    node = 0
    while depth > 0:
        depth -= 1
        first = waiting[depth, 0]
        end = waiting[depth, 1]
        if waiting[depth, 2] >= 0:
            tree[waiting[depth, 2], 0] = node
        tree[node, 0] = -1
        tree[node, 1] = first
        tree[node, 2] = end - first
        if end - first > LEAF_SIZE:
            middle = first + (end - first) // 2
            select_median(middles, longest_axis(middles, order, first, end), order, first, end, middle)
            waiting[depth, 0] = middle
            waiting[depth, 1] = end
            waiting[depth, 2] = node
            waiting[depth + 1, 0] = first
            waiting[depth + 1, 1] = middle
            waiting[depth + 1, 2] = -1
            depth += 2
        node += 1
    for i in range(node - 1, -1, -1):
        tree[i, 3] = i + 1 if tree[i, 0] < 0 else tree[tree[i, 0], 3]


@kernel()
def longest_axis(middles, order, first, end):
    """Returns the axis along which `middles[order[first:end]]` spread the most."""
    best = 0
    longest = -1.0
    for axis in range(3):
        least = np.inf
        greatest = -np.inf
        for i in range(first, end):
            value = middles[order[i], axis]
            least = min(least, value)
            greatest = max(greatest, value)
        if greatest - least > longest:
            longest = greatest - least
            best = axis
    return best


@kernel()
def select_median(middles, axis, order, first, end, middle):
    """Permutes `order[first:end]` so that none before `middle` is greater than any from `middle` on."""
    low = first
    high = end
    while high - low > 1:
        a = middles[order[low], axis]
        b = middles[order[(low + high) // 2], axis]
        c = middles[order[high - 1], axis]
        pivot = max(min(a, b), min(max(a, b), c))
        less = low
        greater = high
        i = low
        while i < greater:  # three parts, so that many equal values do not slow it down
            value = middles[order[i], axis]
            if value < pivot:
                order[i], order[less] = order[less], order[i]
                less += 1
                i += 1
            elif value > pivot:
                greater -= 1
                order[i], order[greater] = order[greater], order[i]
            else:
                i += 1
        if middle < less:
            high = less
        elif middle >= greater:
            low = greater
        else:
            return
