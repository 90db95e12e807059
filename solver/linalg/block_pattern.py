# SPDX-License-Identifier: GPL-3.0-or-later
"""Which 3×3 blocks the matrix of a tet mesh has, and where the blocks of every tet go."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..mesh.local_tet_numbering import EDGE_ENDS, EDGE_STARTS
from ..runtime.arrays import Indices
from .coupled_islands import Coupling, Int64s
from .island_cholesky import IslandLayout

# kernels index with unsigned numbers: with signed ones Numba adds a wrap-around to every access
UInt32s = npt.NDArray[np.uint32]

# rows that one thread works on at a time; sums are taken per chunk and then in order, whatever the threads
ROWS_PER_CHUNK = 128


@dataclass(frozen=True, eq=False)
class BlockPattern:
    """The sparsity of a symmetric matrix of 3×3 blocks, one row per node, in block-CSR form.

    Attributes:
        row_start: Where each block row begins among the blocks, (n + 1,).
        column: Column of every block, rising within a row, (b,).
        diagonal: The block on the diagonal of each row, (n,).
        corner_start: Where the corners at each node begin in `corners`, (n + 1,).
        corners: Node → the tet corners at it, as 4 · tet + corner, rising, (4m,).
        corner_block: Corner a of a tet, 4 · tet + a → the blocks of node a with the four nodes, (4m, 4).
        chunk_start: Where the chunks of rows begin, (c + 1,).
        chunk_island: Island of each chunk, (c,).
        island_start: Where the islands of rows begin, (k + 1,). No block joins two of them but by `coupling`.
        coupling: Which islands further blocks join; None: none.
        first_count: Blocks before it was widened; None: it was not.
        island_layout: By which its islands can be factored; None: they are not.
    """

    row_start: UInt32s
    column: UInt32s
    diagonal: UInt32s
    corner_start: UInt32s
    corners: UInt32s
    corner_block: UInt32s
    chunk_start: UInt32s
    chunk_island: UInt32s
    island_start: UInt32s
    coupling: Coupling | None = None
    first_count: int | None = None
    island_layout: IslandLayout | None = None

    @property
    def node_count(self) -> int:
        """Number of block rows."""
        return len(self.diagonal)

    @property
    def tet_count(self) -> int:
        """Number of tets."""
        return len(self.corners) // 4

    @property
    def island_count(self) -> int:
        """Number of islands k."""
        return len(self.island_start) - 1

    @functools.cached_property
    def smallest_island(self) -> int:
        """Fewest rows of an island."""
        return int(np.diff(self.island_start).min(initial=self.node_count))

    @functools.cached_property
    def largest_island(self) -> int:
        """Most rows of an island."""
        return int(np.diff(self.island_start).max(initial=0))

    @functools.cached_property
    def on_diagonal(self) -> npt.NDArray[np.int64]:
        """Where the diagonals of the blocks on the diagonal are among the numbers of all blocks, (3, n)."""
        return 9 * self.diagonal.astype(np.int64) + np.array([[0], [4], [8]], np.int64)

    @functools.cached_property
    def island_of_row(self) -> UInt32s:
        """Island of every row, (n,)."""
        return np.repeat(np.arange(self.island_count, dtype=np.uint32), np.diff(self.island_start.astype(np.int64)))

    @functools.cached_property
    def clusters(self) -> tuple[Int64s, Int64s]:
        """`start` and `members` of the `coupling`; without one every island is alone."""
        if self.coupling is not None:
            return self.coupling.start, self.coupling.members
        return np.arange(self.island_count + 1, dtype=np.int64), np.arange(self.island_count, dtype=np.int64)

    @property
    def block_count(self) -> int:
        """Number of blocks stored, both triangles and the diagonal."""
        return len(self.column)


def block_pattern(tets: Indices, node_count: int, islands: Sequence[int] = ()) -> BlockPattern:
    """Returns the pattern in which every node is joined to itself and to the nodes of its tets, (m, 4).

    Args:
        tets: Nodes of the tets.
        node_count: Number of rows.
        islands: First rows of sets of rows that no tet joins; none: all rows are one island.
    """
    tets = tets.reshape(-1, 4)
    corner_node = tets.ravel()
    rows, columns, block_of = _block_indices(tets.astype(np.int64), node_count)
    chunk_start, chunk_island, island_start = row_chunks(node_count, islands)
    return BlockPattern(
        row_start=_row_starts(rows, node_count),
        column=columns.astype(np.uint32),
        diagonal=np.flatnonzero(rows == columns).astype(np.uint32),
        corner_start=_row_starts(np.sort(corner_node), node_count),
        corners=np.argsort(corner_node, kind="stable").astype(np.uint32),
        corner_block=block_of.reshape(-1, 4).astype(np.uint32),
        chunk_start=chunk_start,
        chunk_island=chunk_island,
        island_start=island_start,
    )


def pattern_of_islands(
    whole: BlockPattern, nodes: Indices, tets: Indices, blocks: Indices, islands: Sequence[int]
) -> BlockPattern:
    """Returns what `block_pattern` makes of some bodies of a mesh, from the pattern of all: without a sort.

    Args:
        whole: The pattern of all bodies, without a coupling.
        nodes, tets: Of these bodies, rising, (n,) and (m,): no other tet has one of these nodes.
        blocks: Of their rows, rising, (b,).
        islands: As for `block_pattern`.
    """
    node_number, tet_number = np.zeros(whole.node_count, np.uint32), np.zeros(whole.tet_count, np.uint32)
    node_number[nodes] = np.arange(len(nodes), dtype=np.uint32)
    tet_number[tets] = np.arange(len(tets), dtype=np.uint32)
    block_number = np.zeros(whole.block_count, np.uint32)
    block_number[blocks] = np.arange(len(blocks), dtype=np.uint32)
    is_own = np.zeros(whole.node_count, bool)
    is_own[nodes] = True
    corners = whole.corners[np.repeat(is_own, np.diff(whole.corner_start.astype(np.int64)))]
    chunk_start, chunk_island, island_start = row_chunks(len(nodes), islands)
    return BlockPattern(
        row_start=_starts_of(whole.row_start, nodes),
        column=node_number[whole.column[blocks]],
        diagonal=block_number[whole.diagonal[nodes]],
        corner_start=_starts_of(whole.corner_start, nodes),
        corners=np.uint32(4) * tet_number[corners // 4] + corners % 4,
        corner_block=block_number[whole.corner_block.reshape(-1, 16)[tets]].reshape(-1, 4),
        chunk_start=chunk_start,
        chunk_island=chunk_island,
        island_start=island_start,
    )


def _starts_of(start: UInt32s, rows: Indices) -> UInt32s:
    """Returns where some rows of a list of lists begin when they follow each other."""
    sizes = np.diff(start.astype(np.int64))[rows]
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.uint32)


def with_coupled(pattern: BlockPattern, is_of: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Returns the same nodes, (n,), and those of all islands that are coupled with theirs."""
    if pattern.coupling is None:
        return is_of
    start, members = pattern.clusters
    of_island = np.logical_or.reduceat(is_of, pattern.island_start[:-1].astype(np.int64))
    of_cluster = np.logical_or.reduceat(of_island[members], np.asarray(start[:-1], np.int64))
    of_island[members] = np.repeat(of_cluster, np.diff(start))
    return of_island[pattern.island_of_row]


def row_chunks(node_count: int, islands: Sequence[int]) -> tuple[UInt32s, UInt32s, UInt32s]:
    """Returns `chunk_start`, `chunk_island` and `island_start` of a pattern for the first rows of its islands."""
    starts = [*(islands or [0]), node_count]
    chunks = [np.arange(begin, end, ROWS_PER_CHUNK, dtype=np.int64) for begin, end in itertools.pairwise(starts)]
    return (
        np.append(np.concatenate(chunks), node_count).astype(np.uint32),
        np.repeat(np.arange(len(chunks), dtype=np.int64), [len(c) for c in chunks]).astype(np.uint32),
        np.array(starts, np.uint32),
    )


def island_starts(tets: Indices, node_count: int, starts: Sequence[int]) -> list[int]:
    """Returns first rows of islands: those in `starts`, and those at which no tet, (m, 4), reaches over the row.

    So shells that lie one after the other in a body are islands of their own.
    """
    if not len(tets):
        return list(starts)
    over = np.zeros(node_count + 1, np.int64)
    np.add.at(over, tets.min(axis=1).astype(np.int64) + 1, 1)
    np.add.at(over, tets.max(axis=1).astype(np.int64) + 1, -1)
    return sorted({*starts, *np.flatnonzero(np.cumsum(over[:node_count], dtype=np.int64) == 0).tolist()})


def _block_indices(tets: npt.NDArray, node_count: int) -> tuple[npt.NDArray, npt.NDArray, npt.NDArray]:
    """Returns row and column of every block, in order, (b,), and which blocks are a tet's, (m, 4, 4)."""
    first, second = tets[:, EDGE_STARTS], tets[:, EDGE_ENDS]
    is_edge = first != second  # a triangle of a sheet names a node twice
    ends = (np.minimum(first, second) * node_count + np.maximum(first, second))[is_edge]
    edges, edge = np.unique(ends, return_inverse=True)
    low, high = np.divmod(edges, max(node_count, 1))
    # the diagonal is always there, also at nodes without tets
    own = np.arange(node_count, dtype=np.int64)
    rows, columns = np.concatenate([own, low, high]), np.concatenate([own, high, low])
    order = np.argsort(rows * node_count + columns)
    place = np.empty_like(order)
    place[order] = np.arange(len(order), dtype=np.int64)

    upper, lower = place[first], place[first]
    upper[is_edge] = place[node_count + edge.ravel()]
    lower[is_edge] = place[node_count + len(edges) + edge.ravel()]
    blocks = np.empty((len(tets), 4, 4), np.int64)
    blocks[:, range(4), range(4)] = place[tets]
    blocks[:, EDGE_STARTS, EDGE_ENDS] = np.where(first < second, upper, lower)
    blocks[:, EDGE_ENDS, EDGE_STARTS] = np.where(first < second, lower, upper)
    return rows[order], columns[order], blocks


def _row_starts(rows: npt.NDArray, count: int) -> UInt32s:
    return np.searchsorted(rows, np.arange(count + 1, dtype=np.int64)).astype(np.uint32)
