# SPDX-License-Identifier: GPL-3.0-or-later
"""The formulations with an energy density of F: Green's strain, hybrid."""

from __future__ import annotations

import numpy as np

from sinew.solver.integrators.newton.newton_body_selection import LAW_BY_METHOD
from sinew.solver.mechanics.hyperelastic.hyperelastic_bodies import (
    energy,
    forces,
    forces_and_tangent,
    hyperelastic,
    tet_arrays,
)
from sinew.solver.mechanics.model import Model
from sinew.solver.runtime.arrays import Floats, floats


class HyperelasticFormulation:
    """Of a model whose bodies are all of one such method."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.law = hyperelastic(model, [LAW_BY_METHOD[method.name] for method in model.methods], None)
        self.work = tet_arrays(model.pattern)

    def energy(self, x: Floats) -> float:
        """Returns the elastic energy [J]."""
        return energy(self.model, self.law, floats(x), self.work).energy

    def forces(self, x: Floats) -> Floats:
        """Returns the elastic forces on the nodes [N], (n, 3)."""
        force = np.empty((self.model.node_count, 3))
        forces(self.model, self.law, floats(x), force, self.work)
        return force

    def stiffness(self, x: Floats) -> Floats:
        """Returns K = −∂f/∂x, all of it, (b, 9); where that is not positive steps take a clamped one first."""
        values, force = np.empty((self.model.pattern.block_count, 9)), np.empty((self.model.node_count, 3))
        forces_and_tangent(self.model, self.law, floats(x), values, force, self.work, clamp=False)
        return values
