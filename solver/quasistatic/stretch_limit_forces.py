# SPDX-License-Identifier: GPL-3.0-or-later
"""Stretch limits of tets, as they act on a body at rest."""

from __future__ import annotations

from ..linalg.tet_stiffness_assembly import add_tet_terms
from ..mechanics.model import Model
from ..mechanics.stretch_limit.limit_potential import LimitPotential
from ..runtime.arrays import Floats
from .sums_by_body import SumsByBody


class LimitForces:
    """The forces of tets beyond their limit, anew at all positions; a `PotentialForce`."""

    def __init__(self, model: Model, potential: LimitPotential) -> None:
        """Takes the limits of the tets of a model."""
        self.model, self.potential, self.sums = model, potential, SumsByBody(model)

    def energies(self, x: Floats) -> Floats:
        """Returns the energy in each body at x [m], (n, 3), in joules, (b,)."""
        energies, found = self.potential.forces_at(x)
        return self.sums.of_tets(energies, found.tet)

    def add(self, x: Floats, values: Floats, force: Floats) -> Floats:
        """Adds forces and stiffness at x [m], (n, 3); see `PotentialForce.add`."""
        energies, found = self.potential.forces_at(x)
        if len(found):
            tets, corner_block = self.model.tets, self.model.pattern.corner_block
            add_tet_terms(1.0, found.tet, found.stiffness, found.force, tets, corner_block, values, force)
        return self.sums.of_tets(energies, found.tet)
