# SPDX-License-Identifier: GPL-3.0-or-later
"""Conjugate gradients preconditioned by multigrid, in 64 bits around a cycle in fewer.

Islands have their own coefficients and their own end, those of a cluster of coupled islands in common. β is taken in
the form that bears a preconditioner which is not quite the same, or not quite symmetric, from one iteration to the
next: 32 bits are not exact, and 16, which its matrices have, are less so.
Source: Golub and Ye (1999), Inexact preconditioned conjugate gradient method with inner-outer iteration.
"""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Floats
from ...runtime.jit import kernel
from ...runtime.threads.thread_count import thread_count
from ...runtime.threads.worker_team import (
    TASK,
    await_wakeup,
    claim,
    is_finished,
    join,
    publish,
    report_done,
    worker_team,
)
from ..block_system import BlockSystem, MatrixArrays, PcgWorkspace, StoppingCriteria
from ..convergence_rate import IS_SLOW, RateCheck, measure_rate, note_residual
from ..pcg import MIN_BLOCKS_PER_THREAD, NO_MODES
from ..rigid_modes import RigidModes, coarse_correct_islands
from ..symmetric_spmv import NO_UPPER_HALF, upper_half
from .cycle_schedule import MAX_TET_EIGENVALUE, jacobi_factor
from .mg_pcg_islands import (
    IslandScalars,
    add_fixed_to_rhs_norm,
    begin_iteration,
    compute_alpha,
    compute_beta,
    largest_residual,
    select_unconverged,
    sum_chunks,
    sum_clusters,
    update_convergence,
    update_residual_norms,
)
from .mg_pcg_row_passes import (
    APPLY,
    DIRECTION,
    DONE,
    END_CYCLE,
    PACK,
    PRODUCT,
    RESIDUAL,
    RESIDUAL_WITHOUT_PRODUCT,
    START_CYCLE,
    UPDATE,
    SearchVectors,
    do_task,
)
from .numeric_setup import Multigrid, v_cycle
from .v_cycle import lead_cycle, run_part

MAX_RESTARTS = 3  # that a solve begins at most: r drifts from b − A x, or the cycle is not positive
GENTLE_SMOOTHING_FACTOR = np.float32(
    jacobi_factor(MAX_TET_EIGENVALUE)
)  # factor of smoothing on the finest level that every mesh of tets bears


@kernel(no_refcount=True)
def iterate_mg_pcg(is_leader, team, most, tolerance, rate_check, cycle, matrix, half, vectors, islands, modes, sums):
    """Searches with up to `most` iterations, fewer where no island is left to solve or it is slow; returns how many.

    Without a word from Python in between, which would take as long as the passes over 3,000 nodes, and as long again
    where another thread is just beginning and has Python to itself.

    Args:
        is_leader: Whether this thread leads the `team`; others of it only share in the passes, and return 0.
        team: A `WorkerTeam`.
        most, tolerance, rate_check: As for `solve_mg_pcg`.
        cycle, matrix, half, vectors, islands: What `do_task` takes; of the islands bb is at first what ‖b‖² counts for
            at least.
        modes: What `coarse_correct_islands` takes before b; empty where no motions are told apart.
        sums: Work space for two sums per chunk, (c, 2).
    """
    if not is_leader:
        while not is_finished(team):
            report_done(team, work_on_pass(is_leader, team, cycle, matrix, half, vectors, islands, sums))
        await_wakeup(team)
        return 0
    done, looks, descents, segment_island = 0, 0, 0, half.island
    by_half = len(segment_island) > 0
    task = np.int64(PACK) if by_half else initial_task(True, matrix.is_free, vectors)
    while task != DONE:
        if task == END_CYCLE:
            lead_cycle(1, len(cycle.tasks) - 1, team, cycle)
        is_product = task == APPLY or task == PRODUCT
        parts = segment_island if by_half and is_product else matrix.chunk_island
        team[TASK] = -1 - task
        publish(team, len(parts))
        join(team, work_on_pass(is_leader, team, cycle, matrix, half, vectors, islands, sums))
        if task == UPDATE or task == START_CYCLE:
            done += task == UPDATE
            note_residual(rate_check.record, largest_residual(islands))
            measure_rate(rate_check, done, tolerance)
        descents += task == START_CYCLE
        looks += task == RESIDUAL or task == RESIDUAL_WITHOUT_PRODUCT
        task = next_task(
            task,
            looks == 1,
            done < most and rate_check.record[IS_SLOW] == 0.0,
            descents,
            tolerance,
            cycle,
            matrix.is_free,
            vectors,
            modes,
            parts,
            sums,
            islands,
        )
    return done


@kernel(device_only=True, no_refcount=True)
def work_on_pass(is_leader, team, cycle, matrix, half, vectors, islands, sums):
    """Takes part in a pass, of the cycle or of CG, until none of it is left; returns how many parts were done."""
    part, done = claim(team, is_leader), 0
    while part >= 0:
        task = team[TASK]
        if task >= 0:
            run_part(task, part, cycle)
        else:
            do_task(-1 - task, part, cycle, matrix, half, vectors, islands, sums)
        done += 1
        part = claim(team, is_leader)
    return done


@kernel(device_only=True, no_refcount=True)
def next_task(
    task, is_first_look, may_go_on, descents, tolerance, cycle, is_free, vectors, modes, parts, sums, islands
):
    """Draws the consequences of a pass, and returns the next task."""
    if task == PACK:
        return initial_task(True, is_free, vectors)
    if task == APPLY:
        return RESIDUAL
    if task == START_CYCLE:
        return END_CYCLE
    if task == DIRECTION:
        coarse_correct_islands(*modes, vectors.b[:0], vectors.p)
        return PRODUCT
    sum_chunks(parts, sums, islands)
    if task == END_CYCLE:
        sum_clusters(islands)
        compute_beta(islands)
        return DIRECTION
    if task == PRODUCT:
        sum_clusters(islands)
        compute_alpha(islands)
        return UPDATE
    if task == UPDATE:
        if update_convergence(tolerance, islands) and may_go_on:
            return END_CYCLE
        islands.active[:] = True
        return initial_task(False, is_free, vectors)
    update_residual_norms(islands)
    if is_first_look:
        add_fixed_to_rhs_norm(islands)
        coarse_correct_islands(*modes, vectors.b, vectors.x)
        if is_any_nonzero(is_free, vectors.x):
            return initial_task(False, is_free, vectors)
    if not select_unconverged(tolerance, islands) or not may_go_on or descents == MAX_RESTARTS:
        return DONE
    if descents > 0:
        soften_smoother(cycle)
    begin_iteration(islands)
    vectors.p[:], vectors.q[:] = 0.0, 0.0
    return START_CYCLE


@kernel(device_only=True, no_refcount=True)
def initial_task(only_held, is_free, vectors):
    """Writes p = x, or zero at free nodes; returns the task by which b − A p is looked at.

    Of a p of zeros nothing comes, and most solves begin so: then it writes q = 0 as well.
    """
    x, p, is_zero = vectors.x, vectors.p, True
    for i in range(len(is_free)):
        is_taken = not (only_held and is_free[i])
        for k in range(3):
            p[i, k] = x[i, k] if is_taken else 0.0
            is_zero = is_zero and p[i, k] == 0.0
    if not is_zero:
        return APPLY
    vectors.q[:] = 0.0
    return RESIDUAL_WITHOUT_PRODUCT


@kernel(device_only=True, no_refcount=True)
def is_any_nonzero(is_free, x):
    """Returns whether x is not zero at some free node."""
    for i in range(len(is_free)):
        if is_free[i] and (x[i, 0] != 0.0 or x[i, 1] != 0.0 or x[i, 2] != 0.0):
            return True
    return False


@kernel(device_only=True, no_refcount=True)
def soften_smoother(cycle):
    """Lets the finest level be smoothed gently from now on.

    For a solve that has come to its end too soon: where a tet has a larger eigenvalue than `refresh` has found, the
    cycle is indefinite.
    """
    last = len(cycle.tasks) - 1
    for p in range(0, last + 1, last):
        cycle.steps[p, 1] = min(cycle.steps[p, 1], GENTLE_SMOOTHING_FACTOR)


def solve_mg_pcg(
    system: BlockSystem,
    x: Floats,
    stopping: StoppingCriteria,
    modes: RigidModes | None,
    multigrid: Multigrid,
    workspace: PcgWorkspace,
    rate_check: RateCheck,
) -> tuple[int, float]:
    """Solves A x = b as `linalg.pcg.solve` does, and gives up where it is slow.

    The `modes` of coupled islands are not used.

    Returns:
        The iterations, and the largest relative residual of an island.
    """
    pattern, tolerance, work, motions = system.pattern, float(stopping.tolerance), multigrid.work, modes or NO_MODES
    count, islands = pattern.node_count, pattern.island_count
    (r, q), (into, out_of) = np.zeros((2, count, 3)), np.ones((2, islands))
    alpha, beta, rr, rz, bb, one, two = np.zeros((7, islands))
    if stopping.norm_floor is not None:
        bb[:] = np.square(stopping.norm_floor)
    # as conjugate gradients do: in small systems too few segments keep threads busy
    half = upper_half(pattern) if pattern.block_count >= MIN_BLOCKS_PER_THREAD else None
    rows = (pattern.chunk_start, pattern.chunk_island, pattern.row_start, pattern.column, pattern.diagonal)
    given = (
        v_cycle(multigrid),
        MatrixArrays(*rows, system.values, system.is_free),
        half.with_workspace(workspace) if half else NO_UPPER_HALF,
        SearchVectors(system.b, x, r, q, np.zeros((count + 1, 3)), work.r[:count], work.x[:count]),
        IslandScalars(
            *pattern.clusters, np.ones(islands, bool), alpha, beta, into, out_of, work.scale, rr, rz, bb, one, two
        ),
        (pattern.island_start, motions.lever_arms, motions.product, motions.inverse),
        np.zeros((len(pattern.chunk_island), 2)),
    )
    with worker_team(
        thread_count(), lambda team, is_leader: iterate_mg_pcg(is_leader, team, 0, tolerance, rate_check, *given)
    ) as team:
        iterations = int(iterate_mg_pcg(True, team, stopping.max_iterations, tolerance, rate_check, *given))
    with np.errstate(divide="ignore", invalid="ignore"):
        return iterations, float(np.max(np.where(rr == 0.0, 0.0, np.sqrt(rr / bb)), initial=0.0))
