# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes that have no motion of their own: each is a weighted sum of other nodes, its parents.

With the velocities v of the parents, all nodes have W v. Forces f on all nodes are Wᵀ f on the parents, and a matrix A
of all nodes is Wᵀ A W, which is symmetric and definite where A is.

Source: S07, section 6.2, (6.1) to (6.4).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..runtime.arrays import Bools, Floats, Indices, floats
from ..runtime.errors import BadInput
from ..runtime.jit import kernel


@dataclass(frozen=True, eq=False)
class BoundNodes:
    """The rows of W of b bound nodes with e parents in all; no parent is bound itself.

    Attributes:
        nodes: The bound nodes, rising, (b,).
        start: Where the parents of each begin, (b + 1,).
        parents, weights: The parents, and their weights, which sum to one for each node, (e,).
    """

    nodes: Indices
    start: Indices
    parents: Indices
    weights: Floats

    def interpolate(self, values: Floats) -> None:
        """Overwrites the rows of bound nodes with those of W: positions [m] or velocities [m/s], (n, 3)."""
        interpolate_bound(self.nodes, self.start, self.parents, self.weights, values)

    def hand_down(self, values: Floats) -> None:
        """Adds what bound nodes have to their parents, and leaves zero: forces [N], impulses or masses, (n, k)."""
        hand_down_bound(self.nodes, self.start, self.parents, self.weights, values)

    def is_bound(self, node_count: int) -> Bools:
        """Returns which of the nodes are bound, (n,)."""
        out = np.zeros(node_count, bool)
        out[self.nodes] = True
        return out

    def effective_mass(self, mass: Floats) -> Floats:
        """Returns m_e of the bound nodes [kg], (b,): 1 / m_e = Σ w² / m.

        Args:
            mass: Of all nodes, of bound ones not read [kg], (n,).

        Source: S07, (6.4).
        """
        inverse = np.add.reduceat(self.weights**2 / mass[self.parents], self.start[:-1])
        return floats(1.0 / inverse)

    def renumbered(self, number_of: Indices) -> BoundNodes | None:
        """Returns the bound nodes that have a number elsewhere, in these numbers, (n,), −1 for none; None without any.

        Raises:
            BadInput: Some parents of one of these have no number.
        """
        own = np.flatnonzero(number_of[self.nodes] >= 0)
        if not len(own):
            return None
        some = self._select(own)
        parents = number_of[some.parents]
        if (parents < 0).any():
            raise BadInput("bound-by-two-schemes")
        return BoundNodes(number_of[some.nodes], some.start, parents, some.weights)

    def within(self, nodes: slice) -> BoundNodes | None:
        """Returns the bound nodes among some in a row whose parents all are, too; None without any."""
        is_own = (self.nodes >= nodes.start) & (self.nodes < nodes.stop)
        inside = (self.parents >= nodes.start) & (self.parents < nodes.stop)
        own = np.flatnonzero(is_own & np.logical_and.reduceat(inside, self.start[:-1]))
        return self._select(own) if len(own) else None

    def _select(self, rows: npt.NDArray[np.int64]) -> BoundNodes:
        """Returns some of the bound nodes, rising."""
        length = np.diff(self.start)[rows]
        start = np.concatenate([[0], np.cumsum(length, dtype=np.int64)])
        entry = np.repeat(self.start[:-1][rows] - start[:-1], length) + np.arange(start[-1], dtype=np.int64)
        return BoundNodes(self.nodes[rows], start.astype(np.int32), self.parents[entry], self.weights[entry])

    def matrix_rows(self, node_count: int) -> tuple[Indices, Indices, Floats]:
        """Returns W in CSR form: where rows begin, (n + 1,), columns and weights; a free node has a weight of 1."""
        length: np.ndarray = np.ones(node_count, np.int64)
        length[self.nodes] = np.diff(self.start)
        row_start = np.concatenate([[0], np.cumsum(length, dtype=np.int64)])
        column, weight = np.empty(row_start[-1], np.int32), np.ones(row_start[-1])
        own = ~self.is_bound(node_count)
        column[row_start[:-1][own]] = np.flatnonzero(own)
        first = np.repeat(row_start[self.nodes] - self.start[:-1], np.diff(self.start))
        place = first + np.arange(len(self.parents), dtype=np.int64)
        column[place], weight[place] = self.parents, self.weights
        return row_start.astype(np.int32), column, weight


@kernel()
def interpolate_bound(nodes, start, parents, weights, values):
    """Writes Σ w of the parents to the rows of bound nodes, (n, k)."""
    for bound in range(len(nodes)):
        for i in range(values.shape[1]):
            total = 0.0
            for entry in range(start[bound], start[bound + 1]):
                total += weights[entry] * values[parents[entry], i]
            values[nodes[bound], i] = total


@kernel()
def hand_down_bound(nodes, start, parents, weights, values):
    """Adds w times the rows of bound nodes to those of their parents, and sets them to zero, (n, k)."""
    for bound in range(len(nodes)):
        for i in range(values.shape[1]):
            given = values[nodes[bound], i]
            for entry in range(start[bound], start[bound + 1]):
                values[parents[entry], i] += weights[entry] * given
            values[nodes[bound], i] = 0.0
