# SPDX-License-Identifier: GPL-3.0-or-later
"""What the multigrid preconditioner knows of a mesh, whatever its matrix: made once, kept with the pattern."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...runtime.arrays import Floats, floats
from ...runtime.frozen_memo import derived_from
from ..block_pattern import BlockPattern, UInt32s
from .int16_block_placement import quad_slots
from .lattice_coarsening import MAX_JOINED_PARTS, Int64s, Prolongation, connected_parts, lattice_prolongations
from .product_pattern import ProductTerms, SparseProduct, SparseStructure, concatenated_row_starts, product_structure


@dataclass(frozen=True)
class Coarsening:
    """How the matrix of a level becomes that of the next.

    Attributes:
        restriction_start, restriction_row, restriction_entry: Pᵀ row by row: where rows begin, (c + 1,), the fine
            nodes, (w,), and which weight of P each has, (w,).
        left: Pᵀ A.
        right: (Pᵀ A) P, the next level's matrix.
        diagonal: Its block on the diagonal of each row, (c,).
    """

    restriction_start: UInt32s
    restriction_row: UInt32s
    restriction_entry: UInt32s
    left: SparseProduct
    right: SparseProduct
    diagonal: UInt32s


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
        prolongation_start, prolongation_node, prolongation_weight: Rows of all prolongations, of which the coarsest
            level has none, (N + 1,), (W,), (W,).
        restriction_start, restriction_row, restriction_entry: Rows of all their transposes; the finest level has none,
            (N + 1,), (W,), (W,).
        left, left_column: Where the terms go of Pᵀ A for all levels but the finest, and its columns among all rows.
        right: Where those of (Pᵀ A) P go.
        part_start: First row of each part that is solved for at once among those of the coarsest level, (k + 1,).
        factors_start: Where the factors of each part begin, (k + 1,).
        is_tet_mesh: Whether the finest matrix is a sum over tets.
    """

    level_start: Int64s
    row_island: Int64s
    all_start: UInt32s
    all_column: UInt32s
    all_diagonal: UInt32s
    quad_start: UInt32s
    slot: UInt32s
    prolongation_start: UInt32s
    prolongation_node: UInt32s
    prolongation_weight: Floats
    restriction_start: UInt32s
    restriction_row: UInt32s
    restriction_entry: UInt32s
    left: ProductTerms
    left_column: UInt32s
    right: ProductTerms
    part_start: Int64s
    factors_start: Int64s
    is_tet_mesh: bool

    @property
    def coarsest(self) -> int:
        """Number of the coarsest level."""
        return len(self.level_start) - 2

    @property
    def row_count(self) -> int:
        """Number of rows N of all levels."""
        return int(self.level_start[-1])


def hierarchy_of(
    pattern: BlockPattern,
    X: Floats,
    mesh: BlockPattern | None = None,
    has_couplings: bool = False,
    keeps_zero_blocks: bool = True,
) -> Hierarchy:
    """Returns the levels of the mesh of a pattern with rest positions X [m], (n, 3), derived once from each pattern.

    All who ask have the same X and the same of all else, for one pattern.
    """
    return derived_from(
        pattern, "hierarchy", lambda: build_hierarchy(pattern, X, mesh, has_couplings, keeps_zero_blocks)
    )


def build_hierarchy(
    pattern: BlockPattern,
    X: Floats,
    mesh: BlockPattern | None = None,
    has_couplings: bool = False,
    keeps_zero_blocks: bool = True,
) -> Hierarchy:
    """Returns the levels of matrices of a pattern over a mesh with nodes at rest at X [m], (n, 3).

    Args:
        pattern: Of the finest matrix.
        X: Its nodes.
        mesh: The pattern whose blocks are edges of the mesh; None: all blocks are.
        has_couplings: Whether other blocks are of couplings of any number of nodes. Parts of the mesh that they join
            have lattices of their own all the same, unless they are very many: with one lattice for all, coarse levels
            would resist that they slide along each other.
        keeps_zero_blocks: Whether blocks outside the mesh may be zeros that earlier contacts have left, which must
            change no bit (`quad_slots`).
    """
    mesh = mesh or pattern
    if has_couplings and len(connected_parts(floats(X, mesh.node_count, 3), mesh)[1]) > MAX_JOINED_PARTS:
        mesh = pattern
    prolongations = _prolongations_of(mesh, X, has_couplings)
    matrices, diagonals = [_finest_structure(pattern, mesh if keeps_zero_blocks else pattern)], [pattern.diagonal]
    coarsenings = []
    for prolongation in prolongations:
        coarsenings.append(_coarsen(matrices[-1], prolongation))
        matrices.append(coarsenings[-1].right)
        diagonals.append(coarsenings[-1].diagonal)
    starts, columns = [a.start for a in matrices], [a.column for a in matrices]
    slots = [quad_slots(a) for a in matrices[:-1]]
    counts = [len(start) - 1 for start in starts]
    level_start = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    island = np.searchsorted(pattern.island_start[1:], np.arange(pattern.node_count, dtype=np.int64), side="right")
    islands = [island]
    for P in prolongations:
        # any fine node of a coarse one: no part reaches over two islands
        above = np.empty(len(P.part), np.int64)
        above[P.node] = np.repeat(islands[-1], np.diff(P.start.astype(np.int64)))
        islands.append(above)
    ends = np.zeros(0, np.int64) if has_couplings else np.flatnonzero(np.diff(prolongations[-1].part)) + 1
    part_start = np.concatenate([[0], ends, [counts[-1]]])
    weights = np.concatenate([[0], np.cumsum([len(P.node) for P in prolongations], dtype=np.int64)])
    blocks = [len(column) for column in columns]
    return Hierarchy(
        level_start=level_start,
        row_island=np.concatenate(islands),
        all_start=concatenated_row_starts(starts, blocks),
        all_column=_offset_columns(columns, level_start),
        all_diagonal=_offset_columns(diagonals, np.concatenate([[0], np.cumsum(blocks, dtype=np.int64)])),
        quad_start=concatenated_row_starts(
            [of.start for of in slots] + [np.zeros(counts[-1] + 1, np.uint32)], [of.start[-1] for of in slots]
        ),
        slot=np.concatenate([of.slot for of in slots]),
        prolongation_start=concatenated_row_starts(
            [P.start for P in prolongations] + [np.zeros(counts[-1] + 1, np.uint32)], np.diff(weights)
        ),
        prolongation_node=_offset_columns([P.node for P in prolongations], level_start[1:]),
        prolongation_weight=np.concatenate([P.weight for P in prolongations]),
        restriction_start=concatenated_row_starts(
            [np.zeros(counts[0] + 1, np.uint32), *(c.restriction_start for c in coarsenings)], [0, *np.diff(weights)]
        ),
        restriction_row=_offset_columns([c.restriction_row for c in coarsenings], level_start),
        restriction_entry=_offset_columns([c.restriction_entry for c in coarsenings], weights),
        left=ProductTerms.concatenate([c.left for c in coarsenings]),
        left_column=_offset_columns([c.left.column for c in coarsenings], level_start),
        right=ProductTerms.concatenate([c.right for c in coarsenings]),
        part_start=part_start,
        factors_start=np.concatenate([[0], np.cumsum(np.square(3 * np.diff(part_start)), dtype=np.int64)]),
        is_tet_mesh=not has_couplings and mesh is pattern,
    )


def _prolongations_of(mesh: BlockPattern, X: Floats, has_couplings: bool) -> list[Prolongation]:
    """Returns the prolongations of a mesh, derived once: contacts that come and go change matrices, not lattices."""
    return derived_from(
        mesh,
        "prolongations",
        lambda: lattice_prolongations(floats(X, mesh.node_count, 3), mesh, has_couplings),
        inputs=(X,),
        key=int(has_couplings),
    )


def _finest_structure(pattern: BlockPattern, mesh: BlockPattern) -> SparseStructure:
    """Returns the blocks of a pattern, and which of them belong to the mesh."""
    if mesh is pattern:
        return SparseStructure(pattern.row_start, pattern.column, np.ones(pattern.block_count, bool))
    keys, of_mesh = (
        np.repeat(np.arange(p.node_count, dtype=np.int64), np.diff(p.row_start.astype(np.int64))) * p.node_count
        + p.column
        for p in (pattern, mesh)
    )
    return SparseStructure(pattern.row_start, pattern.column, np.isin(keys, of_mesh, assume_unique=True))


def _coarsen(a: SparseStructure, prolongation: Prolongation) -> Coarsening:
    coarse = len(prolongation.part)
    order = np.argsort(prolongation.node, kind="stable")
    restriction_start = np.searchsorted(prolongation.node[order], np.arange(coarse + 1, dtype=np.int64)).astype(
        np.uint32
    )
    fine_row = np.repeat(np.arange(len(a.start) - 1, dtype=np.int64), np.diff(prolongation.start.astype(np.int64)))
    restriction_row = fine_row[order].astype(np.uint32)
    always = np.ones(len(prolongation.node), bool)
    left = product_structure(SparseStructure(restriction_start, restriction_row, always), a, len(a.start) - 1)
    right = product_structure(left, SparseStructure(prolongation.start, prolongation.node, always), coarse)
    rows = np.repeat(np.arange(coarse, dtype=np.int64), np.diff(right.start.astype(np.int64)))
    diagonal = np.flatnonzero(rows == right.column).astype(np.uint32)
    return Coarsening(restriction_start, restriction_row, order.astype(np.uint32), left, right, diagonal)


def _offset_columns(columns: list[UInt32s], offsets: Int64s) -> UInt32s:
    return np.concatenate([c + np.uint32(offset) for c, offset in zip(columns, offsets, strict=False)])
