# SPDX-License-Identifier: GPL-3.0-or-later
"""The motions of an island as a whole, which conjugate gradients leave out because they are solved for exactly.

Translations and turns are what a block-Jacobi preconditioner finds last, and what must be right: in a stiff body the
elastic forces are so large that a residual small beside them can still turn the body faster in every step.
With the six modes Z of an island (columns: three translations, three turns about its centre) and E = ZᵀAZ, the guess
is moved to Zᵀ(b − A x) = 0, and every search direction is made A-orthogonal to Z, so that it stays so: momentum and
angular momentum are in balance to round-off, however roughly the rest is solved.

Source: Tang, Nabben, Vuik and Erlangga (2009), Comparison of two-level preconditioners derived from deflation, domain
decomposition and multigrid methods: A-DEF2, which takes back what round-off brings into Zᵀr.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Bools, Floats, floats
from ..geometry.chunks import run_in_chunks
from ..jit import kernel
from .pattern import BlockPattern

WORST_CONDITION = 1.0e12  # of E; an island beyond it, such as a single line of nodes, is solved without modes


@dataclass(frozen=True)
class RigidModes:
    """The modes Z of the islands without held nodes, and what the matrix A makes of them.

    Attributes:
        arms: From the centre of its island to each node, in units of the island's radius, (n, 3).
        product: A Z of each node's island, row by row, (n, 18).
        inverse: E⁻¹ per island, zero where nodes are held, (k, 6, 6).
    """

    arms: Floats
    product: Floats
    inverse: Floats


@kernel()
def multiply_rigid(row_start, column, values, arms, start, end, product):
    """Writes A Z for the rows from `start` to `end`: the columns e_m, then e_m × arm, three rows of six, (n, 18)."""
    for i in range(start, end):
        for m in range(18):
            product[i, m] = 0.0
        for k in range(row_start[i], row_start[i + 1]):
            A, r = values[k], arms[column[k]]
            for row in range(3):
                a, b, c = A[3 * row], A[3 * row + 1], A[3 * row + 2]
                product[i, 6 * row] += a
                product[i, 6 * row + 1] += b
                product[i, 6 * row + 2] += c
                product[i, 6 * row + 3] += c * r[1] - b * r[2]
                product[i, 6 * row + 4] += a * r[2] - c * r[0]
                product[i, 6 * row + 5] += b * r[0] - a * r[1]


@kernel()
def coarse_matrices(island_start, arms, product, matrices):
    """Writes E = ZᵀAZ of every island, (k, 6, 6)."""
    for island in range(len(matrices)):
        E = matrices[island]
        E[:, :] = 0.0
        for i in range(island_start[island], island_start[island + 1]):
            r, Y = arms[i], product[i]
            for m in range(6):
                a, b, c = Y[m], Y[6 + m], Y[12 + m]
                E[0, m] += a
                E[1, m] += b
                E[2, m] += c
                E[3, m] += r[1] * c - r[2] * b
                E[4, m] += r[2] * a - r[0] * c
                E[5, m] += r[0] * b - r[1] * a


@kernel()
def balance_islands(island_start, arms, product, inverse, b, x):
    """Adds Z E⁻¹ Zᵀ(b − A x) to x, (n, 3), in every island, for b (n, 3) or, where that is empty, for zero."""
    lacking, motion = np.empty(6), np.empty(6)
    for island in range(len(inverse)):
        first, last = island_start[island], island_start[island + 1]
        lacking[:] = 0.0
        for i in range(first, last):
            r, Y = arms[i], product[i]
            for m in range(6):
                lacking[m] -= Y[m] * x[i, 0] + Y[6 + m] * x[i, 1] + Y[12 + m] * x[i, 2]
            if len(b) > 0:
                s, t, u = b[i, 0], b[i, 1], b[i, 2]
                lacking[0] += s
                lacking[1] += t
                lacking[2] += u
                lacking[3] += r[1] * u - r[2] * t
                lacking[4] += r[2] * s - r[0] * u
                lacking[5] += r[0] * t - r[1] * s
        for m in range(6):
            motion[m] = 0.0
            for k in range(6):
                motion[m] += inverse[island, m, k] * lacking[k]
        for i in range(first, last):
            r = arms[i]
            x[i, 0] += motion[0] + motion[4] * r[2] - motion[5] * r[1]
            x[i, 1] += motion[1] + motion[5] * r[0] - motion[3] * r[2]
            x[i, 2] += motion[2] + motion[3] * r[1] - motion[4] * r[0]


def rigid_modes(pattern: BlockPattern, values: Floats, positions: Floats, is_free: Bools) -> RigidModes:
    """Returns the modes of the islands at node positions x [m], (n, 3), for the matrix of blocks `values`, (b, 9)."""
    arms, product = _arms(pattern, positions), np.empty((pattern.node_count, 18))

    def work(rows: slice) -> None:
        multiply_rigid(pattern.row_start, pattern.column, values, arms, rows.start, rows.stop, product)

    run_in_chunks(pattern.node_count, work)
    matrices = np.empty((pattern.island_count, 6, 6))
    coarse_matrices(pattern.island_start, arms, product, matrices)
    starts = pattern.island_start[:-1].astype(np.int64)
    usable = np.logical_and.reduceat(is_free, starts) & np.isfinite(matrices).all(axis=(1, 2))
    matrices[~usable] = np.eye(6)
    usable &= np.linalg.cond(matrices) < WORST_CONDITION
    matrices[~usable] = np.eye(6)
    inverse = np.linalg.inv(matrices)
    inverse[~usable] = 0.0
    return RigidModes(arms, product, inverse)


def balance(modes: RigidModes, pattern: BlockPattern, b: Floats, x: Floats) -> None:
    """Moves x, (n, 3), by rigid modes to Zᵀ(b − A x) = 0 in every island without held nodes."""
    balance_islands(pattern.island_start, modes.arms, modes.product, modes.inverse, b, x)


def make_orthogonal(modes: RigidModes, pattern: BlockPattern, d: Floats) -> None:
    """Takes from a direction d, (n, 3), what is not A-orthogonal to the modes."""
    balance_islands(pattern.island_start, modes.arms, modes.product, modes.inverse, np.zeros((0, 3)), d)


def _arms(pattern: BlockPattern, positions: Floats) -> Floats:
    """Returns positions from the centre of their island in units of its radius, (n, 3)."""
    starts = pattern.island_start.astype(np.int64)
    counts = np.diff(starts)
    own = positions - np.repeat(np.add.reduceat(positions, starts[:-1]) / counts[:, None], counts, axis=0)
    radius = np.sqrt(np.add.reduceat(np.sum(own * own, axis=1), starts[:-1]) / counts)
    return floats(own / np.repeat(np.maximum(radius, 1e-300), counts)[:, None])
