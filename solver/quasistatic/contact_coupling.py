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

from ..linalg.block_pattern import BlockPattern, row_chunks
from ..linalg.pattern_union import WidenedPattern, widen_pattern
from ..runtime.arrays import Floats, Indices
from ..runtime.jit import kernel

Int64s = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class NodeCouplings:
    """Contacts between nodes, c of them.

    Attributes:
        start: Where the nodes of each begin, (c + 1,).
        nodes, coefficients: Nodes and their c_i, which sum to zero per contact, (e,) each.
        push: √k n of each [√(N/m)], (c, 3).
    """

    start: Int64s
    nodes: Indices
    coefficients: Floats
    scaled_normals: Floats

    def __len__(self) -> int:
        return len(self.scaled_normals)

    def select(self, which: Int64s) -> NodeCouplings:
        """Returns those of these numbers."""
        sizes = np.diff(self.start)[which]
        start = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        entry = np.repeat(self.start[which] - start[:-1], sizes) + np.arange(start[-1], dtype=np.int64)
        return NodeCouplings(start, self.nodes[entry], self.coefficients[entry], self.scaled_normals[which])

    @staticmethod
    def concatenate(groups: list[NodeCouplings]) -> NodeCouplings:
        """Returns the ties of all groups, in order."""
        if len(groups) == 1:
            return groups[0]
        sizes = np.concatenate([np.zeros(0, np.int64), *(np.diff(group.start) for group in groups)])
        return NodeCouplings(
            np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]),
            np.concatenate([np.zeros(0, np.int32), *(group.nodes for group in groups)]),
            np.concatenate([np.zeros(0), *(group.coefficients for group in groups)]),
            np.concatenate([np.zeros((0, 3)), *(group.scaled_normals for group in groups)]),
        )


class CoupledPattern:
    """The pattern with the blocks of ties, kept while they tie the same nodes."""

    def __init__(self, pattern: BlockPattern) -> None:
        self.pattern = pattern
        self.known_couplings: tuple[bytes, bytes] | None = None
        self.wide = WidenedPattern(pattern, np.zeros(0, np.uint32), np.zeros(0, np.uint32))

    def extend(self, values: Floats, ties: NodeCouplings) -> tuple[BlockPattern, Floats]:
        """Returns the pattern and the blocks of the matrix `values`, (b, 9), with the ties added, (b', 9)."""
        wanted = ties.start.tobytes(), ties.nodes.tobytes()
        if wanted != self.known_couplings:
            self._extend_pattern(ties)
            self.known_couplings = wanted
        wide = np.empty((self.wide.pattern.block_count, 9))
        self.wide.scatter(values, wide)
        add_couplings(ties.start, ties.coefficients, ties.scaled_normals, self.wide.added_blocks, wide)
        return self.wide.pattern, wide

    def _extend_pattern(self, ties: NodeCouplings) -> None:
        rows, columns = np.empty((2, int((np.diff(ties.start) ** 2).sum())), np.int32)
        fill_coupling_blocks(ties.start, ties.nodes, rows, columns)
        found = widen_pattern(self.pattern, rows, columns)
        chunk_start, chunk_island, island_start = row_chunks(self.pattern.node_count, [0])
        whole = replace(
            found.pattern, chunk_start=chunk_start, chunk_island=chunk_island, island_start=island_start
        )  # fmt: skip
        self.wide = replace(found, pattern=whole)


@kernel()
def fill_coupling_blocks(start, nodes, rows, columns):
    """Writes row and column of every pair of nodes of every tie."""
    at = 0
    for tie in range(len(start) - 1):
        for i in range(start[tie], start[tie + 1]):
            for j in range(start[tie], start[tie + 1]):
                rows[at], columns[at] = nodes[i], nodes[j]
                at += 1


@kernel()
def add_couplings(start, coefficients, push, places, values):
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
