# SPDX-License-Identifier: GPL-3.0-or-later
"""Wᵀ A W, in the numbers of all nodes: blocks of bound nodes go to their parents, and their own rows stay empty.

A bound node keeps a row, so that nothing that counts by nodes or islands has to be renumbered. It has a block on the
diagonal alone, far smaller than others: the row is solved with the rest, decides nothing, and its result is
overwritten by W. As it is not held, the rigid modes of its island stay those of a free body.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from ..runtime.arrays import Floats, Indices, floats
from ..runtime.jit import kernel
from ..runtime.union_find import union_pairs
from .block_pattern import BlockPattern, UInt32s
from .bound_nodes import BoundNodes
from .coupled_islands import Int64s, island_coupling
from .pattern_union import WidenedPattern, widen_pattern

EMPTY_ROW_SHARE = 1.0e-12  # diagonal of a bound node's row, of what it was


class BlockRoutes(NamedTuple):
    """Where the blocks of bound nodes go, t of them with r routes in all.

    Attributes:
        blocks: Blocks of A in a row or column of a bound node, (t,).
        start: Where the routes of each begin, (t + 1,).
        place, weight: Block of WᵀAW to which it adds, and by how much, (r,).
        places: The blocks themselves in the wide pattern, (t,).
        diagonal: Which of the t are on the diagonal of bound nodes, (b,).
    """

    blocks: Indices
    start: Indices
    place: Indices
    weight: Floats
    places: Indices
    diagonal: Indices


@dataclass(frozen=True, eq=False)
class EliminatedPattern:
    """The pattern of WᵀAW.

    Attributes:
        pattern: With the blocks between parents, its islands coupled by them.
        widened: The same without that coupling.
        routes: Where blocks go.
        group: Lowest of the islands that bindings join with each, (k,).
        values: Work array of the blocks of WᵀAW, (b', 9).
    """

    pattern: BlockPattern
    widened: WidenedPattern
    routes: BlockRoutes
    group: Int64s
    values: Floats

    def reduce(self, values: Floats) -> Floats:
        """Returns the blocks of WᵀAW, (b', 9), for those of A, (b, 9); the next call overwrites them."""
        self.widened.scatter(values, self.values)
        route_blocks(self.routes, values, EMPTY_ROW_SHARE, self.values)
        return self.values

    def joint_norms(self, norms: Floats) -> Floats:
        """Returns for every island the largest of the norms of islands that bindings join with it, (k,)."""
        return joint_norms(self.group, norms)


def joint_norms(group: Int64s, norms: Floats) -> Floats:
    """Returns for every island the largest norm in its group, (k,).

    An island on which nothing acts but through bindings has no forces of its own to which a residual could be relative.
    """
    largest = np.zeros_like(norms)
    np.maximum.at(largest, group, norms)
    return floats(largest[group])


def join_bound_islands(bound: BoundNodes, island_of_row: UInt32s, label: Int64s) -> None:
    """Joins the sets of islands that bindings join, and writes the lowest member of each set, (k,)."""
    one = label[island_of_row[np.repeat(bound.nodes, np.diff(bound.start))]]
    union_pairs(one, label[island_of_row[bound.parents]], label)


class EliminatedPatterns:
    """The patterns without bound nodes of one simulation, which owns this object, by the patterns with them."""

    def __init__(self) -> None:
        """Begins without any."""
        self._known: WeakKeyDictionary[BlockPattern, tuple[BoundNodes, EliminatedPattern]] = WeakKeyDictionary()

    def of(self, pattern: BlockPattern, bound: BoundNodes) -> EliminatedPattern:
        """Returns the pattern of WᵀAW for that of A."""
        known = self._known.get(pattern)
        if known is None or known[0] is not bound:
            known = bound, eliminate(pattern, bound)
            self._known[pattern] = known
        return known[1]


def eliminate(pattern: BlockPattern, bound: BoundNodes) -> EliminatedPattern:
    """Returns the pattern of WᵀAW for that of A."""
    row_start, column, weight = bound.matrix_rows(pattern.node_count)
    is_bound = bound.is_bound(pattern.node_count)
    own_start = pattern.row_start.astype(np.int64)
    row = np.repeat(np.arange(pattern.node_count, dtype=np.int64), np.diff(own_start))
    other = pattern.column.astype(np.int64)
    blocks = np.flatnonzero(is_bound[row] | is_bound[other])
    row, other = row[blocks], other[blocks]
    length = np.diff(row_start.astype(np.int64))
    high, wide = length[row], length[other]
    start = np.concatenate([[0], np.cumsum(high * wide, dtype=np.int64)])
    inner = np.arange(start[-1], dtype=np.int64) - np.repeat(start[:-1], high * wide)
    across = np.repeat(wide, high * wide)
    from_row = np.repeat(row_start[row].astype(np.int64), high * wide) + inner // across
    from_column = np.repeat(row_start[other].astype(np.int64), high * wide) + inner % across
    to_row, to_column = column[from_row], column[from_column]
    widened = widen_pattern(pattern, to_row, to_column)
    routes = BlockRoutes(
        blocks=blocks.astype(np.int32),
        start=start.astype(np.int32),
        place=widened.added_blocks.astype(np.int32),
        weight=weight[from_row] * weight[from_column],
        places=widened.block_map[blocks].astype(np.int32),
        diagonal=np.flatnonzero(row == other).astype(np.int32),
    )
    coupled = _with_coupling(widened.pattern, to_row, to_column)
    group: Int64s = np.arange(pattern.island_count, dtype=np.int64)
    join_bound_islands(bound, pattern.island_of_row, group)
    return EliminatedPattern(coupled, widened, routes, group, np.empty((widened.pattern.block_count, 9)))


def _with_coupling(pattern: BlockPattern, rows: npt.NDArray, columns: npt.NDArray) -> BlockPattern:
    """Returns a pattern whose islands are also coupled by blocks at `rows` and `columns`, (r,)."""
    one, two = pattern.island_of_row[rows], pattern.island_of_row[columns]
    if pattern.coupling is not None:
        one = np.concatenate([one, pattern.coupling.first])
        two = np.concatenate([two, pattern.coupling.second])
    return replace(pattern, coupling=island_coupling(one, two, pattern.island_count))


@kernel()
def route_blocks(routes, values, empty_share, reduced):
    """Adds blocks of bound nodes to those of their parents, and clears their own.

    Args:
        routes: `BlockRoutes`.
        values: Blocks of A, (b, 9).
        empty_share: What a bound node keeps of the diagonal of its block.
        reduced: Blocks of WᵀAW, (b', 9): those of A in their places, changed.
    """
    blocks, start, place, weight, places, diagonal = routes
    for k in range(len(blocks)):
        for i in range(9):
            reduced[places[k], i] = 0.0
    for k in range(len(blocks)):
        # read once: `reduced` might be the same array for all that the compiler knows
        own = values[blocks[k]]
        a, b, c, d, e, f, g, h, m = own[0], own[1], own[2], own[3], own[4], own[5], own[6], own[7], own[8]
        for route in range(start[k], start[k + 1]):
            row, w = reduced[place[route]], weight[route]
            row[0] += w * a
            row[1] += w * b
            row[2] += w * c
            row[3] += w * d
            row[4] += w * e
            row[5] += w * f
            row[6] += w * g
            row[7] += w * h
            row[8] += w * m
    for k in diagonal:
        size = (values[blocks[k], 0] + values[blocks[k], 4] + values[blocks[k], 8]) / 3.0
        for i in range(3):
            reduced[places[k], 4 * i] = empty_share * size if size > 0.0 else empty_share
