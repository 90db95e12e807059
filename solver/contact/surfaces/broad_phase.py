# SPDX-License-Identifier: GPL-3.0-or-later
"""Broad phase of surfaces: which points come near which triangles during a step, by a tree of boxes for each piece.

A tree moves with its piece, and so does what is looked for in it (`swept_paths.py`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Bools, Floats, Indices
from ...runtime.jit import kernel
from .surface_trees import LEAF_SIZE
from .swept_paths import SweptPaths, empty_box, enclose_path

Int64s = npt.NDArray[np.int64]
STACK_SIZE = 128  # nodes


class PiecePairs(NamedTuple):
    """Which pieces come near which: those of piece p are other[start[p] : start[p + 1]], rising."""

    start: Int64s
    other: Indices

    def reached(self, pieces: int) -> npt.NDArray[np.bool_]:
        """Returns which pieces any comes near, (p,)."""
        found = np.zeros(pieces, bool)
        found[self.other] = True
        return found


class MeetingPieces(NamedTuple):
    """Which of p pieces may meet each other.

    Attributes:
        may_touch: Which surfaces collide, (s, s).
        may_move: Which pieces may move: two of which none may do not meet, (p,).
    """

    may_touch: Bools
    may_move: Bools


class SearchedPieces(NamedTuple):
    """The pieces of all surfaces in a step, and what is looked for: their points, or their edges.

    Attributes:
        items: The vertex of each point, or those of each edge, (k, 1) or (k, 2).
        of: The piece of each point or edge, (k,).
        surface: Of each piece, rising, (p,).
        motion: Mean motion of each in the step [m], (p, 3).
        bounds: Box of each tree, moving along [m], (p, 6).
        pairs: Which come near which.
    """

    items: Indices
    of: Indices
    surface: Indices
    motion: Floats
    bounds: Floats
    pairs: PiecePairs


class KnownPairs(NamedTuple):
    """Pairs of points or edges and triangles that an earlier search has found, c of them.

    Attributes:
        is_left: Whose pairs are to be searched again, of the pieces, (p,).
        piece_of_triangle: (t,).
        item: Points or edges, rising, (c,).
        triangle: Theirs, by rising piece, (c,).
    """

    is_left: Bools
    piece_of_triangle: Indices
    item: Indices
    triangle: Indices


def search_pieces(
    items: Indices,
    of: Indices,
    surface: Indices,
    motion: Floats,
    bounds: Floats,
    paths: SweptPaths,
    meeting: MeetingPieces,
) -> SearchedPieces:
    """Returns the pieces of all surfaces, whose trees are still to be fitted.

    Args:
        items, of, surface, motion, bounds: See `SearchedPieces`.
        paths: Of the vertices.
        meeting: Which pieces may meet.
    """
    around = np.empty((len(surface), 6))
    bound_pieces(items, of, paths, np.zeros(3), around)
    pairs = find_piece_pairs(around, surface, meeting)
    return SearchedPieces(items, of, surface, motion, bounds, pairs)


@kernel()
def bound_pieces(items, of, paths, standing, bounds):
    """Writes the boxes around the paths of each piece's points beside what is `standing` [m], (p, 6)."""
    for piece in range(len(bounds)):
        empty_box(bounds[piece])
    for i in range(len(of)):
        for vertex in items[i]:
            enclose_path(bounds[of[i]], vertex, paths, standing)


def find_piece_pairs(bounds: Floats, surface: Indices, meeting: MeetingPieces) -> PiecePairs:
    """Returns which pieces come near which.

    Args:
        bounds: Around the paths of their points [m], (p, 6).
        surface: Of each piece, (p,).
        meeting: Which may meet.
    """
    order, room = np.argsort(bounds[:, 0], kind="stable"), 4 * len(bounds) + 64
    while True:
        one, other = np.empty((2, room), np.int32)
        count = pair_overlapping_boxes(bounds, order, surface, meeting, one, other)
        if count <= room:
            break
        room = count
    rank = np.lexsort((other[:count], one[:count]))
    numbers = np.arange(len(bounds) + 1, dtype=np.int64)
    start = np.searchsorted(one[:count][rank], numbers).astype(np.int64)
    return PiecePairs(start, other[:count][rank])


@kernel()
def pair_overlapping_boxes(bounds, order, surface, meeting, one_out, other_out):
    """Writes pairs of boxes that touch each other, both ways round; returns how many there are.

    Args:
        bounds, surface, meeting: See `find_piece_pairs`.
        order: Boxes by their least x, (p,).
        one_out, other_out: Out, (c,) each; pairs beyond that room are only counted.
    """
    count, room = 0, len(one_out)
    for first in range(len(order)):
        a = order[first]
        box = bounds[a]
        for second in range(first, len(order)):
            b = order[second]
            if bounds[b, 0] > box[3]:
                break
            if not (meeting.may_move[a] or meeting.may_move[b]):
                continue
            if boxes_disjoint(bounds[b], box[0], box[3], box[1], box[4], box[2], box[5]):
                continue
            for is_reversed in range(1 if a == b else 2):
                one, other = (b, a) if is_reversed else (a, b)
                if meeting.may_touch[surface[one], surface[other]]:
                    if count < room:
                        one_out[count], other_out[count] = one, other
                    count += 1
    return count


@kernel()
def find_candidate_pairs(first, last, paths, pieces, known, nodes, triangles, trees, point_out, triangle_out):
    """Writes pairs of points and triangles whose boxes touch, by rising point and surface; returns how many there are.

    Triangles of the point's own surface beside the point are left out, see `shares_node_with_triangle`.
    Edges are looked for in the same way, in trees of edges.

    Args:
        first, last: The points from `first` to before `last` are searched.
        paths: `SweptPaths` of the vertices.
        pieces: `SearchedPieces`.
        known: `KnownPairs`: pairs of two pieces that are not left are taken over.
        nodes, triangles: See `CollisionSurfaces`.
        trees: `TreeBoxes`, fitted.
        point_out, triangle_out: Out, (c,) each; pairs beyond that room are only counted.
    """
    tree_start, slot_triangle, boxes, slot_boxes = trees
    stack, box = np.empty(STACK_SIZE, np.int64), np.empty(6)
    count, room, at = 0, len(point_out), 0
    for i in range(first, last):
        own = pieces.of[i]
        while at < len(known.item) and known.item[at] < i:
            at += 1
        for row in range(pieces.pairs.start[own], pieces.pairs.start[own + 1]):
            piece = pieces.pairs.other[row]
            if not (known.is_left[own] or known.is_left[piece]):
                while at < len(known.item) and known.item[at] == i:
                    t = known.triangle[at]
                    if known.piece_of_triangle[t] > piece:
                        break
                    if known.piece_of_triangle[t] == piece:
                        if count < room:
                            point_out[count], triangle_out[count] = i, t
                        count += 1
                    at += 1
                continue
            empty_box(box)
            for vertex in pieces.items[i]:
                enclose_path(box, vertex, paths, pieces.motion[piece])
            x0, y0, z0, x1, y1, z1 = box[0], box[1], box[2], box[3], box[4], box[5]
            if boxes_disjoint(pieces.bounds[piece], x0, x1, y0, y1, z0, z1):
                continue
            is_own_surface = pieces.surface[own] == pieces.surface[piece]
            root = tree_start[piece]
            leaves = (tree_start[piece + 1] - root) // 2
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
                    if is_own_surface and any_shares_node(nodes, pieces.items[i], triangles, np.int64(t)):
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


@kernel(inline=True, device_only=True)
def any_shares_node(nodes, vertices, triangles, t):
    """Returns whether the tets of any of these vertices and of a triangle share a node."""
    for vertex in vertices:
        if shares_node_with_triangle(nodes, vertex, triangles, t):
            return True
    return False
