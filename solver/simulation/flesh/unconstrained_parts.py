# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether something says where flesh is: at rest, a piece that nothing holds has no place."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...constraints.point_forces import PointForces
from ...mechanics.model import Model
from ...mesh.geometry.connected_components import mesh_components
from ...quasistatic.fixed_nodes import FixedNodes
from ...runtime.arrays import Indices


@dataclass(frozen=True, eq=False)
class ConnectedPieces:
    """The connected pieces of flesh.

    Attributes:
        piece_of_node: Number of each node's piece, (n,).
        count: Number of pieces.
    """

    piece_of_node: Indices
    count: int

    @staticmethod
    def from_model(model: Model) -> ConnectedPieces:
        """Returns the pieces of a model."""
        piece = mesh_components(model.tets, model.node_count)
        return ConnectedPieces(piece, int(piece.max(initial=-1)) + 1)

    def unconstrained_nodes(self, model: Model, held: FixedNodes, springs: PointForces) -> Indices:
        """Returns the nodes of the first piece that has neither a held node nor a spring, (k,); none: all have."""
        has = np.zeros(self.count, bool)
        has[self.piece_of_node[held.nodes]] = True
        pulling = np.trace(springs.stiffness, axis1=1, axis2=2) > 0.0
        has[self.piece_of_node[model.tets[springs.tet[pulling], 0]]] = True
        if has.all():
            return np.zeros(0, np.int32)
        return np.flatnonzero(self.piece_of_node == np.argmin(has)).astype(np.int32)
