# SPDX-License-Identifier: GPL-3.0-or-later
"""The sparsity pattern of PᵀA P: for each island the rows of nodes outside a core, then the three rows of its core."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from ...linalg.block_pattern import BlockPattern, row_chunks
from ...mechanics.rigid_core import RigidCore
from ...runtime.arrays import Indices
from .core_dofs import POINT_COUNT

Int64s = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ReducedPattern:
    """A pattern without the nodes of cores.

    Attributes:
        pattern: Of PᵀA P.
        core_of: The core of every node, −1 for none, (n,).
        row_of: Its row here, of a node of a core the first of its three, (n,).
        block_target: First block of PᵀA P to which each block of A adds, (b,).
        row_stride: Distance from there to the block below it, in the next row of PᵀA P, (b,).
        pair_of_block: The pair of different cores that each block of A joins, −1 for none, (b,).
        pair_cores: The cores of each pair, that of the row first, (p, 2).
        pair_target, pair_stride: Its `block_target` and `row_stride`, (p,) each.
        skin, skin_row: Nodes that belong to no core, and their rows here, (s,) each.
        core_row: First row of each core.
    """

    pattern: BlockPattern
    core_of: Indices
    row_of: Indices
    block_target: Indices
    row_stride: Indices
    pair_of_block: Indices
    pair_cores: Indices
    pair_target: Indices
    pair_stride: Indices
    skin: Indices
    skin_row: Indices
    core_row: Indices


class ReducedPatterns:
    """The reduced patterns of one model: of its own pattern, and of those that contacts between bodies widen."""

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[BlockPattern, ReducedPattern] = WeakKeyDictionary()

    def of(self, pattern: BlockPattern, cores: Sequence[RigidCore]) -> ReducedPattern:
        """Returns the reduced pattern of a matrix with `pattern`, for the cores of the model."""
        if pattern not in self._known:
            self._known[pattern] = _make_reduced_pattern(pattern, cores)
        return self._known[pattern]


def _make_reduced_pattern(pattern: BlockPattern, cores: Sequence[RigidCore]) -> ReducedPattern:
    core_of = np.full(pattern.node_count, -1, np.int32)
    for number, core in enumerate(cores):
        core_of[core.nodes] = number
    row_of, island_start = _rows(pattern, core_of, cores)
    count = int(island_start[-1])
    width = np.where(core_of >= 0, POINT_COUNT, 1)
    rows = np.repeat(np.arange(pattern.node_count, dtype=np.int64), np.diff(pattern.row_start.astype(np.int64)))
    keys = row_of[rows] * count + row_of[pattern.column]
    keys, first, block = np.unique(keys, return_index=True, return_inverse=True)
    wide, high = width[pattern.column[first]], width[rows[first]]
    base = keys // count

    # rows of a core lie in each other's pattern: all three have the columns of the first
    length = np.bincount(base, wide, count).astype(np.int64)
    lengths = length.copy()
    core_row = np.array([row_of[core.nodes[0]] for core in cores], np.int64)
    for step in range(1, POINT_COUNT):
        lengths[core_row + step] = length[core_row]
    row_start = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    before = np.cumsum(wide, dtype=np.int64) - wide
    place = row_start[base] + before - before[np.searchsorted(base, base)]

    column = np.empty(row_start[-1], np.uint32)
    for down in range(POINT_COUNT):
        for along in range(POINT_COUNT):
            has = (down < high) & (along < wide)
            column[(place + down * length[base] + along)[has]] = (keys % count + along)[has]
    diagonal = np.flatnonzero(column == np.repeat(np.arange(count, dtype=np.int64), lengths))
    chunk_start, chunk_island, starts = row_chunks(count, island_start[:-1].tolist())
    none = np.zeros(0, np.uint32)
    reduced = replace(
        pattern, row_start=row_start.astype(np.uint32), column=column, diagonal=diagonal.astype(np.uint32),
        corner_start=np.zeros(count + 1, np.uint32), corners=none, corner_block=none.reshape(0, 4),
        chunk_start=chunk_start, chunk_island=chunk_island, island_start=starts,
    )  # fmt: skip
    skin = np.flatnonzero(core_of < 0)
    pairs = np.flatnonzero((high == POINT_COUNT) & (wide == POINT_COUNT) & (base != keys % count))
    pair_of_key = np.full(len(keys), -1, np.int32)
    pair_of_key[pairs] = np.arange(len(pairs), dtype=np.int32)
    pair_cores = np.stack([core_of[rows[first[pairs]]], core_of[pattern.column[first[pairs]]]], axis=1)
    return ReducedPattern(
        reduced, core_of, row_of.astype(np.int32), place[block].astype(np.int32), length[base][block].astype(np.int32),
        pair_of_key[block], pair_cores, place[pairs].astype(np.int32), length[base][pairs].astype(np.int32),
        skin.astype(np.int32), row_of[skin].astype(np.int32), core_row.astype(np.int32),
    )  # fmt: skip


def _rows(pattern: BlockPattern, core_of: Indices, cores: Sequence[RigidCore]) -> tuple[Int64s, Int64s]:
    """Returns the row of every node, and where the islands of rows begin, (k + 1,)."""
    island = pattern.island_of_row.astype(np.int64)
    has_core = np.zeros(pattern.island_count, np.int64)
    has_core[island[[core.nodes[0] for core in cores]]] = 1
    is_skin = (core_of < 0).astype(np.int64)
    before = POINT_COUNT * (np.cumsum(has_core, dtype=np.int64) - has_core)
    skins = np.concatenate([[0], np.cumsum(is_skin, dtype=np.int64)])
    ends = skins[pattern.island_start.astype(np.int64)]
    row = np.where(core_of < 0, skins[:-1], ends[1:][island]) + before[island]
    return row, np.append(ends[:-1] + before, ends[-1] + POINT_COUNT * int(has_core.sum()))
