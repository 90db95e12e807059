# SPDX-License-Identifier: GPL-3.0-or-later
"""A pattern with further blocks in it, by merging sorted rows: for contacts, which tie nodes of tets that are no
neighbours."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..runtime.arrays import Floats, Indices
from ..runtime.jit import kernel
from ..runtime.threads.thread_pool import run_in_chunks
from .block_pattern import BlockPattern, UInt32s

BLOCKS_PER_PART = 1 << 16  # that a thread copies at a time
NO_BLOCK = 1 << 30  # more than any number of blocks


@dataclass(frozen=True, eq=False)
class WidenedPattern:
    """A wider pattern.

    Attributes:
        pattern: All blocks; its islands are those of the first pattern, joined or not.
        block_map: Block of the first pattern → the same block here, rising, (b,).
        added_blocks: Blocks that were asked for, here, (e,).
    """

    pattern: BlockPattern
    block_map: UInt32s
    added_blocks: UInt32s

    def scatter(self, values: Floats, wide: Floats) -> None:
        """Writes blocks of the first pattern, (b, 9), to their places in `wide`, and zeros to all others, (b', 9)."""
        places, last = self.block_map, len(self.block_map)

        def work(part: slice) -> None:
            begin = int(places[part.start - 1]) + 1 if part.start else 0
            end = int(places[part.stop - 1]) + 1 if part.stop < last else len(wide)
            scatter_blocks(places[part], values[part], begin, wide[begin:end])

        if last:
            run_in_chunks(last, work, BLOCKS_PER_PART)
        else:
            wide[:] = 0.0


class PatternArrays(NamedTuple):
    """Arrays of a `BlockPattern` that change where it is widened."""

    row_start: UInt32s
    column: UInt32s
    diagonal: UInt32s
    corner_block: UInt32s


class MergeScratch(NamedTuple):
    """Work space of `merge_rows`: (n + 1,), (e,), (n,) full of NO_BLOCK, (e,)."""

    first: np.ndarray
    order: np.ndarray
    place: np.ndarray
    fresh: UInt32s


def widen_pattern(pattern: BlockPattern, rows: Indices, columns: Indices) -> WidenedPattern:
    """Returns the pattern with the blocks at `rows` and `columns`, (e,), which may come twice and be there already."""
    n, b, e = pattern.node_count, pattern.block_count, len(rows)
    start, diagonal = np.empty((2, n + 1), np.uint32)
    column, places, added = np.empty(b + e, np.uint32), np.empty(b, np.uint32), np.empty(e, np.uint32)
    corner_block = np.empty_like(pattern.corner_block)
    scratch = MergeScratch(
        np.empty(n + 1, np.int64), np.empty(e, np.int64), np.full(n, NO_BLOCK, np.int64), np.empty(e, np.uint32)
    )
    count = merge_rows(
        PatternArrays(pattern.row_start, pattern.column, pattern.diagonal, pattern.corner_block),
        rows,
        columns,
        scratch,
        PatternArrays(start, column, diagonal, corner_block),
        places,
        added,
    )
    wide = replace(
        pattern,
        row_start=start,
        column=column[:count].copy(),
        diagonal=diagonal[:n],
        corner_block=corner_block,
        first_count=pattern.first_count or b,
    )
    return WidenedPattern(wide, places, added)


@kernel()
def merge_rows(pattern, rows, columns, scratch, wide, places, added):
    """Writes the arrays of a wider pattern; returns how many blocks it has.

    Args:
        pattern: `PatternArrays` of the first pattern.
        rows, columns: Of the requested blocks, (e,).
        scratch: `MergeScratch`.
        wide: `PatternArrays`, out, with room for b + e columns.
        places, added: Out, see `WidenedPattern`.
    """
    row_start, column, diagonal, corner_block = pattern
    first, order, place, fresh = scratch
    wide_start, wide_column, wide_diagonal, wide_corner_block = wide
    node_count = len(place)
    first[:] = 0
    for entry in range(len(rows)):
        first[rows[entry] + 1] += 1
    for node in range(node_count):
        first[node + 1] += first[node]
    for entry in range(len(rows) - 1, -1, -1):
        row = rows[entry]
        first[row + 1] -= 1  # now where the row begins, one to the right
        order[first[row + 1]] = entry
    end = 0
    for node in range(node_count):
        wide_start[node] = end
        begin, behind = row_start[node], row_start[node + 1]
        asked, last = first[node + 1], first[node + 2] if node + 1 < node_count else len(rows)
        if asked == last:
            for k in range(begin, behind):
                wide_column[end] = column[k]
                places[k] = end
                end += 1
            continue
        for k in range(begin, behind):
            place[column[k]] = 0
        count = 0
        for at in range(asked, last):
            other = columns[order[at]]
            if place[other] == NO_BLOCK:
                place[other] = 0
                i = count
                while i > 0 and fresh[i - 1] > other:
                    fresh[i] = fresh[i - 1]
                    i -= 1
                fresh[i] = other
                count += 1
        k, i = int(begin), 0
        while k < behind or i < count:
            if i == count or (k < behind and column[k] < fresh[i]):
                wide_column[end] = column[k]
                places[k] = end
                k += 1
            else:
                wide_column[end] = fresh[i]
                i += 1
            place[wide_column[end]] = end
            end += 1
        for at in range(asked, last):
            added[order[at]] = place[columns[order[at]]]
        for k in range(wide_start[node], end):
            place[wide_column[k]] = NO_BLOCK
    wide_start[node_count] = end
    for node in range(node_count):
        wide_diagonal[node] = places[diagonal[node]]
    for corner in range(len(corner_block)):
        for c in range(4):
            wide_corner_block[corner, c] = places[corner_block[corner, c]]
    return end


@kernel()
def scatter_blocks(places, values, begin, wide):
    """Writes blocks, (b, 9), to their rising places in `wide`, counted from `begin`, and zeros between them, (c, 9)."""
    k = 0
    for block in range(len(places)):
        while k + begin < places[block]:
            for i in range(9):
                wide[k, i] = 0.0
            k += 1
        for i in range(9):
            wide[k, i] = values[block, i]
        k += 1
    while k < len(wide):
        for i in range(9):
            wide[k, i] = 0.0
        k += 1
