# SPDX-License-Identifier: GPL-3.0-or-later
"""The loop of conjugate gradients: passes over the rows, and what follows from their sums for every island.

Islands that are coupled search together, with the same coefficients, until the residual of each is small enough: a
light body is solved as well beside a heavy one that it touches as alone.
"""

from __future__ import annotations

import math

import numpy as np

from ..runtime.jit import kernel
from ..runtime.threads.worker_team import TASK, await_wakeup, claim, is_finished, join, publish, report_done
from .block_jacobi import invert_rows
from .coupled_rigid_modes import add_inter_island_products
from .element_by_element import add_active_products
from .envelope_cholesky import solve_envelope
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
DIVERGENCE_RATIO = 1.0e4  # the smallest ‖r‖² so far, from which on an island's search is begun anew


@kernel(no_refcount=True)
def conjugate_gradients(
    leads, crew, chunk_start, chunk_island, cluster_start, members, row_start, column, diagonal, values, segment_start,
    segment_island, upper_start, upper_column, packed, reach, mask, ring_start, ring, first, own, inverse, is_free, b,
    tolerance, max_iterations, most_rows, p, vectors, likely, arms, product, mode_inverse, coupled, besides, sums,
    known, x,
):  # fmt: skip
    """Solves for x; returns the iterations and the largest relative residual of the islands.

    Args:
        leads: Whether this thread leads the `crew`; others of it only share in the passes, and return nothing.
        crew: A `Crew`.
        chunk_start, chunk_island, row_start, column, diagonal: Of the pattern.
        cluster_start, members: Its `clusters`.
        values, is_free, b, tolerance, max_iterations, x: As for `solve`.
        most_rows: Rows to go through at most, iteration by iteration, without those of islands that are done.
        segment_start, …, own: `arrays` of its `UpperHalf`, which then gives the products, or of `NO_HALF`.
        inverse: Work space for the inverses of the blocks on the diagonal, (n, 9); given where there is `besides`.
        p: Work space for the direction of the search, (n, 3), with another row behind it.
        vectors: Work space for r, z, q and d, one behind the other, (4 n, 3).
        likely: The likely direction d, (n, 3), or (0, 3).
        arms, product, mode_inverse: Those of `RigidModes`, or empty.
        coupled: `row`, `other`, `product`, `start`, `first`, `factor`, `motion` and `place` of `CoupledModes`, or None,
            for which nothing of it is compiled.
        besides: What `add_active_products` wants of tets whose stiffness is not in the matrix, or None as before.
        sums: Work space, (chunks, SUMS).
        known: Of islands, (k, KNOWN), zero at first; only BB is what ‖b‖² counts for at least.
    """
    if not leads:
        while not is_finished(crew):
            done = work_on_pass(
                leads, crew, chunk_start, chunk_island, row_start, column, diagonal, values, segment_start,
                segment_island, upper_start, upper_column, packed, reach, mask, ring_start, ring, first, own, inverse,
                is_free, b, p, vectors, likely, arms, product, besides is None, known, x, sums,
            )  # fmt: skip
            report_done(crew, done)
        await_wakeup(crew)
        return 0, 0.0
    iterations, rows, restarts, has_likely = 0, 0, -1, len(likely) > 0
    for island in range(len(known)):
        known[island, ACTIVE] = 1.0
    task = np.int64(PREPARE)
    while task != DONE:
        is_product = task == APPLY or task == CURVATURE or task == PRODUCT
        islands = segment_island if is_product and len(segment_island) > 0 else chunk_island
        crew[TASK] = task
        publish(crew, len(islands))
        done = work_on_pass(
            leads, crew, chunk_start, chunk_island, row_start, column, diagonal, values, segment_start, segment_island,
            upper_start, upper_column, packed, reach, mask, ring_start, ring, first, own, inverse, is_free, b, p,
            vectors, likely, arms, product, besides is None, known, x, sums,
        )  # fmt: skip
        join(crew, done)
        if besides is not None:
            if is_product:
                add_active_products(*besides, known, p, vectors, sums)
        if task == UPDATE:
            iterations += 1
            rows += _active_rows(chunk_start, chunk_island, known)
        if task == RESIDUAL:
            restarts += 1
        if task == LOAD_INITIAL_DIRECTION:
            has_likely = False
        may_go_on = iterations < max_iterations and rows < most_rows and restarts <= MAX_RESTARTS
        if task >= RESIDUAL and task != DIRECTION:
            has_modes = len(mode_inverse) > 0 and (task == UPDATE or task == RESIDUAL)
            _sum_chunks(has_modes, islands, mode_inverse, sums, known)
            if coupled is not None:
                if has_modes:
                    _coupled_mode_coefficients(*coupled, vectors, known)
        if task == PREPARE:
            task = _task_after_preparation(is_free, x)
        else:
            task = _next_task(
                task, may_go_on, restarts == 0, has_likely, tolerance, cluster_start, members, known
            )  # fmt: skip
    return iterations, _largest_residual(known)


@kernel(device_only=True, no_refcount=True)
def work_on_pass(
    leads, crew, chunk_start, chunk_island, row_start, column, diagonal, values, segment_start, segment_island,
    upper_start, upper_column, packed, reach, mask, ring_start, ring, first, own, inverse, is_free, b, p, vectors,
    likely, arms, product, inverts, known, x, sums,
):  # fmt: skip
    """Takes part in a pass until none of it is left; returns how many parts were done."""
    part, done = claim(crew, leads), 0
    while part >= 0:
        _run_task(
            crew[TASK], part, chunk_start, chunk_island, row_start, column, diagonal, values, segment_start,
            segment_island, upper_start, upper_column, packed, reach, mask, ring_start, ring, first, own, inverse,
            is_free, b, p, vectors, likely, arms, product, inverts, known, x, sums,
        )  # fmt: skip
        done += 1
        part = claim(crew, leads)
    return done


@kernel(inline=True, device_only=True, no_refcount=True)
def _run_task(
    task, part, chunk_start, chunk_island, row_start, column, diagonal, values, segment_start, segment_island,
    upper_start, upper_column, packed, reach, mask, ring_start, ring, first, own, inverse, is_free, b, p, vectors,
    likely, arms, product, inverts, known, x, sums,
):  # fmt: skip
    """Does a task on a segment of the upper half, or on a chunk of rows."""
    place = Q * 3 * len(is_free)
    if len(segment_island) > 0 and (task == APPLY or task == CURVATURE or task == PRODUCT):
        if known[segment_island[part], ACTIVE] != 0.0:
            sums[part, 0] = multiply_segment(
                segment_start[part], segment_start[part + 1], upper_start, upper_column, packed, mask[part],
                ring_start[part], ring, p, vectors, place,
            )  # fmt: skip
        return
    if known[chunk_island[part], ACTIVE] == 0.0:
        return
    begin, end = chunk_start[part], chunk_start[part + 1]
    if task == PREPARE:
        if inverts:
            invert_rows(begin, end, diagonal, is_free, values, inverse)
        if len(segment_island) > 0:
            pack_rows(begin, end, diagonal, row_start, values, upper_start, packed)
    if len(segment_island) > 0 and (task == RESIDUAL or task == UPDATE):
        add_segment_rings(begin, end, first[part], own[part], reach, mask, ring_start, ring, vectors, place)
    run_row_task(
        task, part, chunk_start, chunk_island, row_start, column, values, inverse, is_free, b, p, vectors, likely, arms,
        product, known, x, sums,
    )  # fmt: skip


@kernel(device_only=True, no_refcount=True)
def _task_after_preparation(is_free, x):
    """Returns what comes after preparations: b less what held nodes add to it, for its norm."""
    for i in range(len(is_free)):
        if not is_free[i] and (x[i, 0] != 0.0 or x[i, 1] != 0.0 or x[i, 2] != 0.0):
            return LOAD_FIXED
    return RESIDUAL  # q is zero


@kernel(device_only=True, no_refcount=True)
def _active_rows(chunk_start, chunk_island, known):
    """Returns how many rows belong to islands that are not done."""
    count = np.int64(0)
    for chunk in range(len(chunk_island)):
        if known[chunk_island[chunk], ACTIVE] != 0.0:
            count += np.int64(chunk_start[chunk + 1] - chunk_start[chunk])
    return count


@kernel(device_only=True, no_refcount=True)
def _largest_residual(known):
    """Returns the largest ‖b − A x‖ / ‖b‖ of all islands, no number where one of them is none."""
    largest = 0.0
    for island in range(len(known)):
        square = known[island, RR] / max(known[island, BB], MIN_SQUARED_NORM)
        if not square <= largest:
            largest = square
        if math.isnan(largest):
            break
    return math.sqrt(largest)


@kernel(device_only=True, no_refcount=True)
def _next_task(task, may_go_on, is_norm, has_likely, tolerance, cluster_start, members, known):
    """Draws the consequences of a pass for every cluster of islands, and returns the next task."""
    if task == LOAD_FIXED or task == LOAD_SOLUTION:
        return APPLY
    if task == APPLY:
        return RESIDUAL
    if task == DIRECTION:
        return PRODUCT
    goes_on = False
    for cluster in range(len(cluster_start) - 1):
        begin, end = cluster_start[cluster], cluster_start[cluster + 1]
        of = known[members[begin]]
        if of[ACTIVE] == 0.0:
            continue
        first, second = of[FIRST_SUM], of[SECOND_SUM]
        for member in range(begin + 1, end):
            first += known[members[member], FIRST_SUM]
            second += known[members[member], SECOND_SUM]
        goes = True
        if task == LOAD_INITIAL_DIRECTION:
            of[RZ] = first
        elif task == CURVATURE:
            # conjugate gradients begin behind it, with β = 0
            of[ALPHA] = of[RZ] / first if first > 0.0 else 0.0
            of[RZ] = np.inf
        elif task == PRODUCT:
            # not so where there is no way down left in this precision, or no numbers
            goes = first > 0.0
            of[ALPHA] = of[RZ] / first
        elif is_norm:
            for member in range(begin, end):
                own = known[members[member]]
                own[BB] = max(own[BB], own[SECOND_SUM])
        else:
            of[BETA] = first / of[RZ] if task == UPDATE else 0.0
            of[RZ] = first
            of[MIN_RR] = second if task == RESIDUAL else min(of[MIN_RR], second)
            # where round-off has taken over, going on leads away: begin anew from here, a few times
            goes_down = second < DIVERGENCE_RATIO * of[MIN_RR] or of[MIN_RR] == 0.0
            is_left = False
            for member in range(begin, end):
                own = known[members[member]]
                own[RR] = own[SECOND_SUM]
                is_left = is_left or own[RR] > tolerance * tolerance * own[BB]
            goes = is_left and first > 0.0 and may_go_on and goes_down
        of[ACTIVE] = 1.0 if goes else 0.0
        for member in range(begin + 1, end):
            for column in range(CLUSTER_COLUMNS):
                known[members[member], column] = of[column]
        goes_on = goes_on or goes
    if task == LOAD_INITIAL_DIRECTION:
        return CURVATURE
    if task == CURVATURE or task == PRODUCT:
        return UPDATE
    if goes_on and not is_norm:
        return LOAD_INITIAL_DIRECTION if has_likely else DIRECTION
    if task == RESIDUAL and not is_norm:
        return DONE
    # see what is there, in all islands
    for island in range(len(known)):
        known[island, ACTIVE] = 1.0
    return LOAD_SOLUTION


@kernel(device_only=True, no_refcount=True)
def _sum_chunks(has_modes, chunk_island, mode_inverse, sums, known):
    """Adds up what a pass has left of every island, chunk by chunk; with c = E⁻¹ ((AZ)ᵀ z − Zᵀ r) of its modes."""
    count = SUMS_PER_CHUNK if has_modes else 2
    for island in range(len(known)):
        own = known[island]
        own[FIRST_SUM], own[SECOND_SUM] = 0.0, 0.0
        for k in range(2, count):
            own[MODE_RESIDUALS + k - 2] = 0.0
    for chunk in range(len(chunk_island)):
        own = known[chunk_island[chunk]]
        own[FIRST_SUM] += sums[chunk, 0]
        own[SECOND_SUM] += sums[chunk, 1]
        for k in range(2, count):
            own[MODE_RESIDUALS + k - 2] += sums[chunk, k]
    if not has_modes:
        return
    for island in range(len(known)):
        own = known[island]
        for m in range(6):
            own[MODE_COEFFICIENTS + m] = 0.0
        for k in range(6):
            for m in range(6):
                own[MODE_COEFFICIENTS + m] += mode_inverse[island, m, k] * own[MODE_RESIDUALS + k]


@kernel(device_only=True, no_refcount=True)
def _coupled_mode_coefficients(row, other, product, start, first, factor, motion, place, vectors, known):
    """Writes c of the coupled islands, all at once."""
    motion[:] = 0.0
    for island in range(len(known)):
        if place[island] >= 0:
            for m in range(6):
                motion[6 * place[island] + m] += known[island, MODE_RESIDUALS + m]
    count = len(vectors) // VECTOR_COUNT
    add_inter_island_products(1.0, row, other, product, vectors[Z * count : (Z + 1) * count], motion)
    solve_envelope(start, first, factor, motion)
    for island in range(len(known)):
        if place[island] >= 0:
            for m in range(6):
                known[island, MODE_COEFFICIENTS + m] = motion[6 * place[island] + m]
