# SPDX-License-Identifier: GPL-3.0-or-later
"""Some bodies of a model as a model of their own, and where its nodes, tets and blocks are in the whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..linalg.block_pattern import island_starts, pattern_of_islands
from ..runtime.arrays import Floats, Indices
from .model import NODE_ARRAYS, TET_ARRAYS, BodyRange, Model


@dataclass(frozen=True, eq=False)
class Submodel:
    """Some bodies, in their order.

    Attributes:
        model: Of these bodies alone.
        bodies: Their numbers in the whole, rising.
        nodes, tets: Nodes and tets in the whole, rising, (n,) and (m,).
        blocks: Blocks of the whole pattern, rising, (b,): no block joins two bodies, so rows stay whole.
    """

    model: Model
    bodies: tuple[int, ...]
    nodes: Indices
    tets: Indices
    blocks: Indices

    def remapped(self, whole: Model) -> Submodel:
        """Returns the same bodies after nodes have split, in `whole`: made anew where their own have."""
        ranges = [whole.bodies[number] for number in self.bodies]
        if sum(body.nodes.stop - body.nodes.start for body in ranges) != len(self.nodes):
            return make_submodel(whole, self.bodies)
        return replace(self, nodes=_concatenated_ranges([body.nodes for body in ranges]), blocks=_blocks(whole, ranges))


def make_submodel(whole: Model, bodies: Sequence[int]) -> Submodel:
    """Returns the bodies of these numbers as a model of their own."""
    numbers = tuple(sorted(bodies))
    ranges = [whole.bodies[number] for number in numbers]
    nodes = _concatenated_ranges([body.nodes for body in ranges])
    tets = _concatenated_ranges([body.tets for body in ranges])
    number_of = np.full(whole.node_count, -1, np.int32)
    number_of[nodes] = np.arange(len(nodes), dtype=np.int32)
    own, starts = [], [0, 0]
    for body in ranges:
        n, m = body.nodes.stop - body.nodes.start, body.tets.stop - body.tets.start
        own.append(BodyRange(body.key, slice(starts[0], starts[0] + n), slice(starts[1], starts[1] + m)))
        starts = [starts[0] + n, starts[1] + m]
    corners = np.ascontiguousarray(number_of[whole.tets[tets]])
    islands = island_starts(corners, len(nodes), [body.nodes.start for body in own])
    blocks = _blocks(whole, ranges)
    model = replace(
        whole,
        tets=corners,
        pattern=pattern_of_islands(whole.pattern, nodes, tets, blocks, islands),
        bodies=tuple(own),
        cores=(),  # such bodies have none
        bound=None,  # their parents may be of other bodies
        sheets=whole.sheets.of_tets(tets) if whole.sheets is not None else None,
        methods=tuple(whole.methods[number] for number in numbers) if whole.methods else (),
        levels=tuple(whole.levels[number] for number in numbers) if whole.levels else (),
        **{name: _select_rows(getattr(whole, name), nodes) for name in NODE_ARRAYS},
        **{name: _select_rows(getattr(whole, name), tets) for name in TET_ARRAYS},
    )
    return Submodel(model, numbers, nodes, tets, blocks)


def _blocks(whole: Model, bodies: Sequence[BodyRange]) -> Indices:
    row_start = whole.pattern.row_start.astype(np.int64)
    return _concatenated_ranges([slice(row_start[body.nodes.start], row_start[body.nodes.stop]) for body in bodies])


def _concatenated_ranges(ranges: Sequence[slice]) -> Indices:
    return np.concatenate([np.zeros(0, np.int32), *(np.arange(r.start, r.stop, dtype=np.int32) for r in ranges)])


def _select_rows(values: Floats, rows: Indices) -> Floats:
    return np.ascontiguousarray(values[rows]) if len(values) else values
