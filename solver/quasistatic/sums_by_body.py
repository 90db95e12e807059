# SPDX-License-Identifier: GPL-3.0-or-later
"""Sums over the bodies of a model, of values that belong to some of its tets or to all of its nodes."""

from __future__ import annotations

import numpy as np

from ..mechanics.model import Model
from ..runtime.arrays import Floats
from ..runtime.row_dot_products import row_dot_products


class SumsByBody:
    """Where the tets and nodes of each body begin, b bodies."""

    def __init__(self, model: Model) -> None:
        """Takes the bodies of a model."""
        self.count = len(model.bodies)
        self._first_tet = np.array([body.tets.start for body in model.bodies], np.int64)
        self._first_node = np.array([body.nodes.start for body in model.bodies], np.int64)

    def of_tets(self, values: Floats, tets: np.ndarray) -> Floats:
        """Returns the sums of values of k tets, (k,) or (k, 3), by body, (b,)."""
        if self.count == 1:
            return np.array([values.sum()])
        rows = values.sum(axis=1) if values.ndim > 1 else values
        return np.asarray(np.bincount(self.bodies_of_tets(tets), rows, self.count), np.float64)

    def products(self, a: Floats, b: Floats) -> Floats:
        """Returns a·b of every body, (b,), for vectors of all nodes, (n, 3)."""
        if self.count == 1:
            return np.array([np.sum(a * b)])  # np.dot's sum depends on the number of threads
        return np.asarray(np.add.reduceat(row_dot_products(a, b), self._first_node), np.float64)

    def bodies_of_tets(self, tets: np.ndarray) -> np.ndarray:
        """Returns the bodies of tets, (k,)."""
        return np.searchsorted(self._first_tet, tets, side="right") - 1

    def bodies_of_nodes(self, nodes: np.ndarray) -> np.ndarray:
        """Returns the bodies of nodes, (k,)."""
        return np.searchsorted(self._first_node, nodes, side="right") - 1
