# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether something says where flesh is: at rest, a piece that nothing holds has no place."""

from __future__ import annotations

import numpy as np

from ..arrays import Indices
from ..geometry.connected import pieces
from ..integrators.outside import Points
from ..late_dataclass import dataclass
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
        piece = pieces(model.tets, model.node_count)
        return Pieces(piece, int(piece.max(initial=-1)) + 1)

    def loose(self, model: Model, held: Held, springs: Points) -> Indices:
        """Returns the nodes of the first piece that has neither a held node nor a spring, (k,); none: all have."""
        has = np.zeros(self.count, bool)
        has[self.of_node[held.nodes]] = True
        pulling = np.trace(springs.stiffness, axis1=1, axis2=2) > 0.0
        has[self.of_node[model.tets[springs.tet[pulling], 0]]] = True
        if has.all():
            return np.zeros(0, np.int32)
        return np.flatnonzero(self.of_node == np.argmin(has)).astype(np.int32)
