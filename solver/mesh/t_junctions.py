# SPDX-License-Identifier: GPL-3.0-or-later
"""T-junctions: nodes of small tets in the middle of an edge, or in a face, of larger ones, which do not have them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..runtime.arrays import Floats, Indices


@dataclass(frozen=True, eq=False)
class TJunctions:
    """Weighted sums of nodes of large tets, at which b nodes of small ones are, with e summands in all.

    No summand is at a T-junction itself: where sizes differ by more than one level, chains are multiplied out.

    Attributes:
        nodes: The nodes that are at T-junctions, rising, (b,).
        start: Where the summands of each begin, (b + 1,).
        parents, weights: The summands, and their weights, which sum to one for each node and are above zero but for
            vertices of a sheet that points carry, (e,).
    """

    nodes: Indices
    start: Indices
    parents: Indices
    weights: Floats

    def __len__(self) -> int:
        return len(self.nodes)

    def renumbered(self, number: Indices) -> TJunctions:
        """Returns the same where nodes have other numbers, (n,)."""
        order = np.argsort(number[self.nodes], kind="stable")
        length = np.diff(self.start)[order]
        start = np.concatenate([[0], np.cumsum(length, dtype=np.int64)]).astype(np.int32)
        entry = np.repeat(self.start[:-1][order] - start[:-1], length) + np.arange(start[-1], dtype=np.int32)
        return TJunctions(number[self.nodes[order]], start, number[self.parents[entry]], self.weights[entry])

    def shifted(self, first: int) -> TJunctions:
        """Returns the same where the nodes are numbered from `first` on."""
        return replace(self, nodes=self.nodes + np.int32(first), parents=self.parents + np.int32(first))


def no_t_junctions() -> TJunctions:
    """Returns those of tets that share whole faces."""
    empty = np.zeros(0, np.int32)
    return TJunctions(empty, np.zeros(1, np.int32), empty, np.zeros(0))
