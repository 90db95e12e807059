# SPDX-License-Identifier: GPL-3.0-or-later
"""Adds forces between points of two tets to a matrix, and widens its pattern by the blocks between the tets.

The wide pattern is kept while no further tets act on each other: blocks of zeros change no sum.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from ..runtime.arrays import Floats, Indices
from ..runtime.jit import kernel
from .block_pattern import BlockPattern
from .coupled_islands import Int64s, island_coupling
from .island_cholesky import IslandLayout
from .pattern_union import WidenedPattern, widen_pattern

MAX_UNUSED_RATIO = 2  # tets that no longer act on each other are kept up to so many times those that do


class PairArrays(NamedTuple):
    """What acts between points of two tets, (k,) pairs.

    Attributes:
        tet, weights, other, other_weights: The tets, and the weights of their nodes in the points, (k,) and (k, 4).
        stiffness: K of every pair, row by row [N/m], (k, 9), or (0, 9) where it is not read.
        force: On the first point, and against the second [N], (k, 3).
    """

    tet: Indices
    weights: Floats
    other: Indices
    other_weights: Floats
    stiffness: Floats
    force: Floats


@dataclass(frozen=True, eq=False)
class PairBlocks:
    """Blocks between the tets of some pairs.

    Attributes:
        pattern: With these blocks, and coupled by them.
        widened: The same without `coupling`, and what has become of the first pattern's blocks.
        place: Which 32 of `widened.added` are those of each pair, (k,): the blocks of nodes a of the first tet with
            nodes c of the other, then those of c with a.
    """

    pattern: BlockPattern
    widened: WidenedPattern
    place: Int64s


class PairPattern:
    """The wide pattern of a pattern and its tets, (m, 4)."""

    def __init__(self, tets: Indices) -> None:
        self.tets = tets  # and not the pattern, with which this is dropped
        self.keys = np.zeros(0, np.int64)  # of pairs of tets, rising
        self.widened: WidenedPattern | None = None
        self.last: BlockPattern | None = None
        self.layout: IslandLayout | None = None
        self.own_keys = self.keys  # of pairs within one island
        self.last_keys = self.keys
        self.wide = np.zeros((0, 9))

    def pair_blocks(self, pattern: BlockPattern, tet: Indices, other: Indices) -> PairBlocks:
        """Returns the blocks of pairs of tets, (k,) each."""
        count = len(self.tets)
        wanted = tet.astype(np.int64) * count + other
        place = np.searchsorted(self.keys, wanted)
        if self.widened is None or not np.array_equal(self.keys[np.minimum(place, len(self.keys) - 1)], wanted):
            new = np.unique(wanted)
            if len(self.keys) <= MAX_UNUSED_RATIO * len(new):
                new = np.union1d(self.keys, new)
            self.keys, place = new, np.searchsorted(new, wanted)
            rows, columns = np.empty((2, 32 * len(new)), np.int32)
            fill_pair_blocks(self.tets, new // count, new % count, rows, columns)
            self.widened, self.last = widen_pattern(pattern, rows, columns), None
            self.wide = np.empty((self.widened.pattern.block_count, 9))
        acts = np.zeros(len(self.keys), bool)
        acts[place] = True
        return PairBlocks(self._coupled(pattern, self.widened, self.keys[acts]), self.widened, place)

    def _coupled(self, pattern: BlockPattern, widened: WidenedPattern, keys: Int64s) -> BlockPattern:
        """Returns the wide pattern with the islands coupled that pairs of tets join."""
        if self.last is not None and np.array_equal(keys, self.last_keys):
            return self.last
        one, other = (pattern.island_of_row[self.tets[tet, 0]] for tet in np.divmod(keys, len(self.tets)))
        coupling = island_coupling(one, other, pattern.island_count)
        if coupling is None:
            self.last = widened.pattern
        else:
            is_changed = self._lay_out_islands(pattern, keys[one == other])
            if is_changed or self.last is None or not coupling.is_same(self.last.coupling):
                self.last = replace(widened.pattern, coupling=coupling, island_layout=self.layout)
        self.last_keys = keys
        return self.last

    def _lay_out_islands(self, pattern: BlockPattern, keys: Int64s) -> bool:
        """Arranges the factors of islands, by the pairs within one that act now; returns whether these are others.

        What acted before does not count: a bake that is resumed does not know it.
        """
        if self.layout is not None and np.array_equal(keys, self.own_keys):
            return False
        rows, columns = np.empty((2, 32 * len(keys)), np.int32)
        fill_pair_blocks(self.tets, *np.divmod(keys, len(self.tets)), rows, columns)
        self.layout = IslandLayout(pattern.row_start, pattern.column, pattern.island_of_row, rows, columns)
        self.own_keys = keys
        return True


class PairPatterns:
    """The wide patterns of the matrices of one simulation, which owns this object.

    Which pairs a wide pattern has depends on those of earlier steps, and its blocks are written in every step.
    """

    def __init__(self) -> None:
        """Begins without any."""
        self._by_pattern: WeakKeyDictionary[BlockPattern, PairPattern] = WeakKeyDictionary()

    def widened(self, pattern: BlockPattern, tets: Indices) -> PairPattern:
        """Returns the wide pattern of a pattern whose tets are these, (m, 4)."""
        if pattern not in self._by_pattern:
            self._by_pattern[pattern] = PairPattern(tets)
        return self._by_pattern[pattern]


@kernel()
def fill_pair_blocks(tets, first, second, rows, columns):
    """Writes rows and columns of the 32 blocks between the nodes of every pair of tets, as in `PairBlocks.place`."""
    for pair in range(len(first)):
        for a in range(4):
            for c in range(4):
                i, j = tets[first[pair], a], tets[second[pair], c]
                there, back = 32 * pair + 4 * a + c, 32 * pair + 16 + 4 * c + a
                rows[there], columns[there] = i, j
                rows[back], columns[back] = j, i


@kernel()
def add_pair_terms(dt, pairs, place, tets, corner_block, added, values, b):
    """Adds Δt² Wᵀ K W to the blocks and Δt Wᵀ f to the right-hand side, with W of p less that of q.

    Args:
        dt: Δt.
        pairs: `PairArrays`.
        place: Of `PairBlocks`.
        tets: Nodes of the tets, (m, 4).
        corner_block, added: Of the wide pattern.
        values: Blocks, (b', 9), changed; none: only the right-hand side is.
        b: Right-hand side, (n, 3), changed.
    """
    tet, weights, other, other_weights, stiffness, force = pairs
    for pair in range(len(tet)):
        t, u = tet[pair], other[pair]
        for a in range(4):
            w, v = dt * weights[pair, a], dt * other_weights[pair, a]
            for i in range(3):
                b[tets[t, a], i] += w * force[pair, i]
                b[tets[u, a], i] -= v * force[pair, i]
        if len(values) == 0:
            continue
        between = 32 * place[pair]
        for a in range(4):
            w, v = dt * dt * weights[pair, a], dt * dt * other_weights[pair, a]
            for c in range(4):
                own, others = corner_block[4 * t + a, c], corner_block[4 * u + a, c]
                there, back = added[between + 4 * a + c], added[between + 16 + 4 * a + c]
                k, m = w * weights[pair, c], v * other_weights[pair, c]
                p, q = w * other_weights[pair, c], v * weights[pair, c]
                for i in range(9):
                    values[own, i] += k * stiffness[pair, i]
                for i in range(9):
                    values[others, i] += m * stiffness[pair, i]
                for i in range(9):
                    values[there, i] -= p * stiffness[pair, i]
                for i in range(9):
                    values[back, i] -= q * stiffness[pair, i]
