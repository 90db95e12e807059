# SPDX-License-Identifier: GPL-3.0-or-later
"""One step of implicit Euler with the rotations of its start: one linear solve.

    (M + Δt C + Δt² K') v⁺ = M v + Δt (f_elastic(x) + f_outside),    x⁺ = x + Δt v⁺

Source: Müller and Gross 2004, section 6, with f_elastic = −(K' x + f0' − f_plastic).
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..constraints.external_forces import ExternalForces
from ..linalg.multigrid.hierarchy_reuse import ReusedHierarchy
from ..linalg.pcg import SolveResult
from ..linalg.point_terms import add_point_terms, restore_blocks, save_blocks
from ..linalg.quadratic_form import quadratic_form
from ..mechanics.elements.inverted_tets import count_inverted
from ..mechanics.elements.linear_force import add_linear_forces
from ..mechanics.elements.strain_energy import stored_energy
from ..mechanics.model import Model
from ..mechanics.state import State
from ..runtime.arrays import Floats, floats
from ..runtime.errors import SolveFailed
from ..runtime.jit import limiting_threads
from ..scene.scene import Settings
from .bdf2 import ContactLineSearch, ContactResponse, EulerStart, bdf2_step, bodies_by_bdf2
from .newton.nonlinear_bodies import nonlinear_bodies
from .step_report import StepReport
from .system.core_rotation import end_step_with_cores
from .system.lagged_rotations import (
    NODE_ROTATION,
    TET_ROTATION,
    add_vertex_warp,
    advance_rotation_age,
    lagged_rotations,
    rotations_due,
)
from .system.linearised_step import RelinearisedStep, assemble_system, compute_element_records
from .system.matrix_free import matrix_free_terms, restore_stiffness
from .system.pair_system import add_pair_blocks
from .system.residual_scale import motion_share
from .system.right_hand_side import (
    advance_positions,
    assemble_right_hand_side,
    write_gravity_impulse,
    write_target_velocities,
)
from .system.solve_system import solve_system
from .system.step_constants import NORM_FLOOR_SHARE, VELOCITY_CHANGE
from .system.workspace import workspace

if TYPE_CHECKING:
    from .newton.dynamic_flesh import DynamicFlesh
    from .nonlinear_step import OnIteration

# below this a second thread costs more in waiting than it brings
MIN_TETS_PER_THREAD = 400

NO_TARGET = np.zeros((0, 3))


def step(
    model: Model,
    state: State,
    outside: ExternalForces,
    dt: float,
    settings: Settings,
    *,
    respond: ContactResponse | None = None,
    max_solves: int = 8,
    flesh: DynamicFlesh | None = None,
    on_iteration: OnIteration = lambda solves, residual: None,
    lively: Callable[[], ExternalForces] | None = None,
    follow: ContactLineSearch | None = None,
    turns: bool = False,
    leads: bool = False,
    may_be_shorter: bool = False,
    kept: ReusedHierarchy | None = None,
) -> StepReport:
    """Moves `state` on by Δt = `dt` [s]; nothing else changes.

    Args:
        model: The bodies.
        state: x, v and time, moved on.
        outside: What acts from outside.
        dt: Δt [s].
        settings: Its `tolerance` and `max_iterations` are read.
        respond: Looks at x⁺ and v⁺ of a solve, (n, 3) each, and returns what acts from outside instead
            (contacts that opened, closed or slid), or None when content. Where rotations follow, it is told as well
            which islands want to be solved again.
        max_solves: Linear solves to spend at most.
        flesh: Bodies whose tets are hyperelastic, those included whose formulation is; None: the latter alone.
        on_iteration: Called with solves so far and residual before every solve of a step with flesh; what it raises
            goes through, and `state` is as it was.
        lively: Where flesh that moves by Newmark's scheme may touch other bodies: returns what acts on it in substeps,
            which find out themselves when a contact pushes. `outside` and `respond` then are for all by implicit Euler.
        follow: Called before `respond` after every solve but the first, with v⁺ of the solve before, v⁺ and x⁺, (n, 3)
            each, and dᵀ A d of the way d between the two per island, (islands,). It may take v⁺ and x⁺ back on that
            way, and returns whether it did. Steps with flesh do not call it.
        turns: Whether rotations follow within the step, see `solver/integrators/system/linearised_step.py`; only
            without flesh.
        leads: Whether turns of solves are made as rotations then, and residuals measured by the motion.
        may_be_shorter: Whether the step may be given up, for shorter ones, where what is stiff turns far in it.
        kept: What multigrid keeps from step to step; None: it is set up anew wherever it is needed.

    Raises:
        SolveFailed: Velocities are no longer numbers; `state` is as it was.
    """
    moved = flesh or nonlinear_bodies(model)

    def take(start: EulerStart) -> StepReport:
        if moved is None:
            return _step(start, dt, settings, max_solves, turns, leads, may_be_shorter, kept)
        from .nonlinear_step import flesh_step

        return flesh_step(
            start.model, start.state, start.outside, dt, settings, moved, respond=start.respond, max_solves=max_solves,
            on_iteration=on_iteration, lively=lively, about=start.about,
        )  # fmt: skip

    with limiting_threads(1 + model.tet_count // MIN_TETS_PER_THREAD):
        if model.methods and len(bodies_by_bdf2(model)):
            return bdf2_step(take, model, state, outside, dt, respond, follow)
        return take(EulerStart(model, state, outside, respond, follow))


def _step(
    start: EulerStart,
    dt: float,
    settings: Settings,
    max_solves: int,
    turns: bool,
    leads: bool,
    may_be_shorter: bool,
    kept: ReusedHierarchy | None,
) -> StepReport:
    model, state, outside, respond, follow = start.model, start.state, start.outside, start.respond, start.follow
    started = clock.perf_counter()
    work = workspace(model.pattern)
    about = state if start.about is None else State(start.about, state.v, state.time, state.fields)
    was_due, held = rotations_due(model, about), lagged_rotations(model, about)
    turning = RelinearisedStep(model, state, about.x, dt, held, start.is_straight, leads) if turns else None
    compute_element_records(model, about.x, held)
    stored = stored_energy(model, floats(about.x), work.element_records) if turning else np.zeros(0)
    if start.about is not None:
        add_linear_forces(1.0, start.about - state.x, model.tets, work.element_records)
    warped = clock.perf_counter()
    assemble_system(model, dt)
    node_turns = add_vertex_warp(model, state, dt, work.values, work.force)
    assembled = clock.perf_counter()

    iterations, effort, solves = 0, 0.0, 0
    turns_far = False
    last_v: Floats | None = None
    while True:
        before = last_v
        bending = np.empty(model.pattern.island_count) if follow and before is not None else None
        x, last_v, change, solved, motion_residual = solve_step(
            model, state, outside, dt, settings, before, bending, kept, leads
        )
        if follow and before is not None and bending is not None and follow(before, last_v, x, bending):
            np.subtract(last_v, state.v, out=change)
        iterations, solves = iterations + solved.iterations, solves + 1
        effort += solved.work
        if turning:
            straight = x
            x, v = turning.end(outside, x, last_v)
            last_v = turning.constrained_velocities(last_v)
            turns_far = turning.turns_far
            changed = respond(turning.straight_end(straight), v, turning.is_inaccurate) if respond else None
        else:
            v = last_v
            if model.cores:
                x, v = end_step_with_cores(model, state, outside, x, v, dt)
            changed = respond(x, v) if respond else None
        if changed is None or solves >= max_solves or (turns_far and may_be_shorter):
            break
        # what has not converged is not done, whatever its contacts say
        outside = changed if solved.converged else replace(changed, is_frozen=None)
        if turning:
            turning.relinearise(outside)
    ended = clock.perf_counter()

    state.fields[VELOCITY_CHANGE] = change
    if held is not None:
        state.fields[TET_ROTATION] = held
    if node_turns is not None:
        state.fields[NODE_ROTATION] = node_turns
    advance_rotation_age(model, state, was_due)
    state.x, state.v, state.time = x, v, state.time + dt
    stages = {"elements": warped - started, "assembly": assembled - warped, "solve": ended - assembled}
    return StepReport(
        iterations=iterations,
        residual=solved.residual,
        converged=solved.converged,
        settled=changed is None,
        solves=solves,
        contacts=outside.contact_count + len(outside.pairs),
        inverted_tets=int(count_inverted(x, model.tets)),
        milliseconds={name: 1e3 * seconds for name, seconds in stages.items()},
        stored=(stored, stored_energy(model, x, work.element_records)) if turning else None,
        work=effort,
        turns_far=turns_far,
        motion_residual=motion_residual,
    )


def solve_step(
    model: Model,
    state: State,
    outside: ExternalForces,
    dt: float,
    settings: Settings,
    before: Floats | None,
    bending: Floats | None = None,
    kept: ReusedHierarchy | None = None,
    by_motion: bool = False,
) -> tuple[Floats, Floats, Floats, SolveResult, float]:
    """Solves the assembled system of a step with what acts from outside.

    Args:
        model, state, outside, dt, settings: As for `step`.
        before: v⁺ of the solve before [m/s], (n, 3), to start from; None in the first one.
        bending: Gets dᵀ A d of the way d from there to v⁺ per island, (islands,); None: it is not wanted.
        kept: As for `step`.
        by_motion: Whether the residual is measured by the motion alone, see
            `solver/integrators/system/residual_scale.py`.

    Returns:
        x⁺ [m], v⁺ and v⁺ − v [m/s], (n, 3) each, how the solve went, and its residual over what moves the bodies, where
        contacts or springs push. The matrix is left as it was found.

    Raises:
        SolveFailed: Velocities are no longer numbers.
    """
    pattern, points = model.pattern, outside.points
    work = workspace(pattern)
    is_free = work.all_free if outside.is_fixed is None else ~outside.is_fixed
    sought = is_free if before is None or outside.is_frozen is None else is_free & ~outside.is_frozen
    impulse = work.impulse
    write_gravity_impulse(model.mass, model.gravity_scale, floats(outside.gravity), dt, impulse)
    if outside.node_force is not None:
        impulse += dt * outside.node_force

    if len(outside.pairs) and model.methods:
        restore_stiffness(model, dt)
    besides = matrix_free_terms(model) if model.methods else None
    count = 0
    if len(points):
        count = save_blocks(points.tet, pattern.corner_block, work.values, work.is_saved, work.saved_places, work.kept)
        add_point_terms(
            dt, points.tet, points.weights, points.stiffness, points.damping, points.force, model.tets,
            pattern.corner_block, work.values, impulse,
        )  # fmt: skip
    matrix, values = add_pair_blocks(model, pattern, outside.pairs, dt, work.values, impulse)

    x0, v0 = floats(state.x), floats(state.v)
    likely = state.fields.get(VELOCITY_CHANGE) if before is None else None
    v = (v0 if before is None else before).copy()
    target = NO_TARGET if outside.fixed_target is None or is_free is work.all_free else floats(outside.fixed_target)
    if len(target):
        write_target_velocities(target, x0, is_free, dt, v)
    b, x, change = np.empty((3, *v.shape))
    least = np.empty(pattern.island_count)
    assemble_right_hand_side(
        model.mass, v0, work.force, impulse, dt, sought, pattern.island_start, NORM_FLOOR_SHARE, b, least,
    )  # fmt: skip
    share = motion_share(model, v0, floats(outside.gravity), dt, b) if by_motion or len(points) else 1.0
    tolerance = (share if by_motion else 1.0) * settings.tolerance
    solved = solve_system(
        model, matrix, values, b, sought, v, x0, settings,
        tolerance=tolerance, least=least, likely=likely, balances=True, besides=besides, kept=kept,
    )  # fmt: skip
    motion_residual = solved.residual / share
    if by_motion:
        solved = replace(solved, residual=motion_residual)
    if before is not None and bending is not None:
        quadratic_form(pattern.island_start, matrix.row_start, matrix.column, values, v - before, bending)
        if besides is not None:
            bending += besides.quadratic_form(pattern, v - before)
    if count:
        restore_blocks(count, work.saved_places, work.kept, work.is_saved, work.values)

    if not advance_positions(x0, v, v0, dt, is_free, target, x, change):
        raise SolveFailed("solve-not-finite", time=state.time + dt)
    return x, v, change, solved, motion_residual
