# SPDX-License-Identifier: GPL-3.0-or-later
"""The tangent of flesh with nodal averages: it couples nodes two edges apart, beyond the pattern of the model.

Where no block joins two bodies, such flesh is solved for by itself and all other bodies without it. Where bodies touch
each other, all are solved for together, in a pattern that has all blocks.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...linalg.block_pattern import BlockPattern
from ...linalg.pattern_union import WidenedPattern, widen_pattern
from ...mechanics.model import Model
from ...runtime.arrays import Bools, Floats, floats, indices
from ..dynamic_flesh_forces import FleshEvaluator, FleshGroup
from ..solver_context import StepWorkspace
from ..system.block_ops import block_matrix_product, row_blocks


class WideTangent:
    """The system of such flesh by itself.

    Attributes:
        nodes: Nodes of the group, in the whole model.
        islands: Its islands among those of the whole.
        pattern, values: Its matrix, with the terms of nodal averages.
    """

    def __init__(self, group: FleshGroup, model: Model, workspace: StepWorkspace) -> None:
        """Finds the rows of a group in the whole model."""
        self.group, self.model, self.workspace, self.nodes = group, model, workspace, group.part.nodes
        own = group.part.model.pattern
        first = self.nodes[own.island_start[:-1].astype(np.int64)]
        self.islands = np.searchsorted(model.pattern.island_start, first, side="right") - 1
        self.pattern, self.values = own, np.empty((own.block_count, 9))
        self.is_own: Bools = np.zeros(model.node_count, bool)
        self.is_own[self.nodes] = True

    def update(self, evaluator: FleshEvaluator, values: Floats, dt: float) -> None:
        """Takes blocks of the whole, (b, 9), and adds Δt² times the terms of nodal averages at the last evaluation."""
        narrow = np.empty((self.group.part.model.pattern.block_count, 9))
        for whole, own in body_slices(self.group, self.model):
            np.divide(values[whole[1]], dt * dt, out=narrow[own[1]])
        self.pattern, self.values = evaluator.whole_tangent(narrow)
        self.values *= dt * dt

    def merged(self, values: Floats) -> tuple[BlockPattern, Floats]:
        """Returns the blocks of the whole, (b, 9), with those of this flesh, and their pattern."""
        union = self._union_pattern()
        found = np.empty((union.pattern.block_count, 9))
        union.scatter(values, found)
        found[union.added_blocks] = self.values
        return union.pattern, found

    def _union_pattern(self) -> WidenedPattern:
        """Returns the pattern of the whole model with the blocks of this flesh."""
        whole, part, nodes = self.model.pattern, self.pattern, self.nodes
        cached = self.workspace.two_ring_union
        if cached is None or cached[0] is not whole or cached[1] is not part:
            counts = np.diff(part.row_start.astype(np.int64))
            union = widen_pattern(whole, indices(np.repeat(nodes, counts)), indices(nodes[part.column]))
            cached = self.workspace.two_ring_union = whole, part, union
        return cached[2]

    def multiply(self, v: Floats, out: Floats) -> None:
        """Writes the rows of A v of the group's nodes, (n, 3)."""
        out[self.nodes] = block_matrix_product(self.pattern, self.values, floats(v[self.nodes]))


def body_slices(group: FleshGroup, model: Model) -> Iterator[tuple[tuple[slice, slice], tuple[slice, slice]]]:
    """Yields (nodes, blocks) in the whole and in the group, for every body of it."""
    whole_start, own_start = model.pattern.row_start, group.part.model.pattern.row_start
    for number, own in zip(group.part.bodies, group.part.model.bodies, strict=True):
        nodes = model.bodies[number].nodes
        yield (nodes, row_blocks(whole_start, nodes)), (own.nodes, row_blocks(own_start, own.nodes))
