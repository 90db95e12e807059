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
from ..linalg.block_pattern import BlockPattern
from ..linalg.pcg import SolveResult
from ..linalg.point_stiffness_assembly import restore_blocks, save_blocks
from ..linalg.quadratic_form import quadratic_form
from ..mechanics.elements.inverted_tet_count import count_inverted
from ..mechanics.elements.linearised_forces import add_linear_forces
from ..mechanics.elements.strain_energy import stored_energy
from ..mechanics.state import State
from ..mechanics.state_fields import VELOCITY_CHANGE
from ..runtime.arrays import Bools, Floats, floats
from ..runtime.errors import SolveFailed
from .step_input import StepInput
from .step_report import StepReport
from .system.core_rotation import chord_ends, end_step_with_cores
from .system.external_blocks import add_pair_blocks, add_point_blocks, add_tet_blocks
from .system.relinearised_step import RelinearisedStep
from .system.right_hand_side import (
    NORM_FLOOR_SHARE,
    advance_positions,
    assemble_right_hand_side,
    motion_share,
    write_gravity_impulse,
    write_target_velocities,
)
from .system.rotation_reuse import add_vertex_warp, begin_rotations
from .system.solve_system import solve_system
from .system.step_matrix import AssembledSystem, assemble_system, compute_element_records

NO_TARGET = np.zeros((0, 3))


def implicit_euler_step(start: StepInput) -> StepReport:
    """Moves the state on by a step of bodies whose forces are linearised.

    Raises:
        SolveFailed: Velocities are not finite; the state is unchanged.
    """
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
        if contacts.line_search and previous_v is not None and solved.curvature is not None:
            if contacts.line_search(previous_v, solved.v, solved.x, solved.curvature):
                np.subtract(solved.v, state.v, out=solved.change)
        iterations, work, solves = iterations + solved.linear.iterations, work + solved.linear.work, solves + 1
        x, v, previous_v = solved.x, solved.v, solved.v
        changed = None
        if relinearised:
            x, v = relinearised.end(system, external_forces, solved.x, solved.v)
            previous_v = relinearised.constrained_velocities(solved.v)
            rotates_far = relinearised.rotates_far
            if contacts.take_motion:
                contacts.take_motion(solved.v, x)
            if contacts.update:
                straight = relinearised.straight_end(solved.x)
                chords = chord_ends(model, external_forces, solved.x)
                changed = contacts.update(straight, v, relinearised.is_inaccurate, chords)
        else:
            if model.cores:
                x, v = end_step_with_cores(model, state, external_forces, x, v, dt)
            if contacts.take_motion:
                contacts.take_motion(solved.v, x)
            if contacts.update:
                changed = contacts.update(x, v, None, chord_ends(model, external_forces, solved.x))
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
        contacts=external_forces.all_contacts,
        inverted_tets=int(count_inverted(x, model.solid_tets)),
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
    model, by_motion = start.model, start.options.makes_rotations
    x0, v0 = floats(start.state.x), floats(start.state.v)
    is_free = start.workspace.all_free if external_forces.is_fixed is None else ~external_forces.is_fixed
    # contacts do not know which islands bindings join
    is_frozen = None if previous_v is None or model.bound is not None else external_forces.is_frozen
    is_solved = is_free if is_frozen is None else is_free & ~is_frozen
    _write_impulse(start, external_forces)
    matrix, values, saved_count = _add_external_blocks(start, system, external_forces)

    v = (v0 if previous_v is None else previous_v).copy()
    target = _fixed_target(external_forces)
    if len(target):
        write_target_velocities(target, x0, is_free, start.dt, v)
    b, norm_floor = _right_hand_side(start, system, is_solved)
    share = 1.0
    if by_motion or len(external_forces.points):
        share = motion_share(model, v0, floats(external_forces.gravity), start.dt, b)
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
        tied_nodes=external_forces.tied_nodes,
    )
    solved = solve_system(
        model,
        linear_system,
        start.settings,
        start.workspace,
        multigrid_levels=start.workspace.multigrid_levels,
        conserves_momentum=True,
        element_terms=system.element_terms,
    )
    motion_residual = solved.residual / share
    if by_motion:
        solved = replace(solved, residual=motion_residual)
    curvature = None
    if start.contacts.line_search and previous_v is not None:
        curvature = _curvature(system, matrix, values, v - previous_v)
    _restore_blocks(start, system, saved_count)

    x, change = np.empty((2, *v.shape))
    if not advance_positions(x0, v, v0, start.dt, is_free, target, x, change):
        raise SolveFailed("solve-not-finite", time=start.state.time + start.dt)
    return StepSolution(x, v, change, solved, motion_residual, curvature)


def _write_impulse(start: StepInput, external_forces: ExternalForces) -> None:
    """Writes Δt times gravity and the forces on nodes into the workspace [N s], (n, 3)."""
    model, impulse = start.model, start.workspace.impulse
    write_gravity_impulse(model.mass, model.gravity_scale, floats(external_forces.gravity), start.dt, impulse)
    if external_forces.node_force is not None:
        impulse += start.dt * external_forces.node_force


def _add_external_blocks(
    start: StepInput, system: AssembledSystem, external_forces: ExternalForces
) -> tuple[BlockPattern, Floats, int]:
    """Adds springs and contacts to the matrix and to the impulse of the workspace.

    Returns:
        Pattern and blocks of the matrix, (b, 9), and how many blocks of the system are saved in the workspace before
        they change (`_restore_blocks`).
    """
    model, dt, workspace = start.model, start.dt, start.workspace
    points, tet_forces, pairs, saved_count = external_forces.points, external_forces.tets, external_forces.pairs, 0
    if len(pairs):
        system.assemble_element_terms(model, dt)
    if len(points) or len(tet_forces):
        changed = np.concatenate([points.tet, tet_forces.tet]) if len(tet_forces) else points.tet
        saved_count = save_blocks(changed, system.pattern.corner_block, system.values, *workspace.saved)
        add_tet_blocks(model, tet_forces, dt, system.values, workspace.impulse)
        add_point_blocks(model, points, dt, system.values, workspace.impulse)
    own = system.pattern, system.values
    matrix, values = add_pair_blocks(model, own, pairs, dt, workspace.impulse, workspace.pair_patterns)
    return matrix, values, saved_count


def _restore_blocks(start: StepInput, system: AssembledSystem, saved_count: int) -> None:
    """Puts the saved blocks back into the system."""
    if saved_count:
        saved = start.workspace.saved
        restore_blocks(saved_count, saved.places, saved.blocks, saved.is_saved, system.values)


def _fixed_target(external_forces: ExternalForces) -> Floats:
    """Returns where fixed nodes are at the end of the step [m], (n, 3); (0, 3) if they stay where they are."""
    if external_forces.fixed_target is None or external_forces.is_fixed is None:
        return NO_TARGET
    return floats(external_forces.fixed_target)


def _right_hand_side(start: StepInput, system: AssembledSystem, is_solved: Bools) -> tuple[Floats, Floats]:
    """Returns M v + Δt f [N s], (n, 3), and the floor of its norm in every island [N s], (k,)."""
    pattern, v0 = system.pattern, floats(start.state.v)
    b, norm_floor = np.empty(v0.shape), np.empty(pattern.island_count)
    assemble_right_hand_side(
        start.model.mass, v0, system.force, start.workspace.impulse, start.dt, is_solved, pattern.island_start,
        NORM_FLOOR_SHARE, b, norm_floor,
    )  # fmt: skip
    return b, norm_floor


def _curvature(system: AssembledSystem, matrix: BlockPattern, values: Floats, d: Floats) -> Floats:
    """Returns dᵀ A d of every island, (k,)."""
    curvature = np.empty(system.pattern.island_count)
    quadratic_form(system.pattern.island_start, matrix.row_start, matrix.column, values, d, curvature)
    if system.element_terms is not None:
        curvature += system.element_terms.quadratic_form(system.pattern, d)
    return curvature
