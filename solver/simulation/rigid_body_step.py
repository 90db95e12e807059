# SPDX-License-Identifier: GPL-3.0-or-later
"""A step of implicit Euler of rigid bodies alone: six unknowns each, and no tets."""

from __future__ import annotations

import time as clock

import numpy as np

from ..constraints.rigid_core import rotate_cores
from ..contact.active_set.active_set import MAX_SOLVES_AT_IMPACT
from ..contact.active_set.rigid_contact_solve import RigidContactSolve
from ..contact.contact_step import ContactStep
from ..integrators.step_report import StepReport
from ..mechanics.chord_ends import ChordEnds
from ..mechanics.model import Model
from ..mechanics.state import State
from ..mechanics.state_fields import VELOCITY_CHANGE
from ..runtime.arrays import floats
from ..runtime.errors import SolveFailed
from .step_boundary_conditions import BoundaryConditions

CONVERGED_RESIDUAL = 1.0e-6  # ‖b − A u‖ / ‖b‖; the solves aim at a billionth of what contacts still change


def rigid_body_step(
    model: Model, state: State, bounds: BoundaryConditions, contacts: ContactStep, solve: RigidContactSolve, dt: float
) -> StepReport:
    """Moves the state on by a step, until no contact changes.

    Args:
        model: The bodies.
        state: In and out.
        bounds: What holds and pulls.
        contacts: Of the step.
        solve: Its bodies.
        dt: Δt [s].

    Raises:
        SolveFailed: Velocities are not finite; the state is unchanged.
    """
    started, before, row = clock.perf_counter(), (floats(state.x), floats(state.v)), model.pattern.island_of_row
    island = row[solve.bodies.nodes[:, 0]]
    count, solves, iterations = model.pattern.island_count, 0, 0
    touched, sprung = np.zeros((2, count), bool)
    sprung[row[model.tets[bounds.point_forces.tet, 0]]] = True
    while True:
        solved = solve.solve(contacts)
        solves, iterations = solves + 1, iterations + solved.iterations
        if not np.isfinite(solved.v).all():
            raise SolveFailed("solve-not-finite", time=state.time + dt)
        straight = before[0] + dt * solved.v
        touched[island] = solved.is_touched
        fixed = bounds.is_fixed, bounds.fixed_target if bounds.is_fixed is not None else None
        x, v = rotate_cores(model, before, (straight, solved.v), dt, *fixed, touched, sprung)
        wants_more = contacts.update(x, None, ChordEnds(touched[row], straight))
        if not wants_more or solves >= MAX_SOLVES_AT_IMPACT:
            break
    state.fields[VELOCITY_CHANGE] = solved.v - before[1]
    state.x, state.v, state.time = x, v, state.time + dt
    elastic = np.zeros(count)
    return StepReport(
        iterations=iterations,
        residual=solved.residual,
        converged=solved.residual <= CONVERGED_RESIDUAL,
        settled=not wants_more,
        solves=solves,
        contacts=int(contacts.was_active.sum()),
        milliseconds={"solve": 1e3 * (clock.perf_counter() - started)},
        stored=(elastic, elastic) if contacts.surfaces else None,
    )
