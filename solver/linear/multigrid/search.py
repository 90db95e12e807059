# SPDX-License-Identifier: GPL-3.0-or-later
"""Conjugate gradients preconditioned by multigrid, in 64 bits around a cycle in fewer.

Islands have their own coefficients and their own end. β is taken in the form that bears a preconditioner which is not
quite the same, or not quite symmetric, from one iteration to the next: 32 bits are not exact, and 16, which its
matrices have, are less so.
Source: Golub and Ye (1999), Inexact preconditioned conjugate gradient method with inner-outer iteration.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Bools, Floats
from ...geometry.crew import TASK, Crew, crew_of, is_over, post, take, tell, wait
from ...jit import kernel, thread_count
from ..block_row import multiply_row
from ..pattern import BlockPattern
from ..pcg import BLOCKS_PER_THREAD
from ..rigid_modes import RigidModes, balance, make_orthogonal
from ..upper_half import NO_HALF, add_rings, half_of, multiply_segment, pack_rows
from .cycle import do_part, do_pass, lead_cycle
from .passes import MOST_OF_TETS, one_step
from .refresh import Multigrid, cycle_of

# PACK: copies the upper half of A. PRODUCT: q = A p, with p·q. RESIDUAL: r = b − q, with r·r, behind a product; AGAIN:
# the same with a q that is whole. DESCEND: x += α p, r −= α q, with r·r. HAND_OVER: r for the cycle, and its first
# pass, which DESCEND does as well. MEET: its last pass, with z·r and z·q for what it has made. DIRECTION: p = z + β p.
PACK, PRODUCT, RESIDUAL, AGAIN, DESCEND, HAND_OVER, MEET, DIRECTION = range(8)
WHOLE, FIRST, LATTER, BEGIN, LOOK, ENTER, SOFTEN = range(7)  # what `iterate` does
RESTARTS = 3
GENTLE = np.float32(one_step(MOST_OF_TETS))  # factor of smoothing on the finest level that every mesh of tets bears


@kernel(inside=True, bare=True)
def share(leads, crew, cycle, matrix, half, active, alpha, beta, into, out_of, vectors, sums):
    """Takes part in a pass, of the cycle or the search, until none of it is left; returns how many parts were done."""
    part, done = take(crew, leads), 0
    while part >= 0:
        task = crew[TASK]
        if task >= 0:
            do_part(task, part, cycle)
        else:
            search_part(-1 - task, part, cycle, *matrix, *half, active, alpha, beta, into, out_of, *vectors, sums)
        done += 1
        part = take(crew, leads)
    return done


@kernel(inside=True, bare=True)
def lead(task, crew, cycle, matrix, half, active, alpha, beta, into, out_of, vectors, sums):
    """Does a task on all rows, shared out by their chunks, or a product by the segments of the upper half."""
    crew[TASK] = -1 - task
    post(crew, len(half[1]) if task == PRODUCT and len(half[1]) > 0 else len(matrix[1]))
    wait(crew, share(True, crew, cycle, matrix, half, active, alpha, beta, into, out_of, vectors, sums))


@kernel(inside=True, bare=True)
def search_part(
    task, part, cycle, chunk_start, chunk_island, row_start, column, diagonal, values, is_free, segment_start,
    segment_island, upper_start, upper_column, packed, reach, mask, ring_start, ring, first, own, active, alpha, beta,
    into, out_of, b, x, r, p, q, r32, z32, sums,
):  # fmt: skip
    """Does a task on one chunk of rows, or on a segment of the upper half; leaves its sums, up to two, in (c, 2).

    `into` and `out_of` scale r and z per island.
    """
    by_half = len(segment_island) > 0
    if by_half and task == PRODUCT:
        if active[segment_island[part]]:
            sums[part, 0] = multiply_segment(
                segment_start[part], segment_start[part + 1], upper_start, upper_column, packed, mask[part],
                ring_start[part], ring, p, q, 0,
            )  # fmt: skip
        return
    island, begin, end = chunk_island[part], chunk_start[part], chunk_start[part + 1]
    if task == PACK:
        pack_rows(begin, end, diagonal, row_start, values, upper_start, packed)
    elif task == HAND_OVER:
        _narrow(begin, end, into[island], r, r32)
        do_pass(0, begin, end - begin, cycle)
    elif not active[island]:
        return
    elif task == PRODUCT:
        _multiply_rows(begin, end, row_start, column, values, p, q, sums[part])
    elif task == MEET:
        do_pass(len(cycle.tasks) - 1, begin, end - begin, cycle)
        _meet(begin, end, out_of[island], z32, r, q, sums[part])
    elif task == DIRECTION:
        _turn(begin, end, out_of[island], z32, beta[island], p)
    else:
        if by_half and task != AGAIN:
            add_rings(begin, end, first[part], own[part], reach, mask, ring_start, ring, q, 0)
        if task == DESCEND:
            _descend(begin, end, alpha[island], p, x)
            _leave(begin, end, is_free, alpha[island], r, q, r, into[island], r32, sums[part])
            do_pass(0, begin, end - begin, cycle)
        else:
            _leave(begin, end, is_free, 1.0, b, q, r, into[island], r32, sums[part])


@kernel(contract=True, inside=True, bare=True)
def _multiply_rows(first, end, row_start, column, values, p, q, sums):
    """Writes q = A p, with p·q."""
    along = 0.0
    for i in range(first, end):
        s, t, u = multiply_row(values, column, p, row_start[i], row_start[i + 1])
        q[i, 0], q[i, 1], q[i, 2] = s, t, u
        along += s * p[i, 0] + t * p[i, 1] + u * p[i, 2]
    sums[0] = along


@kernel(contract=True, inside=True, bare=True)
def _meet(first, end, out_of, z32, r, q, sums):
    """Writes z·r and z·q; z is zero at held nodes."""
    one, two = 0.0, 0.0
    for i in range(first, end):
        s, t, u = out_of * z32[i, 0], out_of * z32[i, 1], out_of * z32[i, 2]
        one += s * r[i, 0] + t * r[i, 1] + u * r[i, 2]
        two += s * q[i, 0] + t * q[i, 1] + u * q[i, 2]
    sums[0], sums[1] = one, two


@kernel(contract=True, inside=True, bare=True)
def _turn(first, end, out_of, z32, beta, p):
    """Writes p = z + β p."""
    for i in range(first, end):
        for k in range(3):
            p[i, k] = out_of * z32[i, k] + beta * p[i, k]


@kernel(contract=True, inside=True, bare=True)
def _descend(first, end, alpha, p, x):
    """Writes x += α p; p is zero at held nodes."""
    for i in range(first, end):
        for k in range(3):
            x[i, k] += alpha * p[i, k]


@kernel(contract=True, inside=True, bare=True)
def _leave(first, end, is_free, alpha, before, q, r, into, r32, sums):
    """Writes r = `before` − α q of free nodes, what the cycle gets of it, and r·r."""
    square = 0.0
    for i in range(first, end):
        if is_free[i]:
            s, t, u = before[i, 0] - alpha * q[i, 0], before[i, 1] - alpha * q[i, 1], before[i, 2] - alpha * q[i, 2]
            r[i, 0], r[i, 1], r[i, 2] = s, t, u
            r32[i, 0], r32[i, 1], r32[i, 2] = into * s, into * t, into * u
            square += s * s + t * t + u * u
    sums[0], sums[1] = square, 0.0


@kernel(inside=True, bare=True)
def _narrow(first, end, into, r, r32):
    """Writes what the cycle gets of r."""
    for i in range(first, end):
        for k in range(3):
            r32[i, k] = into * r[i, k]


@kernel(bare=True)
def iterate(
    leads, crew, what, most, tolerance, cycle, matrix, half, vectors, sums, scale, active, alpha, beta, into, out_of,
    rr, rz, bb, one, two,
):  # fmt: skip
    """Searches with up to `most` iterations, fewer where no island is left to solve; returns how many.

    Without a word from Python in between, which would take as long as the passes over 3,000 nodes, and as long again
    where another thread is just beginning and has Python to itself.

    Args:
        leads: Whether this thread leads the `crew`; others of it only share in the passes, and return 0.
        crew: A `Crew`.
        what: WHOLE: all there is to do. Or a part of it, between which the caller may change p: BEGIN: `look` at what
            held nodes add to b; LOOK: `look` at all; ENTER: `enter`; SOFTEN: `soften` and enter; FIRST: an iteration up
            to p; LATTER: from there to its end.
        cycle: A `Cycle`.
        matrix, half, vectors: What `search_part` takes of the pattern and its `UpperHalf`, and behind what it takes of
            islands; p with another row behind it.
        sums: Work space for two sums per chunk, (c, 2).
        scale: Of the islands of the cycle's matrix, (k,).
        active, alpha, beta, into, out_of: Of `search_part`, (k,).
        rr, rz, bb: ‖r‖², r·z, and what ‖b‖² counts for, which at the begin of a WHOLE is so at least, (k,).
        one, two: Work space for sums, (k,).
    """
    given = (crew, cycle, matrix, half, active, alpha, beta, into, out_of, vectors, sums)
    if not leads:
        while not is_over(crew):
            tell(crew, share(leads, *given))
        return 0
    if what == BEGIN or what == LOOK:
        return look(what == BEGIN, rr, two, *given)
    if what == SOFTEN:
        soften(cycle)
    if what == SOFTEN or what == ENTER:
        return enter(scale, rr, *given)
    if what != WHOLE:
        return descend(what, most, tolerance, scale, rr, rz, bb, one, two, *given)
    done, is_more = 0, look(True, rr, two, *given)
    for island in range(len(rr)):
        bb[island] = max(rr[island], bb[island]) if rr[island] == rr[island] else rr[island]
    restart = 0
    while True:
        if restart > 0 or is_more == 1:
            active[:] = True
            look(False, rr, two, *given)
        goes_on = choose(tolerance, rr, bb, active)
        if done >= most or restart == RESTARTS or not goes_on:
            return done
        if restart > 0:
            soften(cycle)
        enter(scale, rr, *given)
        vectors[3][:], vectors[4][:], rz[:] = 0.0, 0.0, np.inf
        done += descend(WHOLE, most - done, tolerance, scale, rr, rz, bb, one, two, *given)
        restart += 1


@kernel(inside=True, bare=True)
def look(only_held, rr, two, crew, cycle, matrix, half, active, alpha, beta, into, out_of, vectors, sums):
    """Writes r = b − A x, with ‖r‖²; of x at held nodes alone it says whether there is more.

    That is the first look of a search, before which the upper half is copied.
    """
    given = (crew, cycle, matrix, half, active, alpha, beta, into, out_of, vectors, sums)
    if only_held and len(half[1]) > 0:
        lead(PACK, *given)
    is_zero, is_more = _take_up(only_held, matrix[6], vectors[1], vectors[3])
    if is_zero:  # nothing comes of it, and most searches begin so
        vectors[4][:] = 0.0
    else:
        lead(PRODUCT, *given)
    lead(AGAIN if is_zero else RESIDUAL, *given)
    add_up(matrix[1], active, sums, rr, two)
    return 1 if is_more else 0


@kernel(inside=True, bare=True)
def enter(scale, rr, crew, cycle, matrix, half, active, alpha, beta, into, out_of, vectors, sums):
    """Begins a cycle with r; returns 0."""
    rescale(scale, rr, into, out_of)
    lead(HAND_OVER, crew, cycle, matrix, half, active, alpha, beta, into, out_of, vectors, sums)
    return 0


@kernel(inside=True, bare=True)
def soften(cycle):
    """Lets the finest level be smoothed gently from now on.

    For a search that has come to its end too soon: where a tet has a larger eigenvalue than `refresh` has found, the
    cycle is indefinite.
    """
    last = len(cycle.tasks) - 1
    for p in range(0, last + 1, last):
        cycle.steps[p, 1] = min(cycle.steps[p, 1], GENTLE)


@kernel(inside=True, bare=True)
def descend(
    what, most, tolerance, scale, rr, rz, bb, one, two, crew, cycle, matrix, half, active, alpha, beta, into, out_of,
    vectors, sums,
):  # fmt: skip
    """Does up to `most` iterations, or the part of one that `what` says; returns how many came to their end."""
    given = (crew, cycle, matrix, half, active, alpha, beta, into, out_of, vectors, sums)
    done = 0
    while True:
        if what != LATTER:
            lead_cycle(1, len(cycle.tasks) - 1, crew, cycle)
            lead(MEET, *given)
            add_up(matrix[1], active, sums, one, two)
            for island in range(len(active)):
                # −α z·q = z·(r − r before)
                beta[island] = -alpha[island] * two[island] / rz[island] if active[island] else 0.0
                rz[island] = one[island]
                active[island] = active[island] and one[island] > 0.0
            lead(DIRECTION, *given)
        if what == FIRST:
            return done
        lead(PRODUCT, *given)
        add_up(half[1] if len(half[1]) > 0 else matrix[1], active, sums, one, two)
        for island in range(len(active)):
            active[island] = active[island] and one[island] > 0.0
            alpha[island] = rz[island] / one[island] if active[island] else 0.0
        lead(DESCEND, *given)
        add_up(matrix[1], active, sums, one, two)
        goes_on = False
        for island in range(len(active)):
            if active[island]:
                rr[island] = one[island]
                active[island] = rr[island] > tolerance * tolerance * bb[island]
                goes_on = goes_on or active[island]
        rescale(scale, rr, into, out_of)
        done += 1
        if what == LATTER or done == most or not goes_on:
            return done


@kernel(inside=True, bare=True)
def choose(tolerance, rr, bb, active):
    """Writes which islands are still to be solved, and returns whether one is."""
    goes_on = False
    for island in range(len(rr)):
        active[island] = rr[island] > tolerance * tolerance * bb[island]
        goes_on = goes_on or active[island]
    return goes_on


@kernel(inside=True, bare=True)
def _take_up(only_held, is_free, x, p):
    """Writes p = x, or zero at free nodes; returns whether p is zero, and whether x is more than p."""
    is_zero, is_more = True, False
    for i in range(len(is_free)):
        is_any = x[i, 0] != 0.0 or x[i, 1] != 0.0 or x[i, 2] != 0.0
        is_taken = not (only_held and is_free[i])
        for k in range(3):
            p[i, k] = x[i, k] if is_taken else 0.0
        is_zero = is_zero and not (is_any and is_taken)
        is_more = is_more or (is_any and not is_taken)
    return is_zero, is_more


@kernel(inside=True, bare=True)
def add_up(islands, active, sums, one, two):
    """Writes the sums of every island, part by part, zero where nothing was done."""
    one[:], two[:] = 0.0, 0.0
    for part in range(len(islands)):
        island = islands[part]
        if active[island]:
            one[island] += sums[part, 0]
            two[island] += sums[part, 1]


@kernel(inside=True, bare=True)
def rescale(scale, rr, into, out_of):
    """Writes powers of two that bring r near one for the cycle, and z back."""
    for island in range(len(rr)):
        into[island] = 2.0 ** -np.rint(0.5 * np.log2(rr[island])) if rr[island] > 0.0 else 1.0
        out_of[island] = scale[island] / into[island]


def search(
    pattern: BlockPattern,
    values: Floats,
    b: Floats,
    is_free: Bools,
    x: Floats,
    tolerance: float,
    max_iterations: int,
    least: Floats | None,
    modes: RigidModes | None,
    multigrid: Multigrid,
) -> tuple[int, float]:
    """Solves A x = b as `linear.pcg.solve` does; returns the iterations and the largest relative residual."""
    count, islands, work = pattern.node_count, pattern.island_count, multigrid.work
    r, q = np.zeros((2, count, 3))
    longer = np.zeros((count + 1, 3))
    alpha, beta, rr, rz, bb, one, two = np.zeros((7, islands))
    if least is not None:
        bb[:] = np.square(least)
    into, out_of = np.ones((2, islands))
    active = np.ones(islands, bool)
    sums = np.zeros((len(pattern.chunk_island), 2))
    # as conjugate gradients do: in small systems too few segments keep threads busy
    half = ((half_of(pattern) if pattern.block_count >= BLOCKS_PER_THREAD else None) or NO_HALF).arrays
    rows = (pattern.chunk_start, pattern.chunk_island, pattern.row_start, pattern.column, pattern.diagonal)
    matrix = (*rows, values, is_free)
    vectors = (b, x, r, longer, q, work.r[:count], work.x[:count])
    scale, cycle = work.scale, cycle_of(multigrid)

    def share_out(crew: Crew, leads: bool, what: int = WHOLE, most: int = 0) -> int:
        return int(
            iterate(
                leads, crew, what, most, tolerance, cycle, matrix, half, vectors, sums, scale, active, alpha, beta,
                into, out_of, rr, rz, bb, one, two,
            )
        )  # fmt: skip

    with crew_of(thread_count(), share_out) as crew:
        if modes is None:
            iterations = share_out(crew, True, WHOLE, max_iterations)
        else:
            iterations = 0
            share_out(crew, True, BEGIN)
            np.maximum(rr, bb, out=bb)
            balance(modes, pattern, b, x)
            for restart in range(RESTARTS + 1):
                active[:] = True
                share_out(crew, True, LOOK)
                active[:] = rr > tolerance**2 * bb
                if iterations >= max_iterations or restart == RESTARTS or not active.any():
                    break
                share_out(crew, True, SOFTEN if restart > 0 else ENTER)
                longer[:count], q[:], rz[:] = 0.0, 0.0, np.inf
                while active.any() and iterations < max_iterations:
                    share_out(crew, True, FIRST, 1)
                    make_orthogonal(modes, pattern, longer[:count])
                    iterations += share_out(crew, True, LATTER, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return iterations, float(np.max(np.where(rr == 0.0, 0.0, np.sqrt(rr / bb)), initial=0.0))
