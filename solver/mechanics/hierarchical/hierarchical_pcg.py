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
    pattern: BlockPattern,
    values: Floats,
    product: MatrixProduct,
    bodies: Sequence[tuple[slice, LevelPreconditioner]],
    b: Floats,
    is_free: Bools,
    x: Floats,
    tolerance: float,
    max_iterations: int,
    least: Floats,
    likely: Floats | None,
    X: Floats,
) -> SolveResult:
    """Solves A x = b for the free nodes, from what `x` holds.

    Args:
        pattern, values: Of A but for what is beyond its blocks, (b, 9).
        product: A times what nodes have, (n, 3).
        bodies: Nodes and preconditioner of every hierarchical body.
        b, is_free, x, tolerance, max_iterations, least, likely: As for `linear.pcg.solve`.
        X: Where nodes are [m], (n, 3), of which motions as a whole follow.
    """
    free, sums = is_free[:, None], _IslandSums(pattern)
    motions = FreeRigidModes(pattern, is_free, X, product)
    inverse = np.empty((pattern.node_count, 9))
    invert_diagonal(pattern.diagonal, is_free, values, inverse)

    def precondition(r: Floats) -> Floats:
        z = block_products(inverse, r)
        for nodes, own in bodies:
            z[nodes] = own.apply(r[nodes])
        clear_fixed(is_free, z)
        return motions.a_orthogonalize(z)

    own_b = free * (b - product(np.where(free, 0.0, x)))
    scale = np.maximum(np.maximum(sums.islands(own_b, own_b), np.square(least)), MIN_SQUARED_NORM)
    iterations = 0
    for restart in range(MAX_RESTARTS + 1):
        r = free * (b - product(x))
        motions.balance(r, x)
        if _is_converged(sums, r, scale, tolerance).all() or iterations >= max_iterations:
            break
        if likely is not None and restart == 0:
            d = motions.a_orthogonalize(likely * free)
            q = free * product(d)
            along = _quotient(sums.clusters(sums.islands(d, r)), sums.clusters(sums.islands(d, q)))
            update_solution(pattern.island_start, along, d, q, x, r)
        iterations += _iterate(
            sums, product, precondition, is_free, r, x, scale, tolerance, max_iterations - iterations
        )
    found = sums.islands(r, r) / scale
    residual = float(np.sqrt(found.max(initial=0.0)))
    return SolveResult(iterations, residual, bool(residual <= tolerance), work=float(iterations))


def _iterate(
    sums: _IslandSums,
    product: MatrixProduct,
    precondition: MatrixProduct,
    is_free: Bools,
    r: Floats,
    x: Floats,
    scale: Floats,
    tolerance: float,
    most: int,
) -> int:
    """Moves x on until r, which goes along, is small in every cluster; returns the iterations."""
    p = precondition(r)
    rz = sums.clusters(sums.islands(r, p))
    for iteration in range(most):
        is_left = sums.clusters(np.where(_is_converged(sums, r, scale, tolerance), 0.0, 1.0)) > 0.0
        if not is_left.any():
            return iteration
        q = product(p)
        clear_fixed(is_free, q)
        curve = sums.clusters(sums.islands(p, q))
        goes = is_left & (curve > 0.0) & (rz > 0.0)
        if not goes.any():
            return iteration
        update_solution(sums.start, np.where(goes, _quotient(rz, curve), 0.0), p, q, x, r)
        z = precondition(r)
        after = sums.clusters(sums.islands(r, z))
        update_direction(sums.start, np.where(goes, _quotient(after, rz), 0.0), z, p)
        rz = after
    return most


def _is_converged(sums: _IslandSums, r: Floats, scale: Floats, tolerance: float) -> Bools:
    """Returns which islands are solved, (k,)."""
    return np.asarray(sums.islands(r, r) <= tolerance**2 * scale)


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
