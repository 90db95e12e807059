# SPDX-License-Identifier: GPL-3.0-or-later
"""SciPy's conjugate gradients as a peer, with the blocks of the diagonal inverted."""

from __future__ import annotations

import numpy as np
import scipy.sparse
from scipy.sparse.linalg import LinearOperator, cg

from sinew.solver.linalg.block_pattern import BlockPattern
from sinew.solver.runtime.arrays import Bools, Floats
from speed.timing import interleaved_times, medians

ITERATIONS = 20


class ScipyConjugateGradients:
    """Conjugate gradients on the free nodes of a system, as one writes them with SciPy.

    Attributes:
        name: "CSR" or "BSR", whichever product is faster.
    """

    def __init__(self, pattern: BlockPattern, values: Floats, is_free: Bools) -> None:
        blocks = (values.reshape(-1, 3, 3), pattern.column.astype(np.int32), pattern.row_start.astype(np.int32))
        rows = np.flatnonzero(np.repeat(is_free, 3))
        self.is_free = is_free
        csr = scipy.sparse.csr_matrix(scipy.sparse.bsr_matrix(blocks))[rows][:, rows]
        matrices = {"CSR": csr, "BSR": csr.tobsr((3, 3))}
        x = np.ones(len(rows))
        taken = medians(interleaved_times({name: lambda m=m: m @ x for name, m in matrices.items()}))
        self.name = min(taken, key=lambda name: taken[name])
        self.matrix = matrices[self.name]
        inverse = np.linalg.inv(values[pattern.diagonal][is_free].reshape(-1, 3, 3))
        self.preconditioner = LinearOperator(
            csr.shape, lambda r: np.einsum("nij,nj->ni", inverse, r.reshape(-1, 3)).ravel(), dtype=np.float64
        )

    def solve(self, b: Floats, iterations: int = ITERATIONS) -> Floats:
        """Returns what so many iterations from zero come to, (n, 3)."""
        found = np.zeros_like(b)
        x, _ = cg(self.matrix, b[self.is_free].ravel(), rtol=0.0, maxiter=iterations, M=self.preconditioner)
        found[self.is_free] = x.reshape(-1, 3)
        return found
