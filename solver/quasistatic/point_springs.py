# SPDX-License-Identifier: GPL-3.0-or-later
"""Springs on points inside tets, as they act on a body at rest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..constraints.point_forces import PointForces
from ..linalg.point_stiffness_assembly import add_point_terms
from ..mechanics.model import Model
from ..runtime.arrays import Floats, floats
from .sums_by_body import SumsByBody


class SpringForces:
    """Points with a force f0 where they are at first, and a stiffness A: f = f0 − A (p − p0), p where they are now.

    Their energy ½ (p − p0)ᵀ A (p − p0) − f0·(p − p0) is zero there, so that far stretched ones lose no digits.
    """

    def __init__(self, model: Model, points: PointForces, x: Floats) -> None:
        """Takes the springs of a step that begins at x [m], (n, 3); their damping does not act on what is at rest."""
        self.model, self.points = model, replace(points, damping=np.zeros_like(points.stiffness))
        self.start, self.sums = points.positions(x, model.tets), SumsByBody(model)

    def energies(self, x: Floats) -> Floats:
        """Returns the energy in each body at x [m], (n, 3), in joules, (b,)."""
        return self._energies_and_force(x)[0]

    def add(self, x: Floats, values: Floats, force: Floats) -> Floats:
        """Adds forces and stiffness at x [m], (n, 3); see `PotentialForce.add`."""
        energies, pull = self._energies_and_force(x)
        points, pattern = self.points, self.model.pattern
        add_point_terms(
            1.0, points.tet, points.weights, points.stiffness, points.damping, pull, self.model.tets,
            pattern.corner_block, values, force,
        )  # fmt: skip
        return energies

    def _energies_and_force(self, x: Floats) -> tuple[Floats, Floats]:
        away = self.points.positions(x, self.model.tets) - self.start
        held_back = np.einsum("kij,kj->ki", self.points.stiffness, away)
        energies = self.sums.of_tets(0.5 * away * held_back - away * self.points.force, self.points.tet)
        return energies, floats(self.points.force - held_back)
