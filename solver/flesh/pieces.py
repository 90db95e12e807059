# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether something says where flesh is: at rest, a piece that nothing holds has no place."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ..arrays import Indices
from ..integrators.outside import Points
from ..model import Model
from ..quasistatic.held import Held


@dataclass(frozen=True, eq=False)
class Pieces:
    """The connected pieces of flesh.

    Attributes:
        of_node: Number of each node's piece, (n,).
        count: Number of pieces.
    """

    of_node: Indices
    count: int

    @staticmethod
    def of(model: Model) -> Pieces:
        """Returns the pieces of a model."""
        rows, columns = np.repeat(model.tets[:, 0], 3), model.tets[:, 1:].ravel()
        ones, shape = np.ones(len(rows)), (model.node_count, model.node_count)
        count, piece = connected_components(coo_array((ones, (rows, columns)), shape), directed=False)
        return Pieces(piece.astype(np.int32), int(count))

    def loose(self, model: Model, held: Held, springs: Points) -> Indices:
        """Returns the nodes of the first piece that has neither a held node nor a spring, (k,); none: all have."""
        has = np.zeros(self.count, bool)
        has[self.of_node[held.nodes]] = True
        pulling = np.trace(springs.stiffness, axis1=1, axis2=2) > 0.0
        has[self.of_node[model.tets[springs.tet[pulling], 0]]] = True
        if has.all():
            return np.zeros(0, np.int32)
        return np.flatnonzero(self.of_node == np.argmin(has)).astype(np.int32)
