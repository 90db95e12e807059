# SPDX-License-Identifier: GPL-3.0-or-later
"""Candidates of the searches of one step: points or edges, and the triangles or edges that they may meet.

What is found holds as long as vertices end within margins. Where the vertices of some pieces leave theirs, only pairs
with these pieces are searched again: after a solve of a heap, most bodies end where the search before expected them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...runtime.arrays import Bools, Floats, Indices
from ...runtime.threads.thread_pool import run_parts
from .broad_phase import KnownPairs, MeetingPieces, find_candidate_pairs, search_pieces
from .surface_trees import SurfaceTrees, fit_boxes
from .swept_paths import SweptPaths, fill_margins, fill_mean_motions, mark_left_pieces

NO_PAIRS = np.zeros(0, np.int32), np.zeros(0, np.int32)
# tasks of threads, and points or edges of each: another thread takes longer to begin than 1,024 of them
TASK_COUNT, MIN_ITEMS_PER_TASK, MAX_ITEMS_PER_TASK = 8, 1024, 2048
PIECES_PER_TASK = 64  # trees that a thread fits at a time
INITIAL_PAIRS_PER_ITEM = 8  # pairs per point or edge for which there is room at first


class SearchedItems(NamedTuple):
    """Points or edges that are searched for, and triangles that they are searched in; all in p pieces.

    Attributes:
        vertices: The vertex of each point, or those of each edge, (k, 1) or (k, 2).
        piece: Of each point or edge, (k,).
        piece_of_vertex: (v,).
        piece_of_triangle: (t,).
        surface: Of each piece, rising, (p,).
        triangles: Or edges with two equal corners, (t, 3).
        nodes: Of the tets of vertices, see `CollisionSurfaces`.
        trees: Of the triangles.
    """

    vertices: Indices
    piece: Indices
    piece_of_vertex: Indices
    piece_of_triangle: Indices
    surface: Indices
    triangles: Indices
    nodes: Indices
    trees: SurfaceTrees


class SearchReach(NamedTuple):
    """How far around vertices is searched: least margins, and distances at which others touch [m], (v,) each."""

    min_margin: Floats
    thickness: Floats


class CandidateSearch:
    """Searches of one step that begins with vertices at `start`.

    Attributes:
        pairs: Points or edges, and triangles, by rising numbers of the first and pieces of the second, in parts.
        margin: How far vertices may end from where they were expected, along any axis [m], (v,).
        has_met: Whether any pieces came near each other.
    """

    def __init__(
        self,
        items: SearchedItems,
        start: Floats,
        may_touch: Bools,
        reach: SearchReach,
        is_movable: Bools | None = None,
    ) -> None:
        """Prepares the searches of a step.

        Args:
            items: What is searched.
            start: Vertices at its start [m], (v, 3).
            may_touch: Which surfaces collide, (s, s).
            reach: Around the vertices.
            is_movable: Which vertices may move, (v,): pieces of which none may do not meet each other. None: all.
        """
        pieces, count = len(items.surface), len(items.vertices)
        self.items, self.may_touch, self.min_margin = items, may_touch, reach.min_margin
        self.margin, self.motion, self.bounds = np.zeros(len(start)), np.zeros((pieces, 3)), np.empty((pieces, 6))
        self.paths = SweptPaths(start, np.full_like(start, np.nan), self.margin, reach.thickness)
        self.may_move = np.ones(pieces, bool)
        if is_movable is not None:
            self.may_move[:] = False
            self.may_move[items.piece_of_vertex[is_movable]] = True
        self.is_fitted, self.has_met, self.trees = np.zeros(pieces, bool), False, items.trees.allocate_boxes()
        self.at_once = min(max(count // TASK_COUNT, MIN_ITEMS_PER_TASK), MAX_ITEMS_PER_TASK)
        parts = -(-count // self.at_once)
        self.pairs, self.room = [NO_PAIRS] * parts, [INITIAL_PAIRS_PER_ITEM * self.at_once] * parts

    def update(self, end: Floats) -> bool:
        """Searches again for pieces that leave their margins on their ways to `end` [m], (v, 3); whether any does."""
        items, paths = self.items, self.paths
        is_left = np.zeros(len(items.surface), bool)
        mark_left_pieces(items.piece_of_vertex, paths, end, is_left)
        if not is_left.any():
            return False
        moved = is_left[items.piece_of_vertex]
        paths.end[moved] = end[moved]
        fill_mean_motions(items.piece_of_vertex, is_left, paths, self.motion)
        fill_margins(items.piece_of_vertex, is_left, self.motion, paths, self.min_margin)
        searched = search_pieces(
            items.vertices,
            items.piece,
            items.surface,
            self.motion,
            self.bounds,
            paths,
            MeetingPieces(self.may_touch, self.may_move),
        )
        is_reached = searched.pairs.reached(len(items.surface))
        fitted = np.flatnonzero(is_reached & (is_left | ~self.is_fitted))
        self.is_fitted = (self.is_fitted & ~is_left) | is_reached
        self.has_met = bool(is_reached.any())

        def fit(part: int) -> None:
            own = fitted[part * PIECES_PER_TASK : (part + 1) * PIECES_PER_TASK]
            fit_boxes(own, paths, self.motion, items.triangles, self.trees, self.bounds)

        def find(part: int) -> None:
            first, last = part * self.at_once, min((part + 1) * self.at_once, len(items.vertices))
            known = KnownPairs(is_left, items.piece_of_triangle, *self.pairs[part])
            while True:
                one, other = np.empty((2, self.room[part]), np.int32)
                count = find_candidate_pairs(
                    first, last, paths, searched, known, items.nodes, items.triangles, self.trees, one, other
                )
                if count <= len(one):
                    self.pairs[part] = one[:count], other[:count]
                    return
                self.room[part] = count + count // 4  # the next search may find a few more

        run_parts(-(-len(fitted) // PIECES_PER_TASK), fit)
        if self.has_met:
            run_parts(len(self.pairs), find)
        else:
            self.pairs = [NO_PAIRS] * len(self.pairs)
        return True
