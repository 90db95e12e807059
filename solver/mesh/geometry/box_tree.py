# SPDX-License-Identifier: GPL-3.0-or-later
"""A tree of bounding boxes over anything that has a box, built with NumPy alone.

The tree is complete and binary, so it needs no pointers: node i has the children 2i and 2i + 1, the root is 1,
and the leaves are the nodes from `leaf_count` on. Leaf number l holds the items
`order[l * LEAF_SIZE : (l + 1) * LEAF_SIZE]`. Items are ordered along a Morton curve through their centres.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...runtime.arrays import Floats, Indices
from .morton_code import morton_codes

LEAF_SIZE = 4
MORTON_BITS = 16


@dataclass(frozen=True)
class BoxTree:
    """A tree of boxes as arrays, ready for kernels.

    Attributes:
        lower, upper: Corners of the nodes' boxes [m], (2 * leaf_count, 3); empty nodes have lower > upper.
        order: Items in the order of the leaves, (item count,).
    """

    lower: Floats
    upper: Floats
    order: Indices

    @property
    def leaf_count(self) -> int:
        """Leaves, a power of two."""
        return len(self.lower) // 2


def build_box_tree(lower: Floats, upper: Floats) -> BoxTree:
    """Returns the tree over the boxes from `lower` to `upper` [m], both (n, 3)."""
    count = len(lower)
    order = np.argsort(_morton(0.5 * (lower + upper)), kind="stable").astype(np.int32)
    leaf_count = 1
    while leaf_count * LEAF_SIZE < count:
        leaf_count *= 2
    node_lower = np.full((2 * leaf_count, 3), np.inf)
    node_upper = np.full((2 * leaf_count, 3), -np.inf)
    padded = np.full((leaf_count * LEAF_SIZE, 3), np.inf)
    padded[:count] = lower[order]
    node_lower[leaf_count:] = np.minimum.reduce([padded[item::LEAF_SIZE] for item in range(LEAF_SIZE)])
    padded[:] = -np.inf
    padded[:count] = upper[order]
    node_upper[leaf_count:] = np.maximum.reduce([padded[item::LEAF_SIZE] for item in range(LEAF_SIZE)])
    first = leaf_count
    while first > 1:
        one, other = slice(first, 2 * first, 2), slice(first + 1, 2 * first, 2)
        above = slice(first // 2, first)
        node_lower[above] = np.minimum(node_lower[one], node_lower[other])
        node_upper[above] = np.maximum(node_upper[one], node_upper[other])
        first //= 2
    return BoxTree(node_lower, node_upper, order)


def _morton(centres: Floats) -> np.ndarray:
    """Returns the Morton code of every centre, (n,)."""
    if not len(centres):
        return np.zeros(0, np.int64)
    low = centres.min(axis=0)
    # One scale for all axes: a long thin body is then cut across its length first.
    size = max(float((centres.max(axis=0) - low).max()), np.finfo(float).tiny)
    cells = ((centres - low) / size * (2**MORTON_BITS - 1)).astype(np.int64)
    return morton_codes(cells)
