# SPDX-License-Identifier: GPL-3.0-or-later
"""Groups of bodies with one step length in a Newton iteration at rest: those that contacts and attachments couple.

Bodies that nothing couples are problems of their own. With one length for all, one that may move a tenth of its way
would let all others move a tenth, too.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..mechanics.model import Model
from ..runtime.arrays import Floats
from .contact_stiffness_blocks import NodeCouplings
from .sums_by_body import SumsByBody


class StepGroups:
    """Which of b bodies step together, in k groups."""

    def __init__(self, model: Model, sums: SumsByBody, couplings: Iterable[NodeCouplings]) -> None:
        """Takes the couplings between nodes of the last tangent."""
        self.group = _connected(sums, couplings)  # of every body, (b,)
        self.count = int(self.group.max(initial=0)) + 1
        sizes = [body.nodes.stop - body.nodes.start for body in model.bodies]
        self._group_of_node = np.repeat(self.group, sizes) if self.count > 1 else None

    def sums(self, values: Floats) -> Floats:
        """Returns the sums over every group, (k,), of values of bodies, (b,)."""
        if self.count == len(values):
            return values  # each body is a group, in order
        return np.asarray(np.bincount(self.group, values, self.count), np.float64)

    def to_nodes(self, lengths: Floats) -> Floats:
        """Returns the step lengths of groups, (k,), for all nodes, (n, 1) or (1, 1)."""
        return lengths.reshape(1, 1) if self._group_of_node is None else lengths[self._group_of_node, None]


class SteppedPositions:
    """Positions x + length · d of groups of bodies; asked twice for the same lengths, it returns the same array."""

    def __init__(self, x: Floats, d: Floats, groups: StepGroups) -> None:
        """Takes where the step starts and its direction [m], (n, 3) each."""
        self.x, self.d, self.groups = x, d, groups
        self._lengths, self._positions = np.zeros(groups.count), x

    def at(self, lengths: Floats) -> Floats:
        """Returns the positions for the lengths of k groups, (k,)."""
        if not np.array_equal(lengths, self._lengths):
            self._lengths = lengths.copy()
            self._positions = self.x + self.groups.to_nodes(lengths) * self.d
        return self._positions


def _connected(sums: SumsByBody, couplings: Iterable[NodeCouplings]) -> np.ndarray:
    """Returns the group of every body, (b,)."""
    if sums.count == 1:
        return np.zeros(1, np.int64)
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    ends = [np.zeros((2, 0), np.int64)]
    for each in couplings:
        body = sums.bodies_of_nodes(each.nodes)
        ends.append(np.stack([body, np.repeat(body[each.start[:-1]], np.diff(each.start))]))
    one, two = np.concatenate(ends, axis=1)
    linked = coo_matrix((np.ones(len(one), bool), (one, two)), shape=(sums.count, sums.count))
    return np.asarray(connected_components(linked, directed=False)[1], np.int64)
