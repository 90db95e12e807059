# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts that tie nodes of tets that are not neighbours, and the matrix that is wider by their blocks.

A contact pushes the nodes i apart along n with coefficients c_i: its tangent is g gᵀ with g_i = √k c_i n. What the
model's pattern has no blocks for cannot be left out: two bodies that are pressed together may move together freely,
and a tangent without the blocks between them holds both where they are.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ..arrays import Floats, Indices
from ..jit import kernel
from ..late_dataclass import dataclass
from ..linear.pattern import BlockPattern, chunks_of
from ..linear.widening import Widened, widen

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
        start = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        entry = np.repeat(self.start[which] - start[:-1], sizes) + np.arange(start[-1], dtype=np.int64)
        return Ties(start, self.nodes[entry], self.coefficients[entry], self.push[which])

    @staticmethod
    def together(groups: list[Ties]) -> Ties:
        """Returns the ties of all groups, in order."""
        if len(groups) == 1:
            return groups[0]
        sizes = np.concatenate([np.zeros(0, np.int64), *(np.diff(group.start) for group in groups)])
        return Ties(
            np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]),
            np.concatenate([np.zeros(0, np.int32), *(group.nodes for group in groups)]),
            np.concatenate([np.zeros(0), *(group.coefficients for group in groups)]),
            np.concatenate([np.zeros((0, 3)), *(group.push for group in groups)]),
        )


class Widening:
    """The pattern with the blocks of ties, kept while they tie the same nodes."""

    def __init__(self, pattern: BlockPattern) -> None:
        self.pattern = pattern
        self.known: tuple[bytes, bytes] | None = None
        self.wide = Widened(pattern, np.zeros(0, np.uint32), np.zeros(0, np.uint32))

    def widened(self, values: Floats, ties: Ties) -> tuple[BlockPattern, Floats]:
        """Returns the pattern and the blocks of the matrix `values`, (b, 9), with the ties added, (b', 9)."""
        wanted = ties.start.tobytes(), ties.nodes.tobytes()
        if wanted != self.known:
            self._join(ties)
            self.known = wanted
        wide = np.empty((self.wide.pattern.block_count, 9))
        self.wide.spread(values, wide)
        add_ties(ties.start, ties.coefficients, ties.push, self.wide.added, wide)
        return self.wide.pattern, wide

    def _join(self, ties: Ties) -> None:
        rows, columns = np.empty((2, int((np.diff(ties.start) ** 2).sum())), np.int32)
        fill_blocks(ties.start, ties.nodes, rows, columns)
        found = widen(self.pattern, rows, columns)
        chunk_start, chunk_island, island_start = chunks_of(self.pattern.node_count, [0])
        whole = replace(
            found.pattern, chunk_start=chunk_start, chunk_island=chunk_island, island_start=island_start
        )  # fmt: skip
        self.wide = replace(found, pattern=whole)


@kernel()
def fill_blocks(start, nodes, rows, columns):
    """Writes row and column of every pair of nodes of every tie."""
    at = 0
    for tie in range(len(start) - 1):
        for i in range(start[tie], start[tie + 1]):
            for j in range(start[tie], start[tie + 1]):
                rows[at], columns[at] = nodes[i], nodes[j]
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
