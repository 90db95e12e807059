# SPDX-License-Identifier: GPL-3.0-or-later
"""Stretch limits of tets, as they act on a body at rest.

Their stiffness is that of chords (`limit_kernels.py`): a start that is moved along with bones stretches tets far beyond
limits which the equilibrium keeps, and with tangents a quarter of their force was left by each Newton iteration.
"""

from __future__ import annotations

from ..linalg.tet_stiffness_assembly import add_tet_terms
from ..mechanics.model import Model
from ..mechanics.stretch_limit.limit_potential import LimitPotential
from ..runtime.arrays import Floats
from .sums_by_body import SumsByBody


class LimitForces:
    """The forces of tets beyond their limit, anew at all positions; a `ChordForce`."""

    def __init__(self, model: Model, potential: LimitPotential, x: Floats) -> None:
        """Takes the limits of the tets of a model, and the equilibrium of the sample before [m], (n, 3)."""
        self.model, self.potential, self.sums = model, potential, SumsByBody(model)
        self._before = self._now = potential.excess_at(x)

    def energies(self, x: Floats) -> Floats:
        """Returns the energy in each body at x [m], (n, 3), in joules, (b,)."""
        energies, found = self.potential.forces_at(x)
        return self.sums.of_tets(energies, found.tet)

    def add(self, x: Floats, values: Floats, force: Floats) -> Floats:
        """Adds forces and stiffness at x [m], (n, 3); see `PotentialForce.add`."""
        energies, found, now = self.potential.chord_forces_at(x, self._before)
        self._now = self.potential.of_all_tets(found, now)
        if len(found):
            tets, corner_block = self.model.tets, self.model.pattern.corner_block
            add_tet_terms(1.0, found.tet, found.stiffness, found.force, tets, corner_block, values, force)
        return self.sums.of_tets(energies, found.tet)

    def begin_step(self) -> None:
        """Lets chords of the next positions begin where forces were added last; see `ChordForce`."""
        self._before = self._now
