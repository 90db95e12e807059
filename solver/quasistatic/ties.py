# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts that tie nodes of tets that are not neighbours, and the matrix that is wider by their blocks.

A contact pushes the nodes i apart along n with coefficients c_i: its tangent is g gᵀ with g_i = √k c_i n. What the
model's pattern has no blocks for cannot be left out: two bodies that are pressed together may move together freely,
and a tangent without the blocks between them holds both where they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..arrays import Floats, Indices
from ..jit import kernel
from ..linear.pattern import BlockPattern, chunks_of

Whole = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Ties:
    """Contacts between nodes, c of them.

    Attributes:
        start: Where the nodes of each begin, (c + 1,).
        nodes, coefficients: Nodes and their c_i, which sum to zero per contact, (e,) each.
        push: √k n of each [√(N/m)], (c, 3).
    """

    start: Whole
    nodes: Indices
    coefficients: Floats
    push: Floats

    def __len__(self) -> int:
        return len(self.push)

    def some(self, which: Whole) -> Ties:
        """Returns those of these numbers."""
        sizes = np.diff(self.start)[which]
        start = np.concatenate([[0], np.cumsum(sizes)])
        entry = np.repeat(self.start[which] - start[:-1], sizes) + np.arange(start[-1])
        return Ties(start, self.nodes[entry], self.coefficients[entry], self.push[which])

    @staticmethod
    def together(groups: list[Ties]) -> Ties:
        """Returns the ties of all groups, in order."""
        if len(groups) == 1:
            return groups[0]
        sizes = np.concatenate([np.zeros(0, np.int64), *(np.diff(group.start) for group in groups)])
        return Ties(
            np.concatenate([[0], np.cumsum(sizes)]),
            np.concatenate([np.zeros(0, np.int32), *(group.nodes for group in groups)]),
            np.concatenate([np.zeros(0), *(group.coefficients for group in groups)]),
            np.concatenate([np.zeros((0, 3)), *(group.push for group in groups)]),
        )


class Widening:
    """The pattern with the blocks of ties, kept while they tie the same nodes."""

    def __init__(self, pattern: BlockPattern) -> None:
        self.pattern = pattern
        rows = np.repeat(np.arange(pattern.node_count, dtype=np.int64), np.diff(pattern.row_start.astype(np.int64)))
        self.keys = rows * pattern.node_count + pattern.column
        self.known: tuple[bytes, bytes] | None = None
        self.wide = pattern
        self.places = self.tie_places = np.zeros(0, np.int64)

    def widened(self, values: Floats, ties: Ties) -> tuple[BlockPattern, Floats]:
        """Returns the pattern and the blocks of the matrix `values`, (b, 9), with the ties added, (b', 9)."""
        wanted = ties.start.tobytes(), ties.nodes.tobytes()
        if wanted != self.known:
            self._join(ties)
            self.known = wanted
        wide = np.zeros((self.wide.block_count, 9))
        wide[self.places] = values
        add_ties(ties.start, ties.coefficients, ties.push, self.tie_places, wide)
        return self.wide, wide

    def _join(self, ties: Ties) -> None:
        count = self.pattern.node_count
        keys = np.empty(int((np.diff(ties.start) ** 2).sum()), np.int64)
        fill_keys(ties.start, ties.nodes, count, keys)
        new = np.unique(keys)
        at = np.minimum(np.searchsorted(self.keys, new), len(self.keys) - 1)
        every = np.sort(np.concatenate([self.keys, new[self.keys[at] != new]]), kind="stable")
        self.places, self.tie_places = np.searchsorted(every, self.keys), np.searchsorted(every, keys)
        rows, columns = np.divmod(every, count)
        chunk_start, chunk_island, island_start = chunks_of(count, [0])
        self.wide = replace(
            self.pattern,
            row_start=np.searchsorted(rows, np.arange(count + 1)).astype(np.uint32),
            column=columns.astype(np.uint32),
            diagonal=np.flatnonzero(rows == columns).astype(np.uint32),
            corner_block=self.places[self.pattern.corner_block].astype(np.uint32),
            chunk_start=chunk_start,
            chunk_island=chunk_island,
            island_start=island_start,
        )


@kernel()
def fill_keys(start, nodes, count, keys):
    """Writes row · count + column of every pair of nodes of every tie."""
    at = 0
    for tie in range(len(start) - 1):
        for i in range(start[tie], start[tie + 1]):
            for j in range(start[tie], start[tie + 1]):
                keys[at] = np.int64(nodes[i]) * count + np.int64(nodes[j])
                at += 1


@kernel()
def add_ties(start, coefficients, push, places, values):
    """Adds c_i c_j (√k n)(√k n)ᵀ to the blocks, (b, 9), in which the pairs of nodes of every tie are."""
    at = 0
    for tie in range(len(start) - 1):
        for i in range(start[tie], start[tie + 1]):
            for j in range(start[tie], start[tie + 1]):
                c, block = coefficients[i] * coefficients[j], values[places[at]]
                at += 1
                for a in range(3):
                    for b in range(3):
                        block[3 * a + b] += c * push[tie, a] * push[tie, b]
