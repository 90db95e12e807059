# SPDX-License-Identifier: GPL-3.0-or-later
"""Soft-bound particles in a step of implicit Euler, linear or by Newton's method: point forces, and what follows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..constraints.bindings.soft_particles import (
    POSITION_FIELD,
    VELOCITY_FIELD,
    ParticleMotion,
    ParticleStep,
    SoftParticles,
    solve_of_particles,
)
from ..constraints.external_forces import ExternalForces
from ..constraints.point_forces import PointForces
from ..mechanics.model import Model
from ..mechanics.state import State
from ..runtime.arrays import Bools, Floats, floats
from .step_input import StepInput


def particle_acceleration(particles: SoftParticles, model: Model, gravity: Floats) -> Floats:
    """Returns gravity at particles [m/s²], (p, 3), scaled as at their targets."""
    scale = np.einsum("pa,pa->p", particles.weights, model.gravity_scale[model.tets[particles.tet]])
    return scale[:, None] * floats(gravity)


class ImplicitParticles:
    """The particles of a step that move by implicit Euler."""

    def __init__(self, start: StepInput, particles: SoftParticles, is_own: Bools) -> None:
        """Takes those in `is_own`, (p,), from the start of a step."""
        self.rows, self.dt, self.tets = np.flatnonzero(is_own), start.dt, start.model.tets
        own = particles.select(self.rows, particles.tet[self.rows])
        fields = start.state.fields
        self.motion = ParticleMotion(fields[POSITION_FIELD][self.rows], fields[VELOCITY_FIELD][self.rows])
        acceleration = particle_acceleration(own, start.model, start.external_forces.gravity)
        self.solve: ParticleStep = solve_of_particles(
            own, start.model, floats(start.state.x), self.motion, acceleration, start.dt
        )

    def acting_with(self, forces: ExternalForces) -> ExternalForces:
        """Returns the external forces with those of particles, which come before contacts."""
        return replace(forces, points=PointForces.concatenate(self.solve.points(), forces.points))

    def start_with(self, start: StepInput) -> StepInput:
        """Returns the step with the forces of particles, whatever contacts change."""
        contacts = start.contacts
        wrapped = replace(
            contacts,
            update=self._wrap(contacts.update) if contacts.update else None,
        )
        return replace(start, external_forces=self.acting_with(start.external_forces), contacts=wrapped)

    def end(self, state: State) -> None:
        """Writes where the particles are at the end of the step, whose velocities are in `state`."""
        v = self.solve.velocities(state.v, self.tets)
        x_all, v_all = state.fields[POSITION_FIELD].copy(), state.fields[VELOCITY_FIELD].copy()
        x_all[self.rows], v_all[self.rows] = self.motion.x + self.dt * v, v
        state.fields[POSITION_FIELD], state.fields[VELOCITY_FIELD] = x_all, v_all

    def _wrap(self, update: Callable[..., ExternalForces | None]) -> Callable[..., ExternalForces | None]:
        def changed(*end: object) -> ExternalForces | None:
            forces = update(*end)
            return None if forces is None else self.acting_with(forces)

        return changed
