# SPDX-License-Identifier: GPL-3.0-or-later
"""The system of flesh that averages at its nodes: its matrix has blocks that the pattern of the whole lacks.

Where no block joins two bodies, this flesh is solved for by itself, and all other bodies as if there were none. Where
bodies touch each other, all are solved for together, in a pattern that has all blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from weakref import WeakKeyDictionary

import numpy as np

from ...linalg.block_pattern import BlockPattern, UInt32s
from ...linalg.pattern_union import WidenedPattern, widen_pattern
from ...mechanics.hyperelastic.partition import partition
from ...mechanics.model import Model
from ...runtime.arrays import Bools, Floats, Indices, floats, indices
from ...runtime.threads.thread_pool import run_parts
from ..system.block_ops import multiply_rows
from .dynamic_flesh import FleshEvaluator, FleshGroup


class WideTangent:
    """What is solved for by itself.

    Attributes:
        nodes: Of the group, in the whole.
        islands: Its islands among those of the whole.
        pattern, values: Its matrix, with the terms of averages.
    """

    def __init__(self, group: FleshGroup, model: Model) -> None:
        self.group, self.model, self.nodes = group, model, group.part.nodes
        own = group.part.model.pattern
        first = self.nodes[own.island_start[:-1].astype(np.int64)]
        self.islands = np.searchsorted(model.pattern.island_start, first, side="right") - 1
        self.pattern, self.values = own, np.empty((own.block_count, 9))
        self.is_own: Bools = np.zeros(model.node_count, bool)
        self.is_own[self.nodes] = True

    def update(self, looked: FleshEvaluator, values: Floats, dt: float) -> None:
        """Takes blocks of the whole, (b, 9), and adds Δt² times what averages give at the last look."""
        narrow = np.empty((self.group.part.model.pattern.block_count, 9))
        for whole, own in body_slices(self.group, self.model):
            np.divide(values[whole[1]], dt * dt, out=narrow[own[1]])
        self.pattern, self.values = looked.whole_tangent(narrow)
        self.values *= dt * dt

    def merged(self, values: Floats) -> tuple[BlockPattern, Floats]:
        """Returns the blocks of the whole, (b, 9), with those of this flesh as last seen, and their pattern."""
        union = _union_pattern(self.model.pattern, self.pattern, self.nodes)
        found = np.empty((union.pattern.block_count, 9))
        union.scatter(values, found)
        found[union.added_blocks] = self.values
        return union.pattern, found

    def multiply(self, v: Floats, out: Floats) -> None:
        """Writes the rows of A v of the group's nodes, (n, 3)."""
        out[self.nodes] = block_matrix_product(self.pattern, self.values, floats(v[self.nodes]))


_cache: WeakKeyDictionary[BlockPattern, tuple[BlockPattern, WidenedPattern]] = WeakKeyDictionary()


def _union_pattern(whole: BlockPattern, part: BlockPattern, nodes: Indices) -> WidenedPattern:
    """Returns the pattern of the whole with the blocks of a part's, whose rows are `nodes`; kept with the part's."""
    kept = _cache.get(part)
    if kept is None or kept[0] is not whole:
        counts = np.diff(part.row_start.astype(np.int64))
        kept = whole, widen_pattern(whole, indices(np.repeat(nodes, counts)), indices(nodes[part.column]))
        _cache[part] = kept
    return kept[1]


def block_matrix_product(pattern: BlockPattern, values: Floats, v: Floats) -> Floats:
    """Returns A v, (n, 3)."""
    out, parts = np.empty_like(v), partition(pattern.node_count)
    run_parts(len(parts), lambda k: multiply_rows(*parts[k], pattern.row_start, pattern.column, values, v, out))
    return out


def body_slices(group: FleshGroup, model: Model) -> Iterator[tuple[tuple[slice, slice], tuple[slice, slice]]]:
    """Yields (nodes, blocks) in the whole and in the group, for every body of it."""
    whole_start, own_start = model.pattern.row_start, group.part.model.pattern.row_start
    for number, own in zip(group.part.bodies, group.part.model.bodies, strict=True):
        nodes = model.bodies[number].nodes
        yield (nodes, row_blocks(whole_start, nodes)), (own.nodes, row_blocks(own_start, own.nodes))


def row_blocks(row_start: UInt32s, nodes: slice) -> slice:
    """Returns the blocks of some rows."""
    return slice(int(row_start[nodes.start]), int(row_start[nodes.stop]))
