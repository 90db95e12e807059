# SPDX-License-Identifier: GPL-3.0-or-later
"""Soft-bound particles of flesh by Newmark's scheme: springs implicit in step 1, (6.8), and at x½ in step 4."""

from __future__ import annotations

import numpy as np

from ...constraints.bindings.soft_particles import (
    POSITION_FIELD,
    VELOCITY_FIELD,
    ParticleMotion,
    ParticleStep,
    SoftParticles,
    SpringEvaluation,
    solve_of_particles,
)
from ...constraints.external_forces import ExternalForces
from ...constraints.point_forces import PointForces
from ...mechanics.model import Model
from ...mechanics.state import State
from ...runtime.arrays import Floats, Indices, floats
from ..soft_particle_step import particle_acceleration


class SubstepParticles:
    """The particles of a group over the substeps of one step.

    Attributes:
        x, v: Where they are [m], and how fast [m/s], (p, 3) each.
    """

    def __init__(self, particles: SoftParticles, rows: Indices, model: Model, state: State, gravity: Floats) -> None:
        """Takes particles in numbers of the group; they are the `rows` of all, (p,)."""
        self._particles, self._rows, self._model, self._state = particles, rows, model, state
        self.x = floats(state.fields[POSITION_FIELD][rows])
        self.v = floats(state.fields[VELOCITY_FIELD][rows])
        self._acceleration = particle_acceleration(particles, model, gravity)
        self._x_half, self._middle, self._solved = self.x, self.v, self.v
        self._solve: ParticleStep | None = None

    @staticmethod
    def of_group(external_forces: ExternalForces, model: Model, tets: Indices, state: State) -> SubstepParticles | None:
        """Returns the particles on the tets of a group, rising; None where there are none."""
        particles = external_forces.particles
        if particles is None:
            return None
        rows = np.flatnonzero(np.isin(particles.tet, tets)).astype(np.int32)
        if not len(rows):
            return None
        own = particles.select(rows, np.searchsorted(tets, particles.tet[rows]).astype(np.int32))
        return SubstepParticles(own, rows, model, state, external_forces.gravity)

    def points(self, x: Floats, h: float, *, is_first: bool) -> PointForces:
        """Returns what nodes at x [m], (n, 3), feel of them in step 1, or in step 4 of a substep."""
        motion = ParticleMotion(self.x if is_first else self._x_half, self.v)
        springs = SpringEvaluation.MIDDLE if is_first else SpringEvaluation.GIVEN
        self._solve = solve_of_particles(self._particles, self._model, x, motion, self._acceleration, h, springs)
        return self._solve.points()

    def take(self, v: Floats) -> None:
        """Takes the velocities of the nodes that a solve has found [m/s], (n, 3)."""
        assert self._solve is not None
        self._solved = self._solve.velocities(v, self._model.tets)

    def move_to_middle(self, half: float) -> None:
        """Moves on with the velocities of step 1 to the middle of the substep, half of its length [s] later."""
        self._middle = self._solved
        self._x_half = self.x + half * self._middle

    def end_substep(self, h: float) -> None:
        """Takes steps 2 and 5 of a substep of length h [s]."""
        self.x = self.x + h * self._middle
        self.v = 2.0 * self._solved - self.v

    def store(self) -> None:
        """Writes the end of the step into the fields of the state."""
        for name, values in ((POSITION_FIELD, self.x), (VELOCITY_FIELD, self.v)):
            every = self._state.fields[name].copy()
            every[self._rows] = values
            self._state.fields[name] = every
