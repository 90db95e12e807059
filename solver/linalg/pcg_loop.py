# SPDX-License-Identifier: GPL-3.0-or-later
"""The loop of conjugate gradients: passes over the rows, and the coefficients of every island from their sums.

Coupled islands share their coefficients and iterate until the residual of each is small enough: a light body is solved
as accurately beside a heavy one that it touches as alone.
"""

from __future__ import annotations

import math

import numpy as np

from ..runtime.jit import kernel
from ..runtime.threads.worker_team import TASK, await_wakeup, claim, is_finished, join, publish, report_done
from .block_jacobi import invert_rows
from .convergence_rate import IS_SLOW, RATE, UNKNOWN_RATE, measure_rate, note_residual
from .coupled_aggregates import solve_aggregates
from .coupled_rigid_modes import add_inter_island_products
from .element_by_element import add_active_products
from .envelope_cholesky import solve_envelope
from .island_cholesky import factor_island
from .pcg_row_passes import (
    ACTIVE,
    ALPHA,
    APPLY,
    BB,
    BETA,
    CLUSTER_COLUMNS,
    CURVATURE,
    DIRECTION,
    DONE,
    FIRST_SUM,
    LOAD_FIXED,
    LOAD_INITIAL_DIRECTION,
    LOAD_SOLUTION,
    MIN_RR,
    MODE_COEFFICIENTS,
    MODE_RESIDUALS,
    PREPARE,
    PRODUCT,
    RESIDUAL,
    RR,
    RZ,
    SECOND_SUM,
    SUMS_PER_CHUNK,
    UPDATE,
    VECTOR_COUNT,
    Q,
    Z,
    run_row_task,
)
from .symmetric_spmv import add_segment_rings, multiply_segment, pack_rows

MAX_RESTARTS = 3
MIN_SQUARED_NORM = 1.0e-300  # ‖b‖² that counts as none
DIVERGENCE_RATIO = 1.0e4  # the smallest ‖r‖² so far, from which on an island's solve is begun anew


@kernel(no_refcount=True)
def conjugate_gradients(
    is_leader, team, limits, matrix, half, vectors, modes, coupled, factors, aggregates, element_terms, islands
):
    """Solves for x; returns the iterations and the largest relative residual of the islands.

    Args:
        is_leader: Whether this thread leads the team; others only share in the passes, and return nothing.
        team: A `WorkerTeam`.
        limits: `PcgLimits`.
        matrix: `MatrixArrays`.
        half: `UpperHalfArrays`, which then give the products, or `NO_UPPER_HALF`.
        vectors: `PcgVectors`; the inverses are given where there are element terms, and written otherwise.
        modes: `ModeArrays`.
        coupled: `CoupledModeArrays`, or None, for which nothing of it is compiled.
        factors: `IslandFactorArrays`, or None as before.
        aggregates: `AggregateArrays` of nodes of coupled islands, or None as before.
        element_terms: `ElementTermArrays` of tets whose stiffness is not in the matrix, or None as before.
        islands: `IslandArrays`, all zero at first but BB, which is what ‖b‖² counts for at least.
    """
    inverts, scalars = element_terms is None, islands.scalars
    if not is_leader:
        while not is_finished(team):
            report_done(team, work_on_pass(is_leader, team, matrix, half, vectors, modes, factors, inverts, islands))
        await_wakeup(team)
        return 0, 0.0
    iterations, rows, restarts, has_direction = 0, 0, -1, len(vectors.initial_direction) > 0
    may_go_on = True
    for island in range(len(scalars)):
        scalars[island, ACTIVE] = 1.0
    task = np.int64(PREPARE)
    while task != DONE:
        is_product = task == APPLY or task == CURVATURE or task == PRODUCT
        part_island = half.island if is_product and len(half.island) > 0 else matrix.chunk_island
        team[TASK] = task
        publish(team, len(part_island))
        join(team, work_on_pass(is_leader, team, matrix, half, vectors, modes, factors, inverts, islands))
        if element_terms is not None:
            if is_product:
                add_active_products(element_terms, vectors, islands)
        if task == UPDATE:
            iterations += 1
            rows += _active_rows(matrix.chunk_start, matrix.chunk_island, scalars)
            may_go_on = _may_go_on(limits, iterations, rows)
        if task == RESIDUAL:
            restarts += 1
        if task == LOAD_INITIAL_DIRECTION:
            has_direction = False
        may_continue = iterations < limits.max_iterations and may_go_on and restarts <= MAX_RESTARTS
        if task >= RESIDUAL and task != DIRECTION:
            has_modes = len(modes.inverse) > 0 and (task == UPDATE or task == RESIDUAL)
            _sum_chunks(has_modes, part_island, islands)
            if has_modes:
                if aggregates is not None:
                    solve_aggregates(aggregates, vectors.work, modes.product, scalars)
                _mode_coefficients(modes.inverse, scalars)
                if coupled is not None:
                    _coupled_mode_coefficients(coupled, vectors.work, scalars)
        if task == PREPARE:
            task = _task_after_preparation(matrix.is_free, vectors.x)
        else:
            was_update = task == UPDATE
            task = _next_task(task, may_continue, restarts == 0, has_direction, limits.tolerance, islands)
            if was_update:
                note_residual(limits.rate_check.record, _largest_residual(scalars))
    return iterations, _largest_residual(scalars)


@kernel(device_only=True, no_refcount=True)
def _may_go_on(limits, iterations, rows):
    """Whether to go on after so many iterations over so many rows."""
    measure_rate(limits.rate_check, iterations, limits.tolerance)
    record = limits.rate_check.record
    return (iterations < limits.first_iterations and rows < limits.first_rows) or (
        record[RATE] != UNKNOWN_RATE and record[IS_SLOW] == 0.0
    )


@kernel(device_only=True, no_refcount=True)
def work_on_pass(is_leader, team, matrix, half, vectors, modes, factors, inverts, islands):
    """Takes part in a pass until none of it is left; returns how many parts were done.

    A part is a segment of the upper half, or a chunk of rows.
    """
    place, scalars, has_half = Q * 3 * len(matrix.is_free), islands.scalars, len(half.island) > 0
    part, done = claim(team, is_leader), 0
    while part >= 0:
        task = team[TASK]
        if has_half and (task == APPLY or task == CURVATURE or task == PRODUCT):
            if scalars[half.island[part], ACTIVE] != 0.0:
                islands.sums[part, 0] = multiply_segment(part, half, vectors.p, vectors.work, place)
        elif scalars[matrix.chunk_island[part], ACTIVE] != 0.0:
            begin, end = matrix.chunk_start[part], matrix.chunk_start[part + 1]
            if task == PREPARE:
                if inverts:
                    invert_rows(begin, end, matrix.diagonal, matrix.is_free, matrix.values, vectors.inverse)
                if factors is not None:
                    island = matrix.chunk_island[part]
                    if factors.may_factor[island]:
                        factors.is_factored[island] = factor_island(begin, end, matrix, factors)
                if has_half:
                    pack_rows(begin, end, matrix, half)
            if has_half and (task == RESIDUAL or task == UPDATE):
                add_segment_rings(part, begin, end, half, vectors.work, place)
            run_row_task(task, part, matrix, vectors, modes, factors, islands)
        part, done = claim(team, is_leader), done + 1
    return done


@kernel(device_only=True, no_refcount=True)
def _task_after_preparation(is_free, x):
    """Returns the task after preparations: b less the products with fixed nodes, for its norm."""
    for i in range(len(is_free)):
        if not is_free[i] and (x[i, 0] != 0.0 or x[i, 1] != 0.0 or x[i, 2] != 0.0):
            return LOAD_FIXED
    return RESIDUAL  # q is zero


@kernel(device_only=True, no_refcount=True)
def _active_rows(chunk_start, chunk_island, scalars):
    """Returns how many rows belong to islands that have not converged."""
    count = np.int64(0)
    for chunk in range(len(chunk_island)):
        if scalars[chunk_island[chunk], ACTIVE] != 0.0:
            count += np.int64(chunk_start[chunk + 1] - chunk_start[chunk])
    return count


@kernel(device_only=True, no_refcount=True)
def _largest_residual(scalars):
    """Returns the largest ‖b − A x‖ / ‖b‖ of all islands, NaN where one of them is NaN."""
    largest = 0.0
    for island in range(len(scalars)):
        square = scalars[island, RR] / max(scalars[island, BB], MIN_SQUARED_NORM)
        if not square <= largest:
            largest = square
        if math.isnan(largest):
            break
    return math.sqrt(largest)


@kernel(device_only=True, no_refcount=True)
def _next_task(task, may_continue, is_norm, has_direction, tolerance, islands):
    """Updates the scalars of every cluster of islands after a pass, and returns the next task."""
    cluster_start, members, scalars = islands.cluster_start, islands.members, islands.scalars
    if task == LOAD_FIXED or task == LOAD_SOLUTION:
        return APPLY
    if task == APPLY:
        return RESIDUAL
    if task == DIRECTION:
        return PRODUCT
    is_any_active = False
    for cluster in range(len(cluster_start) - 1):
        begin, end = cluster_start[cluster], cluster_start[cluster + 1]
        of = scalars[members[begin]]
        if of[ACTIVE] == 0.0:
            continue
        first, second = of[FIRST_SUM], of[SECOND_SUM]
        for member in range(begin + 1, end):
            first += scalars[members[member], FIRST_SUM]
            second += scalars[members[member], SECOND_SUM]
        is_active = True
        if task == LOAD_INITIAL_DIRECTION:
            of[RZ] = first
        elif task == CURVATURE:
            # conjugate gradients begin after this step, with β = 0
            of[ALPHA] = of[RZ] / first if first > 0.0 else 0.0
            of[RZ] = np.inf
        elif task == PRODUCT:
            # not positive where no descent is left in this precision, or where there are NaNs
            is_active = first > 0.0
            of[ALPHA] = of[RZ] / first
        elif is_norm:
            for member in range(begin, end):
                own = scalars[members[member]]
                own[BB] = max(own[BB], own[SECOND_SUM])
        else:
            of[BETA] = first / of[RZ] if task == UPDATE else 0.0
            of[RZ] = first
            of[MIN_RR] = second if task == RESIDUAL else min(of[MIN_RR], second)
            # where round-off dominates, further iterations diverge: restart from here, a few times
            decreases = second < DIVERGENCE_RATIO * of[MIN_RR] or of[MIN_RR] == 0.0
            is_left = False
            for member in range(begin, end):
                own = scalars[members[member]]
                own[RR] = own[SECOND_SUM]
                is_left = is_left or own[RR] > tolerance * tolerance * own[BB]
            is_active = is_left and first > 0.0 and may_continue and decreases
        of[ACTIVE] = 1.0 if is_active else 0.0
        for member in range(begin + 1, end):
            for column in range(CLUSTER_COLUMNS):
                scalars[members[member], column] = of[column]
        is_any_active = is_any_active or is_active
    if task == LOAD_INITIAL_DIRECTION:
        return CURVATURE
    if task == CURVATURE or task == PRODUCT:
        return UPDATE
    if is_any_active and not is_norm:
        return LOAD_INITIAL_DIRECTION if has_direction else DIRECTION
    if task == RESIDUAL and not is_norm:
        return DONE
    # compute the true residual of all islands
    for island in range(len(scalars)):
        scalars[island, ACTIVE] = 1.0
    return LOAD_SOLUTION


@kernel(device_only=True, no_refcount=True)
def _sum_chunks(has_modes, chunk_island, islands):
    """Sums up the results of a pass for every island, chunk by chunk; with (AZ)ᵀ z − Zᵀ r of its modes."""
    sums, scalars = islands.sums, islands.scalars
    count = SUMS_PER_CHUNK if has_modes else 2
    for island in range(len(scalars)):
        own = scalars[island]
        own[FIRST_SUM], own[SECOND_SUM] = 0.0, 0.0
        for k in range(2, count):
            own[MODE_RESIDUALS + k - 2] = 0.0
    for chunk in range(len(chunk_island)):
        own = scalars[chunk_island[chunk]]
        own[FIRST_SUM] += sums[chunk, 0]
        own[SECOND_SUM] += sums[chunk, 1]
        for k in range(2, count):
            own[MODE_RESIDUALS + k - 2] += sums[chunk, k]


@kernel(device_only=True, no_refcount=True)
def _mode_coefficients(mode_inverse, scalars):
    """Writes c = E⁻¹ ((AZ)ᵀ z − Zᵀ r) of the modes of every island."""
    for island in range(len(scalars)):
        own = scalars[island]
        for m in range(6):
            own[MODE_COEFFICIENTS + m] = 0.0
        for k in range(6):
            for m in range(6):
                own[MODE_COEFFICIENTS + m] += mode_inverse[island, m, k] * own[MODE_RESIDUALS + k]


@kernel(device_only=True, no_refcount=True)
def _coupled_mode_coefficients(coupled, work, scalars):
    """Writes c of the coupled islands, all at once."""
    motion, place = coupled.motion, coupled.place
    motion[:] = 0.0
    for island in range(len(scalars)):
        if place[island] >= 0:
            for m in range(6):
                motion[6 * place[island] + m] += scalars[island, MODE_RESIDUALS + m]
    count = len(work) // VECTOR_COUNT
    z = work[Z * count : (Z + 1) * count]
    add_inter_island_products(1.0, coupled.row, coupled.other, coupled.product, z, motion)
    solve_envelope(coupled.start, coupled.first, coupled.factor, motion)
    for island in range(len(scalars)):
        if place[island] >= 0:
            for m in range(6):
                scalars[island, MODE_COEFFICIENTS + m] = motion[6 * place[island] + m]
