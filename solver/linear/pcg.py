# SPDX-License-Identifier: GPL-3.0-or-later
"""Conjugate gradients, preconditioned per node, with some nodes held: one compiled loop.

Islands of rows that no block joins, such as the bodies of a scene, are solved side by side, each with its own
coefficients and its own end: a light body is solved as well beside a heavy one as alone, to the same bits.

Held nodes are filtered: their rows are not solved, and what they do to the others enters through the
residual. Sums are taken per chunk of rows and then over the chunks in order, so the number of threads
changes no bit. Source: Baraff and Witkin 1998, section 5.2, for unknowns that are given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numba
import numpy as np

from ..arrays import Bools, Floats
from ..jit import kernel
from .block_jacobi import invert_diagonal
from .block_row import multiply_row
from .pattern import BlockPattern
from .rigid_modes import RigidModes, balance, make_orthogonal
from .small_islands import solve_small_islands

RESTARTS = 3
SMALLEST = 1.0e-300  # ‖b‖² that counts as none
GONE_ASTRAY = 1.0e4  # the smallest ‖r‖² so far, from which on an island's search is begun anew
# systems of fewer blocks are solved on one thread: a pass over them is over before the others have begun
BLOCKS_PER_THREAD = 8000


@dataclass(frozen=True)
class Solved:
    """How a linear solve went.

    Attributes:
        iterations: Of the island that took most.
        residual: ‖b − A x‖ / ‖b‖ over the free nodes of an island, the largest of all islands, computed anew at
            the end. What held nodes add to the right-hand side counts as b.
        converged: Whether it is within the tolerance.
    """

    iterations: int
    residual: float
    converged: bool


class Preconditioner(Protocol):
    """What takes over where block Jacobi would take long, such as `multigrid.EmbeddedLattices`."""

    def patience(self, pattern: BlockPattern, tolerance: float) -> int:
        """Returns how many iterations of block Jacobi come first."""

    def search(
        self,
        pattern: BlockPattern,
        values: Floats,
        b: Floats,
        is_free: Bools,
        x: Floats,
        tolerance: float,
        max_iterations: int,
        least: Floats | None,
        modes: RigidModes | None,
    ) -> tuple[int, float]:
        """Solves as `solve` does, from what `x` holds; returns the iterations and the largest relative residual."""


def solve(
    pattern: BlockPattern,
    values: Floats,
    b: Floats,
    is_free: Bools,
    x: Floats,
    tolerance: float,
    max_iterations: int,
    least: Floats | None = None,
    likely: Floats | None = None,
    modes: RigidModes | None = None,
    preconditioner: Preconditioner | None = None,
) -> Solved:
    """Solves A x = b for the free nodes, from what `x` holds.

    Args:
        pattern: Sparsity of A.
        values: Blocks of A, symmetric positive definite over the free nodes, (b, 9).
        b: Right-hand side, (n, 3).
        is_free: Which nodes are solved for, (n,).
        x: First guess, and the given values of the held nodes; overwritten with the solution, (n, 3).
        tolerance: Relative residual to reach.
        max_iterations: Products with A to spend at most, not counting those for residuals.
        least: What ‖b‖ counts for at least, per island, (k,); None: nothing.
        likely: A direction in which the solution is likely to lie from `x`, (n, 3): first x is moved along it as
            far as is best. None: there is none.
        modes: Motions of the islands as a whole, which are solved for exactly; None: they are not told apart.
        preconditioner: What goes on when its patience with block Jacobi is over; None: block Jacobi alone.
    """
    if x.shape != b.shape or x.shape != (pattern.node_count, 3) or values.shape != (pattern.block_count, 9):
        raise ValueError(f"x {x.shape}, b {b.shape}, values {values.shape} do not fit {pattern.node_count} nodes")
    solve_small_islands(pattern.island_start, pattern.row_start, pattern.column, values, is_free, b, x)
    inverse = np.empty((pattern.node_count, 6))
    invert_diagonal(pattern.diagonal, is_free, values, inverse)
    r, z, p, q = np.zeros((4, *b.shape))
    d = np.zeros_like(b) if likely is None else likely * is_free[:, None]
    if modes is None:
        modes = RigidModes(np.zeros((0, 3)), np.zeros((0, 18)), np.zeros((0, 6, 6)))
    else:
        balance(modes, pattern, b, x)
        make_orthogonal(modes, pattern, d)
    coarse = np.zeros((pattern.island_count, 6))
    # small systems on one thread, and then every island in one chunk, whose sums go through
    alone = pattern.block_count < BLOCKS_PER_THREAD
    chunk_start, chunk_island = pattern.chunk_start, pattern.chunk_island
    if alone:
        chunk_start, chunk_island = pattern.island_start, np.arange(pattern.island_count, dtype=np.uint32)
    sums = np.zeros((len(chunk_start) - 1, 8))
    first = max_iterations
    if preconditioner is not None:
        first = min(first, preconditioner.patience(pattern, tolerance))
    alpha, beta, rz, rr, bb, best = np.zeros((6, pattern.island_count))
    bb[:] = 0.0 if least is None else np.square(least)
    iterations = conjugate_gradients(
        chunk_start, chunk_island, pattern.row_start, pattern.column, values, inverse, is_free,
        not is_free.all(), b, float(tolerance), int(first), r, z, p, q, d,
        likely is not None, modes.arms, modes.product, modes.inverse, coarse,
        sums, np.ones(pattern.island_count, np.bool_), alpha, beta, rz, rr, bb, best, x,
        alone,
    )  # fmt: skip
    residual = float(np.sqrt(np.max(rr / np.maximum(bb, SMALLEST), initial=0.0)))
    if preconditioner is not None and residual > tolerance and iterations < max_iterations:
        more, residual = preconditioner.search(
            pattern, values, b, is_free, x, tolerance, max_iterations - iterations, least, modes
        )
        iterations += more
        left = max_iterations - iterations
        if residual > tolerance and left > 0:
            # lost in a matrix that is not quite positive, or in round-off: block Jacobi bears more of both
            rest = solve(pattern, values, b, is_free, x, tolerance, left, least, None, modes)
            return Solved(int(iterations) + rest.iterations, rest.residual, rest.converged)
    return Solved(int(iterations), residual, residual <= tolerance)


# What one pass over the rows does. First (_GIVEN, _APPLY,) _RESIDUAL for the norm of b, then _ALL, _APPLY, _RESIDUAL
# for the residual of the guess; _LIKELY, _CURVE, _DESCEND once; _DIRECTION, _PRODUCT, _DESCEND as often as it takes; at
# the end _ALL, _APPLY, _RESIDUAL to see what is there, and on from _DIRECTION where that is not enough.
_DONE, _GIVEN, _ALL, _APPLY, _RESIDUAL, _LIKELY, _CURVE, _DIRECTION, _PRODUCT, _DESCEND = range(10)


@kernel(parallel=True)
def conjugate_gradients(
    chunk_start, chunk_island, row_start, column, values, inverse, is_free, has_held, b, tolerance, max_iterations,
    r, z, p, q, d, has_likely, arms, product, mode_inverse, coarse, sums, active, alpha, beta, rz, rr, bb, best, x,
    alone,
):  # fmt: skip
    """Solves for x, on one thread where `alone` says so; returns the iterations.

    r, z, p, q are work space of the shape of x, q zero at first; d is the likely direction, zero at held nodes, where
    there is one; `arms`, `product`, `mode_inverse` are those of `RigidModes`, or empty; `sums` is work space of
    (chunks, 8), `coarse`, zero at first, of (islands, 6); `active`, true at first, and
    `alpha`, `beta`, `rz` and `best` of (islands,). `rr` gets ‖b − A x‖², `bb` the larger of ‖b‖² and what it held.
    """
    iterations, restarts = 0, -1
    # first b less what held nodes add to it, for its norm; q is zero where there are none
    task = _GIVEN if has_held else _RESIDUAL
    while task != _DONE:
        if alone:  # on one thread: starting several costs more than such small systems do
            for chunk in range(len(sums)):
                _work(
                    task, chunk, chunk_start, chunk_island, alpha, beta, row_start, column, values, inverse, is_free, b,
                    r, z, p, q, d, arms, product, coarse, active, x, sums,
                )  # fmt: skip
        else:
            for chunk in numba.prange(len(sums)):
                _work(
                    task, chunk, chunk_start, chunk_island, alpha, beta, row_start, column, values, inverse, is_free, b,
                    r, z, p, q, d, arms, product, coarse, active, x, sums,
                )  # fmt: skip
        if task == _DESCEND:
            iterations += 1
        if task == _RESIDUAL:
            restarts += 1
        if task == _LIKELY:
            has_likely = False
        may_go_on = iterations < max_iterations and restarts <= RESTARTS
        task = _conclude(
            task, may_go_on, restarts == 0, has_likely, tolerance, chunk_island, mode_inverse, coarse, sums, active,
            alpha, beta, rz, rr, bb, best,
        )  # fmt: skip
    return iterations


@kernel()
def _work(
    task, chunk, chunk_start, chunk_island, alpha, beta, row_start, column, values, inverse, is_free, b,
    r, z, p, q, d, arms, product, coarse, active, x, sums,
):  # fmt: skip
    """Does one task on one chunk of rows, where its island still goes on."""
    island = chunk_island[chunk]
    if not active[island]:
        return
    start, end = chunk_start[chunk], chunk_start[chunk + 1]
    _pass(
        task, start, end, alpha[island], beta[island], row_start, column, values, inverse, is_free, b, r, z, p, q, d, x,
        sums[chunk],
    )  # fmt: skip
    if len(product) > 0 and (task == _DESCEND or task == _RESIDUAL):
        _meet_modes(start, end, arms, product, r, z, sums, chunk)
    elif len(product) > 0 and task == _DIRECTION:
        _leave_modes(start, end, arms, coarse, island, p)


@kernel()
def _conclude(
    task, may_go_on, is_norm, has_likely, tolerance, chunk_island, mode_inverse, coarse, sums, active,
    alpha, beta, rz, rr, bb, best,
):  # fmt: skip
    """Draws the consequences of a pass for every island, and returns the next task."""
    if task == _GIVEN or task == _ALL:
        return _APPLY
    if task == _APPLY:
        return _RESIDUAL
    if task == _DIRECTION:
        return _PRODUCT
    goes_on, chunk = False, 0
    for island in range(len(active)):
        first, second, start = 0.0, 0.0, chunk
        while chunk < len(sums) and chunk_island[chunk] == island:
            first += sums[chunk, 0]
            second += sums[chunk, 1]
            chunk += 1
        if not active[island]:
            continue
        if len(mode_inverse) > 0 and (task == _DESCEND or task == _RESIDUAL):
            _solve_modes(mode_inverse, island, sums, start, chunk, coarse)
        if task == _LIKELY:
            rz[island] = first
        elif task == _CURVE:
            # conjugate gradients begin behind it, with β = 0
            alpha[island] = rz[island] / first if first > 0.0 else 0.0
            rz[island] = np.inf
        elif task == _PRODUCT:
            # not so where there is no way down left in this precision, or no numbers
            active[island] = first > 0.0
            alpha[island] = rz[island] / first
        elif is_norm:
            bb[island] = max(bb[island], second)
        else:
            beta[island] = first / rz[island] if task == _DESCEND else 0.0
            rz[island], rr[island] = first, second
            best[island] = second if task == _RESIDUAL else min(best[island], second)
            # where round-off has taken over, going on leads away: begin anew from here, a few times
            goes_down = second < GONE_ASTRAY * best[island] or best[island] == 0.0
            active[island] = second > tolerance * tolerance * bb[island] and first > 0.0 and may_go_on and goes_down
        goes_on = goes_on or active[island]
    if task == _LIKELY:
        return _CURVE
    if task == _CURVE or task == _PRODUCT:
        return _DESCEND
    if goes_on and not is_norm:
        return _LIKELY if has_likely else _DIRECTION
    if task == _RESIDUAL and not is_norm:
        return _DONE
    # see what is there, in all islands
    for island in range(len(active)):
        active[island] = True
    return _ALL


@kernel(contract=True)
def _meet_modes(start, end, arms, product, r, z, sums, chunk):
    """Writes (AZ)ᵀ z − Zᵀ r of the rows from `start` to `end` behind the other sums of their chunk."""
    # six sums side by side: one after the other, each addition would wait for the one before
    a, b, c, d, e, f = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(start, end):
        Y, arm = product[i], arms[i]
        u, v, w = z[i, 0], z[i, 1], z[i, 2]
        s, t, q = r[i, 0], r[i, 1], r[i, 2]
        a += Y[0] * u + Y[6] * v + Y[12] * w - s
        b += Y[1] * u + Y[7] * v + Y[13] * w - t
        c += Y[2] * u + Y[8] * v + Y[14] * w - q
        d += Y[3] * u + Y[9] * v + Y[15] * w - (arm[1] * q - arm[2] * t)
        e += Y[4] * u + Y[10] * v + Y[16] * w - (arm[2] * s - arm[0] * q)
        f += Y[5] * u + Y[11] * v + Y[17] * w - (arm[0] * t - arm[1] * s)
    out = sums[chunk]
    out[2], out[3], out[4], out[5], out[6], out[7] = a, b, c, d, e, f


@kernel()
def _solve_modes(inverse, island, sums, start, end, coarse):
    """Writes c = E⁻¹ ((AZ)ᵀ z − Zᵀ r), (6,), from the sums of the island's chunks from `start` to `end`."""
    for m in range(6):
        coarse[island, m] = 0.0
    for k in range(6):
        total = 0.0
        for chunk in range(start, end):
            total += sums[chunk, 2 + k]
        for m in range(6):
            coarse[island, m] += inverse[island, m, k] * total


@kernel(contract=True)
def _leave_modes(start, end, arms, coarse, island, p):
    """Takes Z c from p in the rows from `start` to `end`."""
    a, b, c, d, e, f = coarse[island]
    for i in range(start, end):
        u, v, w = arms[i]
        p[i, 0] -= a + e * w - f * v
        p[i, 1] -= b + f * u - d * w
        p[i, 2] -= c + d * v - e * u


@kernel(contract=True)
def _pass(
    task, start, end, alpha, beta, row_start, column, values, inverse, is_free, b, r, z, p, q, d, x, sums
):  # fmt: skip
    """Does one task on the rows from `start` to `end`, with two sums over them.

    _GIVEN: p = x at held nodes, else 0. _ALL: p = x. _LIKELY: p = d, with r·p. _DIRECTION: p = z + β p.
    _APPLY, _CURVE, _PRODUCT: q = A p, with p·q. _RESIDUAL: r = b − q. _DESCEND: x += α p, r −= α q. The last two
    also z = M⁻¹ r, with r·z and r·r.
    """
    first, second = 0.0, 0.0
    if task == _APPLY or task == _CURVE or task == _PRODUCT:
        for i in range(start, end):
            s, t, u = multiply_row(values, column, p, row_start[i], row_start[i + 1])
            q[i, 0], q[i, 1], q[i, 2] = s, t, u
            first += s * p[i, 0] + t * p[i, 1] + u * p[i, 2]
    elif task == _DIRECTION:
        for i in range(start, end):
            p[i, 0], p[i, 1], p[i, 2] = z[i, 0] + beta * p[i, 0], z[i, 1] + beta * p[i, 1], z[i, 2] + beta * p[i, 2]
    elif task == _LIKELY:
        for i in range(start, end):
            p[i, 0], p[i, 1], p[i, 2] = d[i, 0], d[i, 1], d[i, 2]
            first += r[i, 0] * d[i, 0] + r[i, 1] * d[i, 1] + r[i, 2] * d[i, 2]
    elif task == _GIVEN or task == _ALL:
        for i in range(start, end):
            taken = 0.0 if task == _GIVEN and is_free[i] else 1.0
            p[i, 0], p[i, 1], p[i, 2] = taken * x[i, 0], taken * x[i, 1], taken * x[i, 2]
    else:
        for i in range(start, end):
            if not is_free[i]:
                continue
            if task == _DESCEND:
                x[i, 0] += alpha * p[i, 0]
                x[i, 1] += alpha * p[i, 1]
                x[i, 2] += alpha * p[i, 2]
                s, t, u = r[i, 0] - alpha * q[i, 0], r[i, 1] - alpha * q[i, 1], r[i, 2] - alpha * q[i, 2]
            else:
                s, t, u = b[i, 0] - q[i, 0], b[i, 1] - q[i, 1], b[i, 2] - q[i, 2]
            M = inverse[i]
            v, w, y = (
                M[0] * s + M[3] * t + M[5] * u,
                M[3] * s + M[1] * t + M[4] * u,
                M[5] * s + M[4] * t + M[2] * u,
            )
            r[i, 0], r[i, 1], r[i, 2] = s, t, u
            z[i, 0], z[i, 1], z[i, 2] = v, w, y
            first += s * v + t * w + u * y
            second += s * s + t * t + u * u
    sums[0], sums[1] = first, second
