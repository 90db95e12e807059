# SPDX-License-Identifier: GPL-3.0-or-later
"""Trees of boxes around the triangles of surfaces, one for each piece.

Each tree is built once at rest, and its boxes are fitted again for every step. Trees are complete and binary, one after
the other: nodes of a piece are `start` + 1 for the root, and `start` + 2 i and `start` + 2 i + 1 for the children of
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
from .swept_paths import empty_box, enclose_path

Int64s = npt.NDArray[np.int64]
LEAF_SIZE = 4  # triangles in a leaf


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
    """The trees of all pieces, p of them.

    Attributes:
        start: First node of each piece, (p + 1,).
        slot_triangle: Triangles of all pieces in the slots of the leaves, −1 in empty ones, (2 start[p],).
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
    """The trees of all pieces with the boxes of a step.

    Attributes:
        start, slot_triangle: See `SurfaceTrees`.
        boxes: Least and greatest corner of each node [m], (nodes, 6).
        slot_boxes: The same of the triangles in the slots, (slots, 6).
    """

    start: Int64s
    slot_triangle: Indices
    boxes: Floats
    slot_boxes: Floats


def make_trees(rest: Floats, triangles: Indices, piece: Indices, pieces: int) -> SurfaceTrees:
    """Returns the trees of pieces, by vertices at rest [m], (v, 3), triangles, (t, 3), and their pieces, (t,)."""
    corners = rest[triangles]
    middle, count = 0.5 * (corners.min(axis=1) + corners.max(axis=1)), np.bincount(piece, minlength=pieces)
    leaves = np.ones(pieces, np.int64)
    while (is_full := leaves * LEAF_SIZE < count).any():
        leaves[is_full] *= 2
    start = np.append(0, np.cumsum(2 * leaves, dtype=np.int64))
    slot_triangle = np.full(2 * int(start[-1]), -1, np.int32)
    for number in np.unique(leaves[count > 0]).tolist():  # pieces of equally large trees at once
        own = np.flatnonzero((leaves == number) & (count > 0))
        triangle = np.flatnonzero((leaves == number)[piece])
        triangle = triangle[np.argsort(piece[triangle], kind="stable")]
        slots = _slot_triangles(middle[triangle], count[own], number)
        at = 2 * start[own][:, None] + np.arange(LEAF_SIZE * number, dtype=np.int64)
        slot_triangle[at] = np.where(slots >= 0, np.append(triangle, -1)[slots], -1)
    corner = np.argsort(triangles.ravel(), kind="stable")
    ring_start = np.searchsorted(triangles.ravel()[corner], np.arange(len(rest) + 1, dtype=np.int64))
    rings = VertexRings(ring_start.astype(np.int64), (corner // 3).astype(np.int32))
    return SurfaceTrees(start, slot_triangle, rings)


def _slot_triangles(centers: Floats, count: Int64s, leaves: int) -> Int64s:
    """Returns the triangle in each slot of p trees, −1 in empty ones, (p, 4 leaves).

    Halves boxes along their longest side.

    Args:
        centers: Of the boxes of the triangles, tree by tree [m], (t, 3).
        count: Of triangles in each tree, at least one, (p,).
        leaves: Of each tree, a power of two; none of them stays empty.
    """
    order, starts = np.arange(len(centers), dtype=np.int64), np.append(0, np.cumsum(count, dtype=np.int64))
    for level in range(leaves.bit_length() - 1):
        size = np.diff(starts)
        row = np.arange(len(size), dtype=np.int64)
        group = np.repeat(row, size)
        x = centers[order]
        least, most = np.minimum.reduceat(x, starts[:-1]), np.maximum.reduceat(x, starts[:-1])
        axis = np.argmax(most - least, axis=1)
        low, length = least[row, axis], (most - least)[row, axis]
        along = (x[np.arange(len(x), dtype=np.int64), axis[group]] - low[group]) / np.where(
            length > 0.0, 1.001 * length, 1.0
        )[group]
        tree, part = np.divmod(group, 2**level)
        order = order[np.lexsort((part + along, tree))]
        starts = np.sort(np.concatenate([starts, starts[:-1] + (size + 1) // 2]))
    slots, size = np.full((len(count) * leaves, LEAF_SIZE), -1, np.int64), np.diff(starts)
    leaf = np.repeat(np.arange(len(size), dtype=np.int64), size)
    slots[leaf, np.arange(len(order), dtype=np.int64) - starts[:-1][leaf]] = order
    return slots.reshape(len(count), -1)


@kernel()
def fit_boxes(pieces, paths, motion, triangles, trees, bounds):
    """Writes the boxes of the trees of some pieces, which contain the paths of their triangles' vertices.

    Args:
        pieces: Their numbers, (q,).
        paths: `SweptPaths` of the vertices.
        motion: Of all pieces [m], (p, 3).
        triangles: See `CollisionSurfaces`.
        trees: `TreeBoxes`.
        bounds: Out, the boxes of whole trees [m], (p, 6).
    """
    for piece in pieces:
        _fit_tree(piece, paths, motion[piece], triangles, trees, bounds[piece])


@kernel(device_only=True)
def _fit_tree(piece, paths, motion, triangles, trees, bound):
    """Writes the boxes of one piece's tree, which contain the paths of its triangles' vertices beside its motion.

    Args:
        piece: Its number.
        paths: `SweptPaths` of the vertices.
        motion: Of the piece [m], (3,).
        triangles: See `CollisionSurfaces`.
        trees: `TreeBoxes`.
        bound: Out, the box of the whole tree [m], (6,).
    """
    boxes, root = trees.boxes, trees.start[piece]
    leaves = (trees.start[piece + 1] - root) // 2
    for leaf in range(leaves):
        box = boxes[root + leaves + leaf]
        empty_box(box)
        first = 2 * root + LEAF_SIZE * leaf
        for slot in range(first, first + LEAF_SIZE):
            t = trees.slot_triangle[slot]
            if t < 0:
                break
            own = trees.slot_boxes[slot]
            empty_box(own)
            for corner in range(3):
                enclose_path(own, triangles[t, corner], paths, motion)
            for axis in range(3):
                box[axis], box[3 + axis] = min(box[axis], own[axis]), max(box[3 + axis], own[3 + axis])
    for node in range(leaves - 1, 0, -1):
        box, one, other = boxes[root + node], boxes[root + 2 * node], boxes[root + 2 * node + 1]
        for axis in range(3):
            box[axis] = min(one[axis], other[axis])
            box[3 + axis] = max(one[3 + axis], other[3 + axis])
    bound[:] = boxes[root + 1]
