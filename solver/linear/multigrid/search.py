# SPDX-License-Identifier: GPL-3.0-or-later
"""Conjugate gradients preconditioned by multigrid, in 64 bits around a cycle in 32.

Islands have their own coefficients and their own end. β is taken in the form that bears a preconditioner which is not
quite the same, or not quite symmetric, from one iteration to the next: 32 bits are not exact.
Source: Golub and Ye (1999), Inexact preconditioned conjugate gradient method with inner-outer iteration.
"""

from __future__ import annotations

import numba
import numpy as np

from ...arrays import Bools, Floats
from ...jit import kernel
from ..block_row import multiply_row
from ..pattern import BlockPattern
from ..rigid_modes import RigidModes, balance, make_orthogonal
from .cycle import run_passes
from .refresh import Multigrid, cycle_of

# PRODUCT: q = A p, with p·q. RESIDUAL: r = b − q, with r·r. DESCEND: x += α p, r −= α q, with r·r. Both also hand
# r over to the cycle. MEET: z·r and z·q for what it has made. DIRECTION: p = z + β p.
PRODUCT, RESIDUAL, DESCEND, MEET, DIRECTION = range(5)
WHOLE, FIRST, LATTER = range(3)  # of an iteration
RESTARTS = 3


@kernel(parallel=True)
def search_pass(
    task, chunk_start, chunk_island, row_start, column, values, is_free, active, alpha, beta, into, out_of, b, x, r, p,
    q, r32, z32, sums,
):  # fmt: skip
    """Does a task on all rows; `into` and `out_of` scale r and z per island; writes two sums per chunk, (c, 2)."""
    for chunk in numba.prange(len(chunk_island)):
        island = chunk_island[chunk]
        if active[island]:
            _search_rows(
                task, chunk_start[chunk], chunk_start[chunk + 1], row_start, column, values, is_free, alpha[island],
                beta[island], into[island], out_of[island], b, x, r, p, q, r32, z32, sums[chunk],
            )  # fmt: skip


@kernel(contract=True, inside=True)
def _search_rows(
    task, first, end, row_start, column, values, is_free, alpha, beta, into, out_of, b, x, r, p, q, r32, z32, sums
):  # fmt: skip
    one, two = 0.0, 0.0
    for i in range(first, end):
        if task == PRODUCT:
            s, t, u = multiply_row(values, column, p, row_start[i], row_start[i + 1])
            q[i, 0], q[i, 1], q[i, 2] = s, t, u
            one += s * p[i, 0] + t * p[i, 1] + u * p[i, 2]
        elif not is_free[i]:
            continue
        elif task == MEET:
            s, t, u = out_of * z32[i, 0], out_of * z32[i, 1], out_of * z32[i, 2]
            one += s * r[i, 0] + t * r[i, 1] + u * r[i, 2]
            two += s * q[i, 0] + t * q[i, 1] + u * q[i, 2]
        elif task == DIRECTION:
            p[i, 0] = out_of * z32[i, 0] + beta * p[i, 0]
            p[i, 1] = out_of * z32[i, 1] + beta * p[i, 1]
            p[i, 2] = out_of * z32[i, 2] + beta * p[i, 2]
        else:
            if task == DESCEND:
                x[i, 0] += alpha * p[i, 0]
                x[i, 1] += alpha * p[i, 1]
                x[i, 2] += alpha * p[i, 2]
                s, t, u = r[i, 0] - alpha * q[i, 0], r[i, 1] - alpha * q[i, 1], r[i, 2] - alpha * q[i, 2]
            else:
                s, t, u = b[i, 0] - q[i, 0], b[i, 1] - q[i, 1], b[i, 2] - q[i, 2]
            r[i, 0], r[i, 1], r[i, 2] = s, t, u
            r32[i, 0], r32[i, 1], r32[i, 2] = into * s, into * t, into * u
            one += s * s + t * t + u * u
    sums[0], sums[1] = one, two


@kernel()
def iterate(
    half, most, tolerance, cycle, matrix, vectors, sums, scale, active, alpha, beta, into, out_of, rr, rz, bb, one, two
):  # fmt: skip
    """Does up to `most` iterations, fewer where no island is left to solve; returns how many.

    Without a word from Python in between, which would take as long as the passes over 3,000 nodes, and let the other
    threads fall asleep.

    Args:
        half: FIRST: only up to the direction p, which the caller may change; LATTER: only from there on; WHOLE: all.
        cycle: What `run_passes` takes.
        matrix, vectors, sums: What `search_pass` takes before, behind, and behind what it takes of islands.
        scale: Of the islands of the cycle's matrix, (k,).
        active, alpha, beta, into, out_of: Of `search_pass`, (k,).
        rr, rz, bb: ‖r‖², r·z, and what ‖b‖² counts for, (k,).
        one, two: Work space for sums, (k,).
    """
    done = 0
    while True:
        if half != LATTER:
            run_passes(*cycle)
            search_pass(MEET, *matrix, active, alpha, beta, into, out_of, *vectors, sums)
            add_up(matrix[1], active, sums, one, two)
            for island in range(len(active)):
                # −α z·q = z·(r − r before)
                beta[island] = -alpha[island] * two[island] / rz[island] if active[island] else 0.0
                rz[island] = one[island]
                active[island] = active[island] and one[island] > 0.0
            search_pass(DIRECTION, *matrix, active, alpha, beta, into, out_of, *vectors, sums)
        if half == FIRST:
            return done
        search_pass(PRODUCT, *matrix, active, alpha, beta, into, out_of, *vectors, sums)
        add_up(matrix[1], active, sums, one, two)
        for island in range(len(active)):
            active[island] = active[island] and one[island] > 0.0
            alpha[island] = rz[island] / one[island] if active[island] else 0.0
        search_pass(DESCEND, *matrix, active, alpha, beta, into, out_of, *vectors, sums)
        add_up(matrix[1], active, sums, one, two)
        goes_on = False
        for island in range(len(active)):
            if active[island]:
                rr[island] = one[island]
                active[island] = rr[island] > tolerance * tolerance * bb[island]
                goes_on = goes_on or active[island]
        rescale(scale, rr, into, out_of)
        done += 1
        if half == LATTER or done == most or not goes_on:
            return done


@kernel()
def add_up(chunk_island, active, sums, one, two):
    """Writes the sums of every island, chunk by chunk, zero where nothing was done."""
    one[:], two[:] = 0.0, 0.0
    for chunk in range(len(sums)):
        island = chunk_island[chunk]
        if active[island]:
            one[island] += sums[chunk, 0]
            two[island] += sums[chunk, 1]


@kernel()
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
    count, islands = pattern.node_count, pattern.island_count
    r, p, q = np.zeros((3, count, 3))
    alpha, beta, rr, rz, one, two = np.zeros((6, islands))
    into, out_of = np.ones((2, islands))
    active = np.ones(islands, bool)
    sums = np.zeros((len(pattern.chunk_island), 2))
    matrix = (pattern.chunk_start, pattern.chunk_island, pattern.row_start, pattern.column, values, is_free)
    vectors = (b, x, r, p, q, multigrid.r[:count], multigrid.x[:count])
    scale, cycle = multigrid.scale, cycle_of(multigrid)

    def residual(at: Floats) -> Floats:
        p[:], q[:] = at, 0.0
        if p.any():  # nothing comes of zero, with which most searches begin
            search_pass(PRODUCT, *matrix, active, alpha, beta, into, out_of, *vectors, sums)
        return hand_over()

    def hand_over() -> Floats:
        search_pass(RESIDUAL, *matrix, active, alpha, beta, into, out_of, *vectors, sums)
        add_up(pattern.chunk_island, active, sums, one, two)
        return one

    def go_on(half: int, most: int) -> int:
        return int(
            iterate(
                half, most, tolerance, cycle, matrix, vectors, sums, scale, active, alpha, beta, into, out_of, rr, rz,
                bb, one, two,
            )
        )  # fmt: skip

    bb = np.maximum(residual(np.where(is_free[:, None], 0.0, x)), 0.0 if least is None else np.square(least))
    if modes is not None:
        balance(modes, pattern, b, x)
    iterations = 0
    for restart in range(RESTARTS + 1):
        active[:] = True
        rr[:] = residual(x)
        rescale(scale, rr, into, out_of)
        hand_over()
        active[:] = rr > tolerance**2 * bb
        if iterations >= max_iterations or restart == RESTARTS or not active.any():
            break
        p[:], q[:], rz[:] = 0.0, 0.0, np.inf
        if modes is None:
            iterations += go_on(WHOLE, max_iterations - iterations)
            continue
        while active.any() and iterations < max_iterations:
            go_on(FIRST, 1)
            make_orthogonal(modes, pattern, p)
            iterations += go_on(LATTER, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return iterations, float(np.max(np.where(rr == 0.0, 0.0, np.sqrt(rr / bb)), initial=0.0))
