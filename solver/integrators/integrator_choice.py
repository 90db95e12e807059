# SPDX-License-Identifier: GPL-3.0-or-later
"""One time step: chooses implicit Euler, BDF2 or a step with flesh, as the bodies ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..constraints.external_forces import ExternalForces
from ..mechanics.model import Model
from ..mechanics.state import State
from ..runtime.arrays import Bools
from ..runtime.errors import BadInput
from ..runtime.threads.thread_count import limiting_threads
from ..scene.scene import Settings
from .bdf2 import bdf2_step, bodies_by_bdf2
from .implicit_euler import implicit_euler_step
from .newton.newton_body_selection import nonlinear_bodies
from .solver_context import SolverContext
from .step_input import DEFAULT_OPTIONS, NO_CONTACTS, ContactCallbacks, StepInput, StepOptions
from .step_report import StepReport

if TYPE_CHECKING:
    from ..constraints.bindings.soft_particles import SoftParticles
    from .dynamic_flesh_forces import DynamicFlesh

# below this a second thread costs more in waiting than it brings
MIN_TETS_PER_THREAD = 400


def step(
    model: Model,
    state: State,
    external_forces: ExternalForces,
    dt: float,
    settings: Settings,
    contacts: ContactCallbacks = NO_CONTACTS,
    options: StepOptions = DEFAULT_OPTIONS,
    context: SolverContext | None = None,
) -> StepReport:
    """Moves `state` on by one step of the schemes that the bodies ask for; nothing else changes.

    Args:
        model: The bodies.
        state: x, v and time, in and out.
        external_forces: What acts in the first solve.
        dt: Δt [s].
        settings: Its `tolerance` and `max_iterations` count.
        contacts: How contacts answer to a solve.
        options: How the step is solved.
        context: Work arrays and results that the steps of a simulation reuse; None: made for this step alone.

    Raises:
        SolveFailed: Velocities are not finite; `state` is unchanged.
    """
    workspace = (context or SolverContext()).workspace(model)
    flesh = options.flesh or (nonlinear_bodies(model, workspace) if model.methods else None)

    def take(start: StepInput) -> StepReport:
        if flesh is None:
            return implicit_euler_step(start)
        from .nonlinear_step import flesh_step

        return flesh_step(start, flesh)

    with limiting_threads(1 + model.tet_count // MIN_TETS_PER_THREAD):
        start = StepInput(model, state, external_forces, dt, settings, workspace, contacts, options)
        uses_bdf2 = bool(model.methods) and len(bodies_by_bdf2(model)) > 0
        particles = None
        if external_forces.particles is not None:
            if uses_bdf2:
                raise BadInput("particles-bdf2")
            from .soft_particle_step import ImplicitParticles

            is_own = ~_is_on_newmark_body(external_forces.particles, flesh)
            particles = ImplicitParticles(start, external_forces.particles, is_own)
            start = particles.start_with(start)
        report = bdf2_step(take, start) if uses_bdf2 else take(start)
        if particles is not None:
            particles.end(state)
    if model.bound is not None:
        model.bound.interpolate(state.x)
        model.bound.interpolate(state.v)
    return report


def _is_on_newmark_body(particles: SoftParticles, flesh: DynamicFlesh | None) -> Bools:
    """Returns which particles are moved with flesh in substeps, (p,)."""
    if flesh is None or flesh.newmark is None:
        return np.zeros(len(particles), bool)
    return np.isin(particles.tet, flesh.newmark.part.tets)
