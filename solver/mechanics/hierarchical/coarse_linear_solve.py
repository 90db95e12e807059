# SPDX-License-Identifier: GPL-3.0-or-later
"""Solves with the coarse matrix of a hierarchical body: by sparse LU factors, or by conjugate gradients."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...linalg.block_pattern import BlockPattern
from ...linalg.block_system import BlockSystem, StoppingCriteria
from ...linalg.pcg import solve
from ...runtime.arrays import Bools, Floats

RESIDUAL_TOLERANCE = 1.0e-3  # share of the right-hand side that conjugate gradients leave
MAX_ITERATIONS = 200


def lu_solver(pattern: BlockPattern, values: Floats, is_free: Bools) -> Callable[[Floats], Floats]:
    """Returns what solves A x = b for the free nodes, others get zero; b and x are (n, 3).

    Source: Li 2005, SuperLU; columns in the order of minimum degree, which suits a symmetric pattern.
    """
    from scipy.sparse import bsr_matrix
    from scipy.sparse.linalg import splu

    rows = np.repeat(np.arange(pattern.node_count, dtype=np.int64), np.diff(pattern.row_start.astype(np.int64)))
    columns = pattern.column.astype(np.int64)
    blocks = values.reshape(-1, 3, 3) * (is_free[rows] & is_free[columns])[:, None, None]
    blocks[pattern.diagonal[~is_free]] = np.eye(3)
    size = 3 * pattern.node_count
    matrix = bsr_matrix((blocks, columns, pattern.row_start.astype(np.int64)), (size, size))
    factors = splu(matrix.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    free = is_free[:, None]
    return lambda b: np.asarray(factors.solve((b * free).ravel())).reshape(-1, 3) * free


def conjugate_gradient_solver(pattern: BlockPattern, values: Floats, is_free: Bools) -> Callable[[Floats], Floats]:
    """Returns what solves A x = b for the free nodes by conjugate gradients with blocks of the diagonal."""

    def answer(b: Floats) -> Floats:
        x = np.zeros_like(b)
        solve(BlockSystem(pattern, values, b, is_free), x, StoppingCriteria(RESIDUAL_TOLERANCE, MAX_ITERATIONS))
        return x

    return answer
