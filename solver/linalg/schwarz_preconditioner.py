# SPDX-License-Identifier: GPL-3.0-or-later
"""Conjugate gradients beside a factor of the rows of some nodes, for springs that are far stiffer than what they tie.

Springs of stiffness k between nodes that move together make block Jacobi slow: its iterations grow with √k. With

    M = P A P + (I − P) D (I − P),

P on the tied nodes and D the diagonal blocks of A, a motion that draws out the springs has as much energy in M as in A.
So the iterations are those of the bodies without springs, whatever k is. Own derivation; it is a Schwarz method with
one subdomain beside single nodes (Smith, Bjørstad and Gropp 1996, Domain Decomposition, chapter 1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..runtime.arrays import Bools, Floats
from ..runtime.row_dot_products import row_dot_products
from .block_jacobi import invert_diagonal
from .block_pattern import BlockPattern
from .block_system import BlockSystem, StoppingCriteria
from .convergence_rate import RateCheck
from .pcg import PcgWorkspace, PreconditionedSolve
from .rigid_modes import RigidModes

if TYPE_CHECKING:
    import numpy.typing as npt
    from scipy.sparse import csc_matrix


@dataclass(frozen=True, eq=False)
class SchwarzPreconditioner:
    """A preconditioner for systems in which some nodes are tied to each other; a `Preconditioner`.

    Attributes:
        is_tied: Which nodes, (n,).
    """

    is_tied: Bools

    def iteration_limit(self, pattern: BlockPattern, is_free: Bools, tolerance: float) -> tuple[int, int]:
        """Returns that no iterations of block Jacobi come first."""
        return 0, 0

    def rate_check(self, stopping: StoppingCriteria) -> RateCheck:
        """Returns what is not asked for, since block Jacobi does not come first."""
        return RateCheck.of_block_jacobi()

    def solve(
        self,
        system: BlockSystem,
        x: Floats,
        stopping: StoppingCriteria,
        modes: RigidModes | None,
        workspace: PcgWorkspace,
        jacobi_rate: float | None,
    ) -> PreconditionedSolve:
        """Solves as `linalg.pcg.solve` does, from what `x` holds; rigid modes are left to the iterations."""
        # takes a tenth of the time in which a bake loads, and only what is fixed to another body needs it
        from scipy.sparse import bsr_matrix

        pattern, free = system.pattern, system.is_free[:, None]
        blocks, count = system.values.reshape(-1, 3, 3), 3 * pattern.node_count
        A = bsr_matrix((blocks, pattern.column, pattern.row_start), (count, count))
        preconditioned = _Preconditioned(system, self.is_tied & system.is_free)
        starts = np.asarray(pattern.island_start, np.int64)[:-1]
        floor = np.zeros(len(starts)) if stopping.norm_floor is None else np.square(stopping.norm_floor)
        bb = np.maximum(np.add.reduceat(row_dot_products(system.b * free, system.b * free), starts), floor)
        limit = stopping.tolerance**2 * bb

        def squares(r: Floats) -> Floats:
            return np.asarray(np.add.reduceat(row_dot_products(r, r), starts), np.float64)

        r = free * (system.b - (A @ x.ravel()).reshape(-1, 3))
        size, iterations, best = squares(r), 0, x.copy()
        least = _relative(size, bb)
        z = preconditioned.apply(r)
        p, rz = z.copy(), _dot(r, z)
        while iterations < stopping.max_iterations and not (size <= limit).all() and rz > 0.0:
            product = free * (A @ p.ravel()).reshape(-1, 3)
            curvature = _dot(p, product)
            if not curvature > 0.0:
                break
            step = rz / curvature
            x += step * p
            r -= step * product
            iterations, size = iterations + 1, squares(r)
            found = _relative(size, bb)
            if found < least:
                least, best = found, x.copy()
            z = preconditioned.apply(r)
            previous, rz = rz, _dot(r, z)
            p = z + rz / previous * p
        x[:] = best
        return PreconditionedSolve(iterations, least, float(iterations))


class _Preconditioned:
    """M⁻¹ r: a factor of A on tied nodes, and the inverses of diagonal blocks on the others."""

    def __init__(self, system: BlockSystem, is_tied: Bools) -> None:
        from scipy.sparse.linalg import splu

        pattern = system.pattern
        inverse = np.zeros((pattern.node_count, 9))
        invert_diagonal(pattern.diagonal, system.is_free & ~is_tied, system.values, inverse)
        self.inverse, self.tied = inverse.reshape(-1, 3, 3), np.flatnonzero(is_tied)
        self.factor: Any = None
        if len(self.tied):
            own = _rows_and_columns(pattern, system.values, self.tied)
            self.factor = splu(own, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})

    def apply(self, r: Floats) -> Floats:
        """Returns M⁻¹ r, (n, 3)."""
        z = np.einsum("nij,nj->ni", self.inverse, r)
        if self.factor is not None:
            z[self.tied] = self.factor.solve(r[self.tied].ravel()).reshape(-1, 3)
        return z


def _rows_and_columns(pattern: BlockPattern, values: Floats, nodes: npt.NDArray[np.int64]) -> csc_matrix:
    """Returns the part of a matrix, (b, 9), that joins some nodes, rising, (k,), to each other, (3k, 3k)."""
    from scipy.sparse import bsr_matrix

    place = np.full(pattern.node_count, -1, np.int64)
    place[nodes] = np.arange(len(nodes), dtype=np.int64)
    row = np.repeat(place, np.diff(pattern.row_start.astype(np.int64)))
    column = place[pattern.column]
    joins = np.flatnonzero((row >= 0) & (column >= 0))
    start = np.searchsorted(row[joins], np.arange(len(nodes) + 1, dtype=np.int64))
    count = 3 * len(nodes)
    return bsr_matrix((values[joins].reshape(-1, 3, 3), column[joins], start), (count, count)).tocsc()


def _dot(a: Floats, b: Floats) -> float:
    """Returns a·b; np.dot's sum depends on the number of threads."""
    return float(np.sum(a * b))


def _relative(size: Floats, bb: Floats) -> float:
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.where(size > 0.0, size / bb, 0.0)
    return math.sqrt(float(np.max(found, initial=0.0))) if np.isfinite(found).all() else math.inf
