# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts that couple nodes of tets that are not neighbours, and the matrix extended by their blocks.

A contact pushes nodes i along n with coefficients c_i: its tangent is g gᵀ with g_i = √k c_i n. Blocks that the pattern
of the model lacks cannot be left out: two bodies in contact may move together freely, and a tangent without the blocks
between them would resist this motion.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..linalg.block_pattern import BlockPattern, row_chunks
from ..linalg.block_system import PcgWorkspace
from ..linalg.pattern_union import WidenedPattern, widen_pattern
from ..runtime.arrays import Floats, Indices
from ..runtime.jit import kernel
from ..runtime.kernel_argument_tuple import kernel_tuple

Int64s = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class NodeCouplings:
    """Contacts between nodes, c of them.

    Attributes:
        start: First entry of each, (c + 1,).
        nodes, coefficients: Nodes and their c_i, which sum to zero per contact, (e,) each.
        scaled_normals: √k n of each [√(N/m)], (c, 3).
    """

    start: Int64s
    nodes: Indices
    coefficients: Floats
    scaled_normals: Floats

    def __len__(self) -> int:
        return len(self.scaled_normals)

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The `CouplingArrays`, as kernels take the couplings."""
        return CouplingArrays(self.start, self.nodes, self.coefficients, self.scaled_normals)

    def scaled(self, factors: Floats) -> NodeCouplings:
        """Returns the couplings with normals multiplied by factors, (c,)."""
        return replace(self, scaled_normals=factors[:, None] * self.scaled_normals)

    def select(self, which: Int64s) -> NodeCouplings:
        """Returns some of the couplings, by index."""
        sizes = np.diff(self.start)[which]
        start = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        entry = np.repeat(self.start[which] - start[:-1], sizes) + np.arange(start[-1], dtype=np.int64)
        return NodeCouplings(start, self.nodes[entry], self.coefficients[entry], self.scaled_normals[which])

    def of_nodes(self, nodes: Indices, node_count: int) -> NodeCouplings:
        """Returns the couplings of some of n nodes, rising, in their own numbers, while the others stay where they are.

        Coefficients of those are left out, and every coupling has one of these at least.
        """
        number = np.full(node_count, -1, np.int32)
        number[nodes] = np.arange(len(nodes), dtype=np.int32)
        is_own = number[self.nodes] >= 0
        before = np.concatenate([[0], np.cumsum(is_own, dtype=np.int64)])
        return NodeCouplings(
            before[self.start], number[self.nodes[is_own]], self.coefficients[is_own], self.scaled_normals
        )

    @staticmethod
    def concatenate(groups: list[NodeCouplings]) -> NodeCouplings:
        """Returns the couplings of all groups, in order."""
        if len(groups) == 1:
            return groups[0]
        sizes = np.concatenate([np.zeros(0, np.int64), *(np.diff(group.start) for group in groups)])
        return NodeCouplings(
            np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]),
            np.concatenate([np.zeros(0, np.int32), *(group.nodes for group in groups)]),
            np.concatenate([np.zeros(0), *(group.coefficients for group in groups)]),
            np.concatenate([np.zeros((0, 3)), *(group.scaled_normals for group in groups)]),
        )


CouplingArrays = kernel_tuple("CouplingArrays", NodeCouplings)


class CoupledPattern:
    """The pattern extended by the blocks of couplings, kept while these couple the same nodes."""

    def __init__(self, pattern: BlockPattern, workspace: PcgWorkspace) -> None:
        """Takes the pattern, and whose array the blocks are written to."""
        self.pattern, self._workspace = pattern, workspace
        self.coupled_nodes: tuple[bytes, bytes] | None = None
        self.wide = WidenedPattern(pattern, np.zeros(0, np.uint32), np.zeros(0, np.uint32))

    def extend(self, values: Floats, couplings: NodeCouplings) -> tuple[BlockPattern, Floats]:
        """Returns the pattern and the blocks of the matrix `values`, (b, 9), with the couplings added, (b', 9).

        The next call with the same workspace overwrites the blocks.
        """
        coupled_nodes = couplings.start.tobytes(), couplings.nodes.tobytes()
        if coupled_nodes != self.coupled_nodes:
            self._extend_pattern(couplings)
            self.coupled_nodes = coupled_nodes
        wide = self._workspace.array("coupled_tangent", self.wide.pattern.block_count, 9)
        self.wide.scatter(values, wide)
        add_couplings(couplings.arrays, self.wide.added_blocks, wide)
        return self.wide.pattern, wide

    def _extend_pattern(self, couplings: NodeCouplings) -> None:
        rows, columns = np.empty((2, int((np.diff(couplings.start) ** 2).sum())), np.int32)
        fill_coupling_blocks(couplings.start, couplings.nodes, rows, columns)
        widened = widen_pattern(self.pattern, rows, columns)
        chunk_start, chunk_island, island_start = row_chunks(self.pattern.node_count, [0])
        whole = replace(widened.pattern, chunk_start=chunk_start, chunk_island=chunk_island, island_start=island_start)
        self.wide = replace(widened, pattern=whole)


@kernel()
def fill_coupling_blocks(start, nodes, rows, columns):
    """Writes row and column of every pair of nodes of every coupling."""
    at = 0
    for coupling in range(len(start) - 1):
        for i in range(start[coupling], start[coupling + 1]):
            for j in range(start[coupling], start[coupling + 1]):
                rows[at], columns[at] = nodes[i], nodes[j]
                at += 1


@kernel()
def add_couplings(couplings, places, values):
    """Adds c_i c_j (√k n)(√k n)ᵀ of `CouplingArrays` to the blocks, (b, 9), at the places of their pairs of nodes."""
    start, _, coefficients, push = couplings
    at = 0
    for coupling in range(len(start) - 1):
        for i in range(start[coupling], start[coupling + 1]):
            for j in range(start[coupling], start[coupling + 1]):
                c, block = coefficients[i] * coefficients[j], values[places[at]]
                at += 1
                for a in range(3):
                    for b in range(3):
                        block[3 * a + b] += c * push[coupling, a] * push[coupling, b]
