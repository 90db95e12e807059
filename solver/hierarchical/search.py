# SPDX-License-Identifier: GPL-3.0-or-later
"""Conjugate gradients for scenes with hierarchical bodies, all others preconditioned per node.

As in `linear/pcg.py` islands are solved side by side, each with its own coefficients and its own end, those that are
coupled together; held nodes are filtered, and what they do to the others counts as right-hand side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..arrays import Bools, Floats
from ..linear.block_jacobi import invert_diagonal
from ..linear.pattern import BlockPattern
from ..linear.pcg import Solved
from .free_motion import FreeMotions
from .preconditioner import LevelPreconditioner, multiply_blocks

SMALLEST = 1.0e-300  # ‖b‖² that counts as none
RESTARTS = 3

Product = Callable[[Floats], Floats]


class _Sums:
    """Sums over clusters of islands."""

    def __init__(self, pattern: BlockPattern) -> None:
        start, members = pattern.clusters
        self.cluster = np.empty(pattern.island_count, np.int64)
        self.cluster[members] = np.repeat(np.arange(len(start) - 1), np.diff(start))
        self.count, self.starts = len(start) - 1, pattern.island_start[:-1].astype(np.int64)
        self.of_node = np.repeat(self.cluster, np.diff(pattern.island_start.astype(np.int64)))

    def islands(self, a: Floats, b: Floats) -> Floats:
        """Returns a·b of the islands, (k,)."""
        return np.asarray(np.add.reduceat(np.einsum("ni,ni->n", a, b), self.starts))

    def clusters(self, a: Floats, b: Floats) -> Floats:
        """Returns a·b of the clusters, (c,)."""
        return np.asarray(np.bincount(self.cluster, self.islands(a, b), self.count), float)

    def at_nodes(self, values: Floats) -> Floats:
        """Returns what belongs to clusters, (c,), at nodes, (n, 1)."""
        return np.asarray(values[self.of_node, None])


def search(
    pattern: BlockPattern,
    values: Floats,
    product: Product,
    bodies: Sequence[tuple[slice, LevelPreconditioner]],
    b: Floats,
    is_free: Bools,
    x: Floats,
    tolerance: float,
    max_iterations: int,
    least: Floats,
    likely: Floats | None,
    X: Floats,
) -> Solved:
    """Solves A x = b for the free nodes, from what `x` holds.

    Args:
        pattern, values: Of A but for what is beyond its blocks, (b, 9).
        product: A times what nodes have, (n, 3).
        bodies: Nodes and preconditioner of every hierarchical body.
        b, is_free, x, tolerance, max_iterations, least, likely: As for `linear.pcg.solve`.
        X: Where nodes are [m], (n, 3), of which motions as a whole follow.
    """
    free, sums = is_free[:, None], _Sums(pattern)
    motions = FreeMotions(pattern, is_free, X, product)
    inverse = np.empty((pattern.node_count, 9))
    invert_diagonal(pattern.diagonal, is_free, values, inverse)

    def precondition(r: Floats) -> Floats:
        z = np.empty_like(r)
        multiply_blocks(0, inverse, r, z)
        for nodes, own in bodies:
            z[nodes] = own.apply(r[nodes])
        return motions.make_orthogonal(np.asarray(z * free))

    own_b = free * (b - product(np.where(free, 0.0, x)))
    scale = np.maximum(np.maximum(sums.islands(own_b, own_b), np.square(least)), SMALLEST)
    iterations = 0
    for restart in range(RESTARTS + 1):
        r = free * (b - product(x))
        motions.balance(r, x)
        if _within(sums, r, scale, tolerance).all() or iterations >= max_iterations:
            break
        if likely is not None and restart == 0:
            d = motions.make_orthogonal(likely * free)
            q = free * product(d)
            x += sums.at_nodes(_share(sums.clusters(d, r), sums.clusters(d, q))) * d
            r = free * (b - product(x))
        iterations += _descend(sums, product, precondition, free, r, x, scale, tolerance, max_iterations - iterations)
    found = sums.islands(r, r) / scale
    residual = float(np.sqrt(found.max(initial=0.0)))
    return Solved(iterations, residual, bool(residual <= tolerance))


def _descend(
    sums: _Sums, product: Product, precondition: Product, free: Bools, r: Floats, x: Floats, scale: Floats,
    tolerance: float, most: int,
) -> int:  # fmt: skip
    """Moves x on until r, which goes along, is small in every cluster; returns the iterations."""
    z = precondition(r)
    p, rz = z.copy(), sums.clusters(r, z)
    for iteration in range(most):
        is_left = np.bincount(sums.cluster, ~_within(sums, r, scale, tolerance), sums.count) > 0
        q = free * product(p)
        curve = sums.clusters(p, q)
        goes = is_left & (curve > 0.0) & (rz > 0.0)
        if not goes.any():
            return iteration
        alpha = sums.at_nodes(np.where(goes, _share(rz, curve), 0.0))
        x += alpha * p
        r -= alpha * q
        z = precondition(r)
        after = sums.clusters(r, z)
        p = z + sums.at_nodes(np.where(goes, _share(after, rz), 0.0)) * p
        rz = after
    return most


def _within(sums: _Sums, r: Floats, scale: Floats, tolerance: float) -> Bools:
    """Returns which islands are solved, (k,)."""
    return np.asarray(sums.islands(r, r) <= tolerance**2 * scale)


def _share(a: Floats, b: Floats) -> Floats:
    return np.asarray(np.divide(a, b, out=np.zeros_like(a), where=b > 0.0))
