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
from .refresh import Multigrid, apply

# PRODUCT: q = A p, with p·q. RESIDUAL: r = b − q, with r·r. DESCEND: x += α p, r −= α q, with r·r. Both also hand
# r over to the cycle. MEET: z·r and z·q for what it has made. DIRECTION: p = z + β p.
PRODUCT, RESIDUAL, DESCEND, MEET, DIRECTION = range(5)
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
    alpha, beta, rr, rz = np.zeros((4, islands))
    into, out_of = np.ones((2, islands))
    active = np.ones(islands, bool)
    sums = np.zeros((len(pattern.chunk_island), 2))
    first_chunks = np.searchsorted(pattern.chunk_island, np.arange(islands))

    def run(task: int) -> tuple[Floats, Floats]:
        sums[:] = 0.0
        search_pass(
            task, pattern.chunk_start, pattern.chunk_island, pattern.row_start, pattern.column, values, is_free,
            active, alpha, beta, into, out_of, b, x, r, p, q, multigrid.r[:count], multigrid.x[:count], sums,
        )  # fmt: skip
        one, two = np.add.reduceat(sums, first_chunks).T
        return one, two

    def residual() -> Floats:
        run(PRODUCT)
        return run(RESIDUAL)[0]

    def rescale() -> None:
        into[:] = np.exp2(-np.round(0.5 * np.log2(np.where(rr > 0.0, rr, 1.0))))
        out_of[:] = multigrid.scale / into

    p[:] = np.where(is_free[:, None], 0.0, x)
    bb = np.maximum(residual(), 0.0 if least is None else np.square(least))
    if modes is not None:
        balance(modes, pattern, b, x)
    iterations = 0
    for restart in range(RESTARTS + 1):
        active[:] = True
        p[:] = x
        rr[:] = residual()
        rescale()
        run(RESIDUAL)
        active[:] = rr > tolerance**2 * bb
        if iterations >= max_iterations or restart == RESTARTS or not active.any():
            break
        p[:], q[:], rz[:] = 0.0, 0.0, np.inf
        while active.any() and iterations < max_iterations:
            apply(multigrid)
            zr, zq = run(MEET)
            # −α z·q = z·(r − r before)
            beta[:] = np.where(active, -alpha * zq, 0.0) / np.where(active, rz, 1.0)
            rz[:] = zr
            active &= zr > 0.0
            run(DIRECTION)
            if modes is not None:
                make_orthogonal(modes, pattern, p)
            curve = run(PRODUCT)[0]
            active &= curve > 0.0
            alpha[:] = np.where(active, rz, 0.0) / np.where(active, curve, 1.0)
            rr[:] = np.where(active, run(DESCEND)[0], rr)
            rescale()
            active &= rr > tolerance**2 * bb
            iterations += 1
    with np.errstate(divide="ignore", invalid="ignore"):
        return iterations, float(np.max(np.where(rr == 0.0, 0.0, np.sqrt(rr / bb)), initial=0.0))
