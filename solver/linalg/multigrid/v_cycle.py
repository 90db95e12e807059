# SPDX-License-Identifier: GPL-3.0-or-later
"""One V-cycle: smooths on every level, hands the rest down, solves the coarsest level, and comes back the same way.

The smoother is Chebyshev's iteration on block Jacobi, of degree 1 on the two finest levels and 2 on the others, the
same before and after, so that the whole is symmetric but for how its matrices are rounded. It runs in 32 bits, with
matrices in 16: there is less memory to read, and a preconditioner need not be more exact.

What is to be done is a list of passes over the rows of a level, which the threads of a `WorkerTeam` share out; each row
writes its own numbers, so that the result does not depend on the number of threads.
Source: Adams, Brezina, Hu and Tuminaro (2003), Parallel multigrid smoothing: polynomial versus Gauss–Seidel.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...runtime.arrays import Floats
from ...runtime.jit import kernel
from ...runtime.simd.int16_block_rows import multiply_quads
from ...runtime.simd.interpolation_row import weighted_row_sum
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
from ..block_pattern import UInt32s
from .coarse_solve import solve_coarsest
from .lattice_coarsening import Int64s

Float32s = npt.NDArray[np.float32]

# FIRST_SMOOTH: d = b D⁻¹ r, x = d. RESTRICT: the same after r = Pᵀ r of the next finer level. SMOOTH: r −= A d,
# d = a d + b D⁻¹ r, x += d. PROLONGATE: d = P x of the next coarser level, x += d. COARSE_SOLVE: x = A⁻¹ r on the
# coarsest level. POWER_ITERATION: d = D⁻¹ A d.
FIRST_SMOOTH, RESTRICT, SMOOTH, PROLONGATE, COARSE_SOLVE, POWER_ITERATION = range(6)

# Rows that a thread takes at a time: fewer on levels of fewer rows than MIN_ROWS_OF_LARGE_LEVEL, most of which are
# coarse with longer rows. The leading thread does levels of fewer rows than MIN_ROWS_TO_SHARE alone
ROWS_PER_CHUNK, ROWS_PER_CHUNK_OF_SMALL_LEVEL = 256, 32
MIN_ROWS_OF_LARGE_LEVEL, MIN_ROWS_TO_SHARE = 2048, 128


class QuadMatrices(NamedTuple):
    """The matrices of all levels but the coarsest in fixed point, and the inverses of their diagonals.

    Attributes:
        start: First quad of every row, (N + 1,).
        quads, unit: As in `MultigridArrays`, (q, 22), (N,).
        inverse: In 32 bits, (N, 6).
    """

    start: UInt32s
    quads: UInt32s
    unit: Float32s
    inverse: Float32s


class TransferWeights(NamedTuple):
    """Rows of all prolongations P, or of their transposes.

    Attributes:
        start: Where they begin, (N + 1,).
        node: The row of another level that each entry reads, (W,).
        weight: Entries in 32 bits, (W,).
    """

    start: UInt32s
    node: UInt32s
    weight: Float32s


class Coarsest(NamedTuple):
    """The coarsest matrices by their factors; see `solve_coarsest`."""

    part_start: Int64s
    factors_start: Int64s
    factors: Floats
    y: Floats


class VCycle(NamedTuple):
    """Passes, and what they read and write of all levels, one after the other, as in `Hierarchy`
    and `MultigridArrays`.

    Attributes:
        tasks, steps: Task, level and which d is read (0 or 1) of every pass, (p, 3), and its factors a and b, (p, 2).
        level_start: First row of each level, (l + 1,).
        quads, coarsest: The matrices.
        prolongation, restriction: P and Pᵀ.
        r, x, d: What is left, what is found, and the last step of both sides, (N, 3), (N + 1, 3), (2, N, 3).
    """

    tasks: Int64s
    steps: Float32s
    level_start: Int64s
    quads: QuadMatrices
    prolongation: TransferWeights
    restriction: TransferWeights
    coarsest: Coarsest
    r: Float32s
    x: Float32s
    d: Float32s


def run_cycle(cycle: VCycle) -> None:
    """Does the passes of a cycle, on as many threads as kernels may use."""
    with worker_team(thread_count(), lambda team, leads: run_passes(leads, team, cycle)) as team:
        run_passes(True, team, cycle)


@kernel(no_refcount=True)
def run_passes(leads, team, cycle):
    """Does the passes of a `VCycle` one after the other, shared out among a `WorkerTeam`.

    Others than the thread that `leads` it only share in them.
    """
    if leads:
        lead_cycle(0, len(cycle.tasks), team, cycle)
        return
    while not is_finished(team):
        report_done(team, work_on_cycle_pass(leads, team, cycle))
    await_wakeup(team)


@kernel(device_only=True, no_refcount=True)
def lead_cycle(begin, end, team, cycle):
    """Does the passes from `begin` to `end`; those over many rows are shared out, the others done alone."""
    tasks, level_start = cycle.tasks, cycle.level_start
    for p in range(begin, end):
        count = level_row_count(tasks[p, 1], level_start)
        if tasks[p, 0] == COARSE_SOLVE or count < MIN_ROWS_TO_SHARE:
            run_pass_rows(p, 0, count, cycle)
            continue
        team[TASK] = p
        at_once = rows_per_chunk(count)
        publish(team, (count + at_once - 1) // at_once)
        join(team, work_on_cycle_pass(True, team, cycle))


@kernel(device_only=True, no_refcount=True)
def work_on_cycle_pass(leads, team, cycle):
    """Takes part in a pass until none of it is left; returns how many parts were done."""
    part, done = claim(team, leads), 0
    while part >= 0:
        run_part(team[TASK], part, cycle)
        done += 1
        part = claim(team, leads)
    return done


@kernel(device_only=True, no_refcount=True)
def level_row_count(level, level_start):
    """Returns how many rows a level has."""
    return level_start[level + 1] - level_start[level]


@kernel(device_only=True, no_refcount=True)
def rows_per_chunk(count):
    """Returns how many of so many rows of a level a thread takes at a time."""
    return ROWS_PER_CHUNK if count >= MIN_ROWS_OF_LARGE_LEVEL else ROWS_PER_CHUNK_OF_SMALL_LEVEL


@kernel(device_only=True, no_refcount=True)
def run_part(p, part, cycle):
    """Does a part of pass p."""
    at_once = rows_per_chunk(level_row_count(cycle.tasks[p, 1], cycle.level_start))
    run_pass_rows(p, part * at_once, at_once, cycle)


@kernel(device_only=True, no_refcount=True)
def run_pass_rows(p, begin, count, cycle):
    """Does pass p on `count` rows of its level from its row `begin` on."""
    (task, level, side), (a, b) = cycle.tasks[p], cycle.steps[p]
    level_start, r, x, d = cycle.level_start, cycle.r, cycle.x, cycle.d
    first, end = level_start[level] + begin, min(level_start[level] + begin + count, level_start[level + 1])
    if task == COARSE_SOLVE:
        part_start, factors_start, factors, y = cycle.coarsest
        solve_coarsest(part_start, first, factors_start, factors, r, y, x)
    else:
        _run_task(
            task, first, end, a, b, cycle.quads, cycle.prolongation, cycle.restriction, r, x, d[side], d[1 - side]
        )


@kernel(allow_fma=True, device_only=True, no_refcount=True)
def _run_task(task, first, end, a, b, matrix, prolongation, restriction, r, x, d, new):
    """Does one task on the rows from `first` to `end`; reads d, writes `new`."""
    quad_start, quads, unit, inverse = matrix
    prolongation_start, prolongation_node, prolongation_weight = prolongation
    restriction_start, restriction_row, restriction_weight = restriction
    zero = np.float32(0.0)
    for i in range(np.uint64(first), np.uint64(end)):
        if task == PROLONGATE:
            s, t, u = weighted_row_sum(
                prolongation_weight, prolongation_node, x, prolongation_start[i], prolongation_start[i + np.uint64(1)]
            )
            new[i, 0], new[i, 1], new[i, 2] = s, t, u
            x[i, 0], x[i, 1], x[i, 2] = x[i, 0] + s, x[i, 1] + t, x[i, 2] + u
            continue
        if task == SMOOTH or task == POWER_ITERATION:
            s, t, u = multiply_quads(quads, d, quad_start[i], quad_start[i + np.uint64(1)])
            w = unit[i]
            s, t, u = w * s, w * t, w * u
            if task == SMOOTH:
                s, t, u = r[i, 0] - s, r[i, 1] - t, r[i, 2] - u
                r[i, 0], r[i, 1], r[i, 2] = s, t, u
        elif task == RESTRICT:
            s, t, u = weighted_row_sum(
                restriction_weight, restriction_row, r, restriction_start[i], restriction_start[i + np.uint64(1)]
            )
            r[i, 0], r[i, 1], r[i, 2] = s, t, u
        else:
            s, t, u = r[i, 0], r[i, 1], r[i, 2]
        if b == zero:
            continue
        M = inverse[i]
        v, w, z = (
            b * (M[0] * s + M[3] * t + M[5] * u),
            b * (M[3] * s + M[1] * t + M[4] * u),
            b * (M[5] * s + M[4] * t + M[2] * u),
        )
        if task == SMOOTH:
            v, w, z = v + a * d[i, 0], w + a * d[i, 1], z + a * d[i, 2]
            x[i, 0], x[i, 1], x[i, 2] = x[i, 0] + v, x[i, 1] + w, x[i, 2] + z
        elif task != POWER_ITERATION:
            x[i, 0], x[i, 1], x[i, 2] = v, w, z
        new[i, 0], new[i, 1], new[i, 2] = v, w, z
