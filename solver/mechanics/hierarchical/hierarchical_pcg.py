# SPDX-License-Identifier: GPL-3.0-or-later
"""Conjugate gradients for scenes with hierarchical bodies, all others preconditioned per node.

As in `linalg/pcg.py` islands are solved side by side, each with its own coefficients and its own end, those that are
coupled together; held nodes are filtered, and what they do to the others counts as right-hand side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...linalg.block_jacobi import invert_diagonal
from ...linalg.block_pattern import BlockPattern
from ...linalg.block_system import BlockSystem, StoppingCriteria
from ...linalg.pcg import SolveResult
from ...runtime.arrays import Bools, Floats
from ...runtime.jit import kernel
from .island_rigid_modes import FreeRigidModes
from .level_preconditioner import LevelPreconditioner, block_products

MIN_SQUARED_NORM = 1.0e-300  # ‖b‖² that counts as none
MAX_RESTARTS = 3

MatrixProduct = Callable[[Floats], Floats]


class _IslandSums:
    """Sums over islands and over clusters of them."""

    def __init__(self, pattern: BlockPattern) -> None:
        start, members = pattern.clusters
        self.cluster = np.empty(pattern.island_count, np.int64)
        self.cluster[members] = np.repeat(np.arange(len(start) - 1, dtype=np.int64), np.diff(start))
        self.count, self.start = len(start) - 1, pattern.island_start
        self.are_alone = self.count == pattern.island_count

    def islands(self, a: Floats, b: Floats) -> Floats:
        """Returns a·b of the islands, (k,)."""
        out = np.empty(len(self.start) - 1)
        sum_products(self.start, a, b, out)
        return out

    def clusters(self, of_islands: Floats) -> Floats:
        """Returns the sums of what belongs to islands over their clusters, (k,)."""
        if self.are_alone:
            return of_islands
        return np.asarray(np.bincount(self.cluster, of_islands, self.count), float)[self.cluster]


def solve_pcg(
    system: BlockSystem,
    x: Floats,
    stopping: StoppingCriteria,
    product: MatrixProduct,
    bodies: Sequence[tuple[slice, LevelPreconditioner]],
    X: Floats,
    initial_direction: Floats | None,
) -> SolveResult:
    """Solves A x = b for the free nodes, from what `x` holds.

    Args:
        system: A without what is not in its blocks, and b.
        x, stopping, initial_direction: As for `linalg.pcg.solve`.
        product: A times vectors of the nodes, (n, 3).
        bodies: Nodes and preconditioner of every hierarchical body.
        X: Node positions [m], (n, 3), from which motions as a whole follow.
    """
    pattern, is_free, max_iterations = system.pattern, system.is_free, stopping.max_iterations
    free, sums = is_free[:, None], _IslandSums(pattern)
    motions = FreeRigidModes(pattern, is_free, X, product)
    inverse = np.empty((pattern.node_count, 9))
    invert_diagonal(pattern.diagonal, is_free, system.values, inverse)

    def precondition(r: Floats) -> Floats:
        z = block_products(inverse, r)
        for nodes, own in bodies:
            z[nodes] = own.apply(r[nodes])
        clear_fixed(is_free, z)
        return motions.a_orthogonalize(z)

    own_b = free * (system.b - product(np.where(free, 0.0, x)))
    floor = 0.0 if stopping.norm_floor is None else np.square(stopping.norm_floor)
    scale = np.maximum(np.maximum(sums.islands(own_b, own_b), floor), MIN_SQUARED_NORM)
    goal = stopping.tolerance**2 * scale
    iterations = 0
    for restart in range(MAX_RESTARTS + 1):
        r = free * (system.b - product(x))
        motions.balance(r, x)
        if _is_converged(sums, r, goal).all() or iterations >= max_iterations:
            break
        if initial_direction is not None and restart == 0:
            d = motions.a_orthogonalize(initial_direction * free)
            q = free * product(d)
            along = _quotient(sums.clusters(sums.islands(d, r)), sums.clusters(sums.islands(d, q)))
            update_solution(pattern.island_start, along, d, q, x, r)
        iterations += _iterate(sums, product, precondition, is_free, r, x, goal, max_iterations - iterations)
    squares = sums.islands(r, r) / scale
    residual = float(np.sqrt(squares.max(initial=0.0)))
    return SolveResult(iterations, residual, bool(residual <= stopping.tolerance), work=float(iterations))


def _iterate(
    sums: _IslandSums,
    product: MatrixProduct,
    precondition: MatrixProduct,
    is_free: Bools,
    r: Floats,
    x: Floats,
    goal: Floats,
    max_iterations: int,
) -> int:
    """Updates x and its residual r until ‖r‖² is at most `goal`, (k,), in every island; returns the iterations."""
    p = precondition(r)
    rz = sums.clusters(sums.islands(r, p))
    for iteration in range(max_iterations):
        is_left = sums.clusters(np.where(_is_converged(sums, r, goal), 0.0, 1.0)) > 0.0
        if not is_left.any():
            return iteration
        q = product(p)
        clear_fixed(is_free, q)
        curve = sums.clusters(sums.islands(p, q))
        is_active = is_left & (curve > 0.0) & (rz > 0.0)
        if not is_active.any():
            return iteration
        update_solution(sums.start, np.where(is_active, _quotient(rz, curve), 0.0), p, q, x, r)
        z = precondition(r)
        after = sums.clusters(sums.islands(r, z))
        update_direction(sums.start, np.where(is_active, _quotient(after, rz), 0.0), z, p)
        rz = after
    return max_iterations


def _is_converged(sums: _IslandSums, r: Floats, goal: Floats) -> Bools:
    """Returns which islands are solved, (k,)."""
    return np.asarray(sums.islands(r, r) <= goal)


def _quotient(a: Floats, b: Floats) -> Floats:
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0.0)


@kernel(allow_fma=True)
def sum_products(island_start, a, b, out):
    """Writes a·b of every island, (k,), for what nodes have, (n, 3)."""
    for island in range(len(out)):
        total = 0.0
        for i in range(island_start[island], island_start[island + 1]):
            total += a[i, 0] * b[i, 0] + a[i, 1] * b[i, 1] + a[i, 2] * b[i, 2]
        out[island] = total


@kernel(allow_fma=True)
def update_solution(island_start, share, p, q, x, r):
    """Adds `share`, (k,), of p to x, and takes that of q from r, (n, 3) each."""
    for island in range(len(share)):
        for i in range(island_start[island], island_start[island + 1]):
            for axis in range(3):
                x[i, axis] += share[island] * p[i, axis]
                r[i, axis] -= share[island] * q[i, axis]


@kernel(allow_fma=True)
def update_direction(island_start, share, z, p):
    """Writes z + `share` p, with a share per island, (k,), as p, (n, 3)."""
    for island in range(len(share)):
        for i in range(island_start[island], island_start[island + 1]):
            for axis in range(3):
                p[i, axis] = z[i, axis] + share[island] * p[i, axis]


@kernel()
def clear_fixed(is_free, v):
    """Writes zero where nodes are held, (n, 3)."""
    for i in range(len(is_free)):
        if not is_free[i]:
            v[i, 0], v[i, 1], v[i, 2] = 0.0, 0.0, 0.0
