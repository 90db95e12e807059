# SPDX-License-Identifier: GPL-3.0-or-later
"""One step of implicit Euler with the rotations of its start: one linear solve.

    (M + Δt C + Δt² K') v⁺ = M v + Δt (f_elastic(x) + f_external),    x⁺ = x + Δt v⁺

Source: Müller and Gross 2004, section 6, with f_elastic = −(K' x + f0' − f_plastic).
"""

from __future__ import annotations

import time as clock
from dataclasses import dataclass, replace

import numpy as np

from ..constraints.external_forces import ExternalForces
from ..constraints.rigid_core import LinearSystem
from ..linalg.pcg import SolveResult
from ..linalg.point_terms import restore_blocks, save_blocks
from ..linalg.quadratic_form import quadratic_form
from ..mechanics.elements.inverted_tets import count_inverted
from ..mechanics.elements.linear_force import add_linear_forces
from ..mechanics.elements.strain_energy import stored_energy
from ..mechanics.model import Model
from ..mechanics.state import State
from ..mechanics.state_fields import VELOCITY_CHANGE
from ..runtime.arrays import Floats, floats
from ..runtime.errors import SolveFailed
from ..runtime.jit import limiting_threads
from ..scene.scene import Settings
from .bdf2 import bdf2_step, bodies_by_bdf2
from .newton.nonlinear_bodies import nonlinear_bodies
from .solver_context import SolverContext
from .step_input import DEFAULT_OPTIONS, NO_CONTACTS, ContactCallbacks, StepInput, StepOptions
from .step_report import StepReport
from .system.assembly import AssembledSystem, assemble_system, compute_element_records
from .system.core_rotation import end_step_with_cores
from .system.external_blocks import add_pair_blocks, add_point_blocks
from .system.lagged_rotations import add_vertex_warp, begin_rotations
from .system.relinearised_step import RelinearisedStep
from .system.right_hand_side import (
    NORM_FLOOR_SHARE,
    advance_positions,
    assemble_right_hand_side,
    motion_share,
    write_gravity_impulse,
    write_target_velocities,
)
from .system.solve_system import solve_system

# below this a second thread costs more in waiting than it brings
MIN_TETS_PER_THREAD = 400

NO_TARGET = np.zeros((0, 3))


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
    """Moves `state` on by one step; nothing else changes.

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
            return _linear_step(start)
        from .nonlinear_step import flesh_step

        return flesh_step(start, flesh)

    with limiting_threads(1 + model.tet_count // MIN_TETS_PER_THREAD):
        start = StepInput(model, state, external_forces, dt, settings, workspace, contacts, options)
        uses_bdf2 = bool(model.methods) and len(bodies_by_bdf2(model)) > 0
        return bdf2_step(take, start) if uses_bdf2 else take(start)


def _linear_step(start: StepInput) -> StepReport:
    """Moves the state on by a step of bodies whose forces are linearised."""
    model, state, dt, options, contacts = start.model, start.state, start.dt, start.options, start.contacts
    started = clock.perf_counter()
    point = start.linearisation_point
    linearised = state if point is None else State(point, state.v, state.time, state.fields)
    rotations = begin_rotations(model, linearised)
    records = compute_element_records(model, linearised.x, rotations.of_tets, start.workspace.element_records(model))
    relinearised = RelinearisedStep(start, linearised.x, rotations.of_tets) if options.relinearises else None
    energy_before = stored_energy(model, floats(linearised.x), records) if relinearised else np.zeros(0)
    if point is not None:
        add_linear_forces(1.0, point - state.x, model.tets, records)
    recorded = clock.perf_counter()
    system = assemble_system(model, records, dt, start.workspace)
    rotations.of_nodes = add_vertex_warp(model, state, dt, system.values, system.force, start.workspace.warped)
    assembled = clock.perf_counter()

    external_forces, previous_v = start.external_forces, None
    iterations, work, solves, rotates_far = 0, 0.0, 0, False
    while True:
        solved = solve_step(start, system, external_forces, previous_v)
        is_shortened = (
            contacts.line_search is not None
            and previous_v is not None
            and solved.curvature is not None
            and contacts.line_search(previous_v, solved.v, solved.x, solved.curvature)
        )
        if is_shortened:
            np.subtract(solved.v, state.v, out=solved.change)
        iterations, work, solves = iterations + solved.linear.iterations, work + solved.linear.work, solves + 1
        x, v, previous_v = solved.x, solved.v, solved.v
        changed = None
        if relinearised:
            x, v = relinearised.end(system, external_forces, solved.x, solved.v)
            previous_v = relinearised.constrained_velocities(solved.v)
            rotates_far = relinearised.rotates_far
            if contacts.update:
                changed = contacts.update(relinearised.straight_end(solved.x), v, relinearised.is_inaccurate)
        else:
            if model.cores:
                x, v = end_step_with_cores(model, state, external_forces, x, v, dt)
            if contacts.update:
                changed = contacts.update(x, v)
        if changed is None or solves >= options.max_solves or (rotates_far and options.may_abandon):
            break
        # an island whose solve has not converged is not finished, whatever its contacts say
        external_forces = changed if solved.linear.converged else replace(changed, is_frozen=None)
        if relinearised:
            system = relinearised.relinearise(system, external_forces)
    ended = clock.perf_counter()

    state.fields[VELOCITY_CHANGE] = solved.change
    rotations.store(model, state)
    state.x, state.v, state.time = x, v, state.time + dt
    stages = {"elements": recorded - started, "assembly": assembled - recorded, "solve": ended - assembled}
    return StepReport(
        iterations=iterations,
        residual=solved.linear.residual,
        converged=solved.linear.converged,
        settled=changed is None,
        solves=solves,
        contacts=external_forces.contact_count + len(external_forces.pairs),
        inverted_tets=int(count_inverted(x, model.tets)),
        milliseconds={name: 1e3 * seconds for name, seconds in stages.items()},
        stored=(energy_before, stored_energy(model, x, records)) if relinearised else None,
        work=work,
        rotates_far=rotates_far,
        motion_residual=solved.motion_residual,
    )


@dataclass(eq=False)
class StepSolution:
    """One solve of a step.

    Attributes:
        x, v: Positions [m] and velocities [m/s] at the end of the step, (n, 3) each.
        change: v less the velocities at the start of the step [m/s], (n, 3).
        linear: How the linear solve went.
        motion_residual: Its residual relative to what moves the bodies, see `motion_share`.
        curvature: dᵀ A d per island, (k,), with the difference d between v and that of the solve before; None where no
            line search needs it.
    """

    x: Floats
    v: Floats
    change: Floats
    linear: SolveResult
    motion_residual: float
    curvature: Floats | None


def solve_step(
    start: StepInput, system: AssembledSystem, external_forces: ExternalForces, previous_v: Floats | None = None
) -> StepSolution:
    """Solves an assembled system with external forces.

    Args:
        start: The step.
        system: Its matrix and elastic forces; the blocks are the same afterwards.
        external_forces: What acts in this solve.
        previous_v: v⁺ of the solve before [m/s], (n, 3), as the first guess; None in the first solve.

    Raises:
        SolveFailed: Velocities are not finite.
    """
    model, dt, pattern, workspace = start.model, start.dt, system.pattern, start.workspace
    points, pairs, impulse = external_forces.points, external_forces.pairs, workspace.impulse
    is_free = workspace.all_free if external_forces.is_fixed is None else ~external_forces.is_fixed
    is_frozen = None if previous_v is None else external_forces.is_frozen
    is_solved = is_free if is_frozen is None else is_free & ~is_frozen
    write_gravity_impulse(model.mass, model.gravity_scale, floats(external_forces.gravity), dt, impulse)
    if external_forces.node_force is not None:
        impulse += dt * external_forces.node_force

    if len(pairs):
        system.assemble_element_terms(model, dt)
    count, saved = 0, workspace.saved
    if len(points):
        count = save_blocks(points.tet, pattern.corner_block, system.values, *saved)
        add_point_blocks(model, points, dt, system.values, impulse)
    matrix, values = add_pair_blocks(model, (pattern, system.values), pairs, dt, impulse, workspace.pair_patterns)

    x0, v0 = floats(start.state.x), floats(start.state.v)
    v = (v0 if previous_v is None else previous_v).copy()
    target = NO_TARGET
    if external_forces.fixed_target is not None and external_forces.is_fixed is not None:
        target = floats(external_forces.fixed_target)
    if len(target):
        write_target_velocities(target, x0, is_free, dt, v)
    b, x, change = np.empty((3, *v.shape))
    norm_floor = np.empty(pattern.island_count)
    assemble_right_hand_side(
        model.mass, v0, system.force, impulse, dt, is_solved, pattern.island_start, NORM_FLOOR_SHARE, b, norm_floor
    )
    by_motion = start.options.makes_rotations
    share = motion_share(model, v0, floats(external_forces.gravity), dt, b) if by_motion or len(points) else 1.0
    linear_system = LinearSystem(
        pattern=matrix,
        values=values,
        b=b,
        is_free=is_solved,
        v=v,
        x=x0,
        X=model.X,
        is_unsymmetric=None,
        tolerance=(share if by_motion else 1.0) * start.settings.tolerance,
        norm_floor=norm_floor,
        initial_direction=start.state.fields.get(VELOCITY_CHANGE) if previous_v is None else None,
    )
    solved = solve_system(
        model,
        linear_system,
        start.settings,
        workspace,
        multigrid_levels=workspace.multigrid_levels,
        conserves_momentum=True,
        element_terms=system.element_terms,
    )
    motion_residual = solved.residual / share
    if by_motion:
        solved = replace(solved, residual=motion_residual)
    curvature = None
    if start.contacts.line_search and previous_v is not None:
        curvature = np.empty(pattern.island_count)
        quadratic_form(pattern.island_start, matrix.row_start, matrix.column, values, v - previous_v, curvature)
        if system.element_terms is not None:
            curvature += system.element_terms.quadratic_form(pattern, v - previous_v)
    if count:
        restore_blocks(count, saved.places, saved.blocks, saved.is_saved, system.values)

    if not advance_positions(x0, v, v0, dt, is_free, target, x, change):
        raise SolveFailed("solve-not-finite", time=start.state.time + dt)
    return StepSolution(x, v, change, solved, motion_residual, curvature)
