# SPDX-License-Identifier: GPL-3.0-or-later
"""The formulation with a rotation per vertex: vertex-warp."""

from __future__ import annotations

import numpy as np

from sinew.solver.mechanics.model import Model
from sinew.solver.mechanics.vertex_warp import add_warped
from sinew.solver.runtime.arrays import Floats


class VertexWarpFormulation:
    """Of a model whose bodies are all warped vertex by vertex. No energy belongs to its forces."""

    def __init__(self, model: Model) -> None:
        self.model = model

    def energy(self, x: Floats) -> float | None:
        """Returns None: the forces are those of no energy."""
        return None

    def forces(self, x: Floats) -> Floats:
        """Returns the elastic forces on the nodes [N], (n, 3)."""
        return self._added(x)[1]

    def stiffness(self, x: Floats) -> Floats:
        """Returns K' with rotations held, whose blocks are not symmetric, (b, 9)."""
        return self._added(x)[0]

    def _added(self, x: Floats) -> tuple[Floats, Floats]:
        values, force = np.zeros((self.model.pattern.block_count, 9)), np.zeros((self.model.node_count, 3))
        add_warped(self.model, x, 1.0, values, force)
        return values, force
