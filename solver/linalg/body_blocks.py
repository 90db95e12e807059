# SPDX-License-Identifier: GPL-3.0-or-later
"""Symmetric systems of rigid bodies, six unknowns each: blocks of 6×6 on the diagonal and between pairs of bodies."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..runtime.arrays import Floats, Indices
from ..runtime.jit import kernel

SIZE = 6  # unknowns of a body
MIN_PIVOT_RATIO = 1.0e-14  # pivot over the number on the diagonal below which a motion is left out


class BodyBlocks(NamedTuple):
    """A symmetric matrix A of n bodies.

    Attributes:
        diagonal: Blocks of the bodies, (n, 6, 6).
        first, second: Pairs of different bodies, each once, (p,) each.
        coupling: Rows of the first and columns of the second of each, (p, 6, 6).
    """

    diagonal: Floats
    first: Indices
    second: Indices
    coupling: Floats


@kernel(device_only=True, allow_fma=True)
def multiply_blocks(blocks, x, y):
    """Writes A x into y, (n, 6) each."""
    diagonal, coupling = blocks.diagonal, blocks.coupling
    for body in range(len(x)):
        for i in range(SIZE):
            total = 0.0
            for j in range(SIZE):
                total += diagonal[body, i, j] * x[body, j]
            y[body, i] = total
    for pair in range(len(coupling)):
        one, other = blocks.first[pair], blocks.second[pair]
        for i in range(SIZE):
            total, of_one = 0.0, x[one, i]
            for j in range(SIZE):
                total += coupling[pair, i, j] * x[other, j]
                y[other, j] += coupling[pair, i, j] * of_one
            y[one, i] += total


@kernel(device_only=True)
def factor_diagonal(diagonal, factor):
    """Writes Cholesky's factors of the blocks on the diagonal, (n, 6, 6), with inverted pivots."""
    for body in range(len(diagonal)):
        own, L = diagonal[body], factor[body]
        for i in range(SIZE):
            for j in range(i + 1):
                total = own[i, j]
                for k in range(j):
                    total -= L[i, k] * L[j, k]
                if i == j:
                    L[i, i] = 1.0 / np.sqrt(total) if total > MIN_PIVOT_RATIO * own[i, i] else 0.0
                else:
                    L[i, j] = total * L[j, j]


@kernel(device_only=True)
def solve_diagonal(factor, is_solved, b, x):
    """Writes D⁻¹ b of solved bodies into x, and zero of the others, (n, 6) each; D are the blocks on the diagonal."""
    for body in range(len(b)):
        L, y = factor[body], x[body]
        if not is_solved[body]:
            y[:] = 0.0
            continue
        for i in range(SIZE):
            total = b[body, i]
            for k in range(i):
                total -= L[i, k] * y[k]
            y[i] = total * L[i, i]
        for i in range(SIZE - 1, -1, -1):
            total = y[i]
            for k in range(i + 1, SIZE):
                total -= L[k, i] * y[k]
            y[i] = total * L[i, i]


@kernel()
def solve_body_blocks(blocks, is_solved, r, tolerance, max_iterations, x):
    """Writes A⁻¹ r of solved bodies into x, and zero of the others, (n, 6); returns the number of iterations.

    Conjugate gradients with the inverse blocks on the diagonal as preconditioner D⁻¹, until ‖r‖ in the norm of D⁻¹ has
    fallen by the tolerance.

    Args:
        blocks: `BodyBlocks`.
        is_solved: Which bodies have unknowns, (n,); those of the others are zero.
        r: Right-hand side, (n, 6); what is left of it afterwards.
        tolerance, max_iterations: See above.
        x: Out.
    """
    count = len(r)
    factor, z, p, q = np.zeros((count, SIZE, SIZE)), np.empty_like(r), np.empty_like(r), np.empty_like(r)
    factor_diagonal(blocks.diagonal, factor)
    for body in range(count):
        for i in range(SIZE):
            x[body, i] = 0.0
            if not is_solved[body]:
                r[body, i] = 0.0
    solve_diagonal(factor, is_solved, r, z)
    p[:] = z
    rho = _dot(r, z)
    enough = tolerance * tolerance * rho
    for iteration in range(max_iterations):
        if not rho > enough:
            return iteration
        multiply_blocks(blocks, p, q)
        alpha = rho / _dot(p, q)
        for body in range(count):
            for i in range(SIZE):
                x[body, i] += alpha * p[body, i]
                r[body, i] = r[body, i] - alpha * q[body, i] if is_solved[body] else 0.0
        solve_diagonal(factor, is_solved, r, z)
        before, rho = rho, _dot(r, z)
        for body in range(count):
            for i in range(SIZE):
                p[body, i] = z[body, i] + rho / before * p[body, i]
    return max_iterations


@kernel(device_only=True)
def _dot(one, other):
    total = 0.0
    for body in range(len(one)):
        for i in range(SIZE):
            total += one[body, i] * other[body, i]
    return total
