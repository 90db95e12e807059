# SPDX-License-Identifier: GPL-3.0-or-later
"""Symmetric systems of rigid bodies, six unknowns each: blocks of 6×6 on the diagonal and between pairs of bodies."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..runtime.arrays import Floats, Indices
from ..runtime.jit import kernel
from .body_block_cholesky import SIZE, BlockFactors, factor_blocks, order_elimination, solve_factored


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
def multiply_blocks(blocks, bodies, pairs, x, y):
    """Writes A x into y, (n, 6) each, by the blocks of some bodies and pairs alone; other rows stay as they are."""
    diagonal, coupling = blocks.diagonal, blocks.coupling
    for body in bodies:
        for i in range(SIZE):
            total = 0.0
            for j in range(SIZE):
                total += diagonal[body, i, j] * x[body, j]
            y[body, i] = total
    for pair in pairs:
        one, other = blocks.first[pair], blocks.second[pair]
        for i in range(SIZE):
            total, of_one = 0.0, x[one, i]
            for j in range(SIZE):
                total += coupling[pair, i, j] * x[other, j]
                y[other, j] += coupling[pair, i, j] * of_one
            y[one, i] += total


@kernel()
def order_blocks(blocks):
    """Returns a `BlockElimination` of `BodyBlocks`: of all blocks, or of the diagonal where that has much fill."""
    elimination = order_elimination(len(blocks.diagonal), blocks.first, blocks.second)
    if len(elimination.order) == len(blocks.diagonal):
        return elimination
    return order_elimination(len(blocks.diagonal), blocks.first[:0], blocks.second[:0])


@kernel()
def allocate_factors(blocks, elimination):
    """Returns room for the factors of `solve_body_blocks` and for the couplings that they are made of."""
    factors = BlockFactors(np.empty((len(blocks.diagonal), SIZE, SIZE)), np.empty((len(elimination.body), SIZE, SIZE)))
    return factors, np.empty((len(elimination.first), SIZE, SIZE))


@kernel()
def solve_body_blocks(blocks, elimination, is_solved, r, tolerance, floor, max_iterations, x, room):
    """Writes A⁻¹ r of solved bodies into x, and zero of the others, (n, 6); returns ρ = rᵀ M⁻¹ r at the start, and the
    number of iterations.

    Conjugate gradients with the preconditioner M = L Lᵀ, which is A or the blocks on its diagonal, until √ρ has fallen
    by a tolerance.

    Args:
        blocks: `BodyBlocks`.
        elimination: `order_blocks` of blocks with these pairs.
        is_solved: Which bodies have unknowns, (n,); those of the others are zero.
        r: Right-hand side, (n, 6); what is left of it afterwards.
        tolerance, max_iterations: See above.
        floor: ρ that is low enough.
        x: Out.
        room: Of `allocate_factors`.
    """
    count = len(r)
    z, p, q = np.empty_like(r), np.empty_like(r), np.empty_like(r)
    factors, edges = room
    for body in range(count):
        for i in range(SIZE):
            x[body, i], p[body, i] = 0.0, 0.0
            if not is_solved[body]:
                r[body, i] = 0.0
    bodies = np.flatnonzero(is_solved)
    pairs = np.flatnonzero(is_solved[blocks.first] & is_solved[blocks.second])
    factor_blocks(elimination, blocks, is_solved, edges, factors)
    solve_factored(elimination, factors, is_solved, r, z)
    start = rho = _dot(bodies, r, z)
    enough, before = max(tolerance * tolerance * rho, floor), np.inf
    for iteration in range(max_iterations):
        if not rho > enough:
            return start, iteration
        for body in bodies:
            for i in range(SIZE):
                p[body, i] = z[body, i] + rho / before * p[body, i]
        multiply_blocks(blocks, bodies, pairs, p, q)
        alpha = rho / _dot(bodies, p, q)
        for body in bodies:
            for i in range(SIZE):
                x[body, i] += alpha * p[body, i]
                r[body, i] -= alpha * q[body, i]
        solve_factored(elimination, factors, is_solved, r, z)
        before, rho = rho, _dot(bodies, r, z)
    return start, max_iterations


@kernel(device_only=True)
def _dot(bodies, one, other):
    total = 0.0
    for body in bodies:
        for i in range(SIZE):
            total += one[body, i] * other[body, i]
    return total
