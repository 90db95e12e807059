# SPDX-License-Identifier: GPL-3.0-or-later
"""Motions of islands as a whole, solved for exactly: for islands that nothing holds and that touch no other.

So momentum is kept to round-off, whatever the tolerance. Source: Nicolaides 1987, Deflation of conjugate gradients.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...linalg.block_pattern import BlockPattern
from ...runtime.arrays import Bools, Floats
from ...runtime.row_dot_products import row_dot_products

MIN_EIGENVALUE_RATIO = 1.0e-10  # of the largest eigenvalue of ZᵀAZ: what motions are told apart by


class FreeRigidModes:
    """The modes Z of k islands, their products A Z, and (ZᵀAZ)⁻¹, zero for islands that have none."""

    def __init__(self, pattern: BlockPattern, is_free: Bools, X: Floats, times: Callable[[Floats], Floats]) -> None:
        """Takes positions, (n, 3), and what multiplies with A."""
        self.starts = pattern.island_start[:-1].astype(np.int64)
        self.of_node = pattern.island_of_row
        start, members = pattern.clusters
        alone = np.zeros(pattern.island_count, bool)
        alone[members] = np.repeat(np.diff(start) == 1, np.diff(start))
        alone &= np.logical_and.reduceat(is_free, self.starts)
        self.any = bool(alone.any())
        if not self.any:
            return
        counts = np.diff(pattern.island_start.astype(np.int64))
        arms = X - (np.add.reduceat(X, self.starts) / counts[:, None])[self.of_node]
        size = np.sqrt(np.add.reduceat(row_dot_products(arms, arms), self.starts) / counts)
        arms /= np.maximum(size, 1.0e-300)[self.of_node, None]
        own = alone[self.of_node, None]
        axes = np.eye(3)
        self.modes = [own * axes[None, k] for k in range(3)] + [own * np.cross(axes[k], arms) for k in range(3)]
        self.products = [times(mode) for mode in self.modes]
        E = np.array([[self._sums(z, q) for q in self.products] for z in self.modes])
        self.inverse = np.linalg.pinv(E.transpose(2, 0, 1), rcond=MIN_EIGENVALUE_RATIO, hermitian=True)

    def balance(self, r: Floats, x: Floats) -> None:
        """Moves x, (n, 3), as a whole, to where Zᵀ(b − A x) = 0; r is b − A x, and goes along."""
        if self.any:
            share = self._coefficients(np.array([self._sums(z, r) for z in self.modes]))
            for mode, product, own in zip(self.modes, self.products, share, strict=True):
                x += own[self.of_node, None] * mode
                r -= own[self.of_node, None] * product

    def a_orthogonalize(self, z: Floats) -> Floats:
        """Returns z without what is not A-orthogonal to the motions, (n, 3)."""
        if not self.any:
            return z
        share = self._coefficients(np.array([self._sums(q, z) for q in self.products]))
        for mode, own in zip(self.modes, share, strict=True):
            z = z - own[self.of_node, None] * mode
        return z

    def _coefficients(self, lacking: Floats) -> Floats:
        return np.asarray(np.einsum("kij,jk->ik", self.inverse, lacking))

    def _sums(self, a: Floats, b: Floats) -> Floats:
        return np.asarray(np.add.reduceat(np.einsum("ni,ni->n", a, b), self.starts))
