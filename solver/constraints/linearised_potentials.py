# SPDX-License-Identifier: GPL-3.0-or-later
"""Forces with a potential in a step, linearised again about the end of every solve.

About the end x_k of a solve the force of a potential is f(x_k) − K (x⁺ − x_k). The step is solved again while these
linear forces differ from those of the potential where it ends: Newton's method, whatever the bodies are made of. The
energy of stretch limits is convex, and the stiffness of attachments bounds theirs, so no line search is needed.

The closest places of attachments move with every solve: then the forces at the end are those of an energy. A point in a
crease, where two faces are as close, would go to and fro between them. So after some solves the places stay as planes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..mechanics.model import Model
from ..mechanics.state import State
from ..mechanics.stretch_limit.limit_potential import LimitPotential
from ..runtime.arrays import Bools, Floats
from ..runtime.row_dot_products import row_dot_products
from .attachments.attachment_potential import AttachmentPotential
from .linear_forces import LinearForces

# Largest error of the linear forces on the free nodes of an island, over its weight and inertia, and over the forces
MAX_SHARE_OF_WEIGHT, MAX_SHARE_OF_FORCES = 1.0e-2, 1.0e-3
MAX_MOVING_SOLVES = 8  # solves of a step after which closest places stay


class LinearisedPotentials:
    """The potentials of a step.

    Attributes:
        forces: The linear forces of the next solve.
    """

    def __init__(
        self,
        potentials: Sequence[LimitPotential],
        surfaces: Sequence[AttachmentPotential],
        model: Model,
        start: State,
        is_fixed: Bools | None,
        gravity: Floats,
        dt: float,
    ) -> None:
        """Linearises them about the start of a step.

        Args:
            potentials: Of tets.
            surfaces: Of what links surfaces.
            model: The bodies.
            start: Where the step starts.
            is_fixed: Which nodes are held, (n,); None: none.
            gravity: g [m/s²], (3,).
            dt: Δt [s].
        """
        self.potentials, self.surfaces, self.solves = potentials, tuple(surfaces), 0
        self.model, self.start, self.is_fixed, self.dt, self.gravity = model, start, is_fixed, dt, gravity
        self.forces = self._forces_at(start.x)

    def update(self, x: Floats, v: Floats) -> Bools | None:
        """Linearises about the end of a solve, x [m] and v [m/s], (n, 3) each.

        Returns:
            The islands whose linear forces were wrong, (k,); None where all agree.
        """
        if not self.potentials and not self.surfaces:
            return None
        self.solves += 1
        if self.solves == MAX_MOVING_SOLVES:
            self.surfaces = tuple(each.frozen(x) for each in self.surfaces)
        forces, tets, mass = self._forces_at(x), self.model.tets, self.model.mass[:, None]
        if not len(forces) and not len(self.forces):
            return None
        moved = x - self.start.x
        end = forces.nodal_forces(moved, tets)
        error = end - self.forces.nodal_forces(moved, tets)
        others = mass * (v - self.start.v) / self.dt, mass * self.model.gravity_scale[:, None] * self.gravity
        wrong, whole, *weights = (self._island_norms(each) for each in (error, end, *others))
        allowed = MAX_SHARE_OF_WEIGHT * sum(weights) + MAX_SHARE_OF_FORCES * whole
        if self.surfaces:
            allowed += self._island_norms(forces.link_round_off(x, tets))
        is_wrong = wrong > allowed
        if not is_wrong.any():
            return None
        self.forces = forces
        return is_wrong

    def _forces_at(self, x: Floats) -> LinearForces:
        """Returns the forces linearised about x [m], (n, 3), for motions from the start of the step."""
        of_tets = [LinearForces(tets=potential.forces_at(x)[1]) for potential in self.potentials]
        found = LinearForces.concatenate(*of_tets, *(surface.forces_at(x) for surface in self.surfaces))
        return found.displaced(self.start.x - x, self.model.tets) if len(found) and x is not self.start.x else found

    def _island_norms(self, values: Floats) -> Floats:
        squares = row_dot_products(values, values)
        if self.is_fixed is not None:
            squares[self.is_fixed] = 0.0
        return np.sqrt(np.add.reduceat(squares, np.asarray(self.model.pattern.island_start, np.int64)[:-1]))
