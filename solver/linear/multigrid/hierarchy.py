# SPDX-License-Identifier: GPL-3.0-or-later
"""What the multigrid preconditioner knows of a mesh, whatever its matrix: made once, kept with the pattern."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from ...arrays import Floats, floats
from ...late_dataclass import dataclass
from ..pattern import BlockPattern, Unsigned
from .lattice import Embedding, Whole, embeddings
from .product import Product, Sparse, Terms, joined, product
from .quads import slots_of


@dataclass(frozen=True)
class Coarsening:
    """How the matrix of a level becomes that of the next.

    Attributes:
        back_start, back_row, back_entry: Pᵀ row by row: where rows begin, (c + 1,), the fine nodes, (w,), and which
            weight of P each has, (w,).
        left: Pᵀ A.
        right: (Pᵀ A) P, the next level's matrix.
        diagonal: Its block on the diagonal of each row, (c,).
    """

    back_start: Unsigned
    back_row: Unsigned
    back_entry: Unsigned
    left: Product
    right: Product
    diagonal: Unsigned


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """All levels of a mesh; level 0 is the mesh itself. In `all_…` the levels follow each other in one array.

    Attributes:
        level_start: First row of each level among all rows, (l + 1,).
        row_island: Island of every row, (N,).
        all_start, all_column, all_diagonal: Rows and columns of all matrices, and their blocks on the diagonal, counted
            through, (N + 1,), (B,), (N,).
        quad_start, slot: First quad of every row, of which the coarsest level has none, and where in its row's each
            block of the others goes, (N + 1,), (B − k,).
        hang_start, hang_node, hang_weight: Rows of all prolongations, of which the coarsest level has none, (N + 1,),
            (W,), (W,).
        back_start, back_row, back_entry: Rows of all their transposes; the finest level has none, (N + 1,), (W,), (W,).
        left, left_column: Where the terms go of Pᵀ A for all levels but the finest, and its columns among all rows.
        right: Where those of (Pᵀ A) P go.
        part_start: First row of each connected part among those of the coarsest level, (k + 1,).
        factors_start: Where the factors of each part begin, (k + 1,).
        is_of_tets: Whether the finest matrix is a sum over tets.
    """

    level_start: Whole
    row_island: Whole
    all_start: Unsigned
    all_column: Unsigned
    all_diagonal: Unsigned
    quad_start: Unsigned
    slot: Unsigned
    hang_start: Unsigned
    hang_node: Unsigned
    hang_weight: Floats
    back_start: Unsigned
    back_row: Unsigned
    back_entry: Unsigned
    left: Terms
    left_column: Unsigned
    right: Terms
    part_start: Whole
    factors_start: Whole
    is_of_tets: bool

    @property
    def coarsest(self) -> int:
        """Number of the coarsest level."""
        return len(self.level_start) - 2

    @property
    def row_count(self) -> int:
        """Number of rows N of all levels."""
        return int(self.level_start[-1])


_kept: WeakKeyDictionary[BlockPattern, Hierarchy] = WeakKeyDictionary()


def hierarchy_of(pattern: BlockPattern, X: Floats, mesh: BlockPattern | None = None) -> Hierarchy:
    """Returns the levels of the mesh of a pattern with rest positions X [m], (n, 3); made once, dropped with it."""
    if pattern not in _kept:
        _kept[pattern] = build_hierarchy(pattern, X, mesh)
    return _kept[pattern]


def build_hierarchy(pattern: BlockPattern, X: Floats, mesh: BlockPattern | None = None) -> Hierarchy:
    """Returns the levels of matrices of a pattern over a mesh with nodes at rest at X [m], (n, 3).

    The blocks of `mesh` are its edges; None: those of `pattern` are.
    """
    hung = embeddings(floats(X, pattern.node_count, 3), mesh or pattern)
    matrices, diagonals = [_finest(pattern, mesh or pattern)], [pattern.diagonal]
    coarsenings = []
    for hang in hung:
        coarsenings.append(_coarsen(matrices[-1], hang))
        matrices.append(coarsenings[-1].right)
        diagonals.append(coarsenings[-1].diagonal)
    starts, columns = [a.start for a in matrices], [a.column for a in matrices]
    slots = [slots_of(a) for a in matrices[:-1]]
    counts = [len(start) - 1 for start in starts]
    level_start = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    island = np.searchsorted(pattern.island_start[1:], np.arange(pattern.node_count, dtype=np.int64), side="right")
    islands = [island]
    for hang in hung:
        # any fine node of a coarse one: no part reaches over two islands
        above = np.empty(len(hang.part), np.int64)
        above[hang.node] = np.repeat(islands[-1], np.diff(hang.start.astype(np.int64)))
        islands.append(above)
    part_start = np.concatenate([[0], np.flatnonzero(np.diff(hung[-1].part)) + 1, [counts[-1]]])
    weights = np.concatenate([[0], np.cumsum([len(hang.node) for hang in hung], dtype=np.int64)])
    blocks = [len(column) for column in columns]
    return Hierarchy(
        level_start=level_start,
        row_island=np.concatenate(islands),
        all_start=joined(starts, blocks),
        all_column=_moved(columns, level_start),
        all_diagonal=_moved(diagonals, np.concatenate([[0], np.cumsum(blocks, dtype=np.int64)])),
        quad_start=joined([of.start for of in slots] + [np.zeros(counts[-1] + 1, np.uint32)],
                          [of.start[-1] for of in slots]),
        slot=np.concatenate([of.slot for of in slots]),
        hang_start=joined([hang.start for hang in hung] + [np.zeros(counts[-1] + 1, np.uint32)], np.diff(weights)),
        hang_node=_moved([hang.node for hang in hung], level_start[1:]),
        hang_weight=np.concatenate([hang.weight for hang in hung]),
        back_start=joined([np.zeros(counts[0] + 1, np.uint32), *(c.back_start for c in coarsenings)],
                          [0, *np.diff(weights)]),
        back_row=_moved([c.back_row for c in coarsenings], level_start),
        back_entry=_moved([c.back_entry for c in coarsenings], weights),
        left=Terms.of([c.left for c in coarsenings]),
        left_column=_moved([c.left.column for c in coarsenings], level_start),
        right=Terms.of([c.right for c in coarsenings]),
        part_start=part_start,
        factors_start=np.concatenate([[0], np.cumsum(np.square(3 * np.diff(part_start)), dtype=np.int64)]),
        is_of_tets=mesh is None or mesh is pattern,
    )  # fmt: skip


def _finest(pattern: BlockPattern, mesh: BlockPattern) -> Sparse:
    """Returns the blocks of a pattern, those of the mesh among them told."""
    if mesh is pattern:
        return Sparse(pattern.row_start, pattern.column, np.ones(pattern.block_count, bool))
    keys, of_mesh = (
        np.repeat(np.arange(p.node_count, dtype=np.int64), np.diff(p.row_start.astype(np.int64))) * p.node_count
        + p.column
        for p in (pattern, mesh)
    )
    return Sparse(pattern.row_start, pattern.column, np.isin(keys, of_mesh, assume_unique=True))


def _coarsen(a: Sparse, hang: Embedding) -> Coarsening:
    coarse = len(hang.part)
    order = np.argsort(hang.node, kind="stable")
    back_start = np.searchsorted(hang.node[order], np.arange(coarse + 1, dtype=np.int64)).astype(np.uint32)
    hung = np.repeat(np.arange(len(a.start) - 1, dtype=np.int64), np.diff(hang.start.astype(np.int64)))
    back_row = hung[order].astype(np.uint32)
    always = np.ones(len(hang.node), bool)
    left = product(Sparse(back_start, back_row, always), a, len(a.start) - 1)
    right = product(left, Sparse(hang.start, hang.node, always), coarse)
    rows = np.repeat(np.arange(coarse, dtype=np.int64), np.diff(right.start.astype(np.int64)))
    diagonal = np.flatnonzero(rows == right.column).astype(np.uint32)
    return Coarsening(back_start, back_row, order.astype(np.uint32), left, right, diagonal)


def _moved(columns: list[Unsigned], offsets: Whole) -> Unsigned:
    return np.concatenate([c + np.uint32(offset) for c, offset in zip(columns, offsets, strict=False)])
