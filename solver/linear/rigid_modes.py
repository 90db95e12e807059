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

import math
from dataclasses import dataclass

import numpy as np

from ..arrays import Bools, Floats, floats
from ..geometry.chunks import run_in_chunks
from ..jit import kernel
from .pattern import BlockPattern

LEAST_PIVOT = 1.0e-12  # of E; an island below it, such as a single line of nodes, is solved without modes


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
        for row in range(3):
            # six sums side by side
            s, t, u, v, w, y = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            for k in range(row_start[i], row_start[i + 1]):
                a, b, c, r = values[k, 3 * row], values[k, 3 * row + 1], values[k, 3 * row + 2], arms[column[k]]
                s, t, u = s + a, t + b, u + c
                v, w, y = v + (c * r[1] - b * r[2]), w + (a * r[2] - c * r[0]), y + (b * r[0] - a * r[1])
            out = product[i]
            out[6 * row], out[6 * row + 1], out[6 * row + 2] = s, t, u
            out[6 * row + 3], out[6 * row + 4], out[6 * row + 5] = v, w, y


@kernel()
def coarse_matrices(island_start, arms, product, matrices):
    """Writes E = ZᵀAZ of every island, (k, 6, 6)."""
    for island in range(len(matrices)):
        E = matrices[island]
        for m in range(6):
            for k in range(6):
                E[m, k] = 0.0
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
        for m in range(6):
            lacking[m] = 0.0
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


@kernel()
def invert_coarse(island_start, is_free, matrices, inverse):
    """Writes E⁻¹ of every island, (k, 6, 6), zero where nodes are held or E is hardly positive definite.

    By Gauss and Jordan on E scaled to a diagonal of ones: its pivots are then between 0 and 1, and small ones tell
    that modes are hardly told apart.
    """
    A, scale = np.empty((6, 12)), np.empty(6)
    for island in range(len(matrices)):
        E, out = matrices[island], inverse[island]
        for m in range(6):
            for k in range(6):
                out[m, k] = 0.0
        usable = True
        for i in range(island_start[island], island_start[island + 1]):
            usable = usable and is_free[i]
        for m in range(6):
            usable = usable and E[m, m] > 0.0 and E[m, m] < np.inf
        if not usable:
            continue
        for m in range(6):
            scale[m] = 1.0 / math.sqrt(E[m, m])
        for m in range(6):
            for k in range(6):
                A[m, k], A[m, 6 + k] = scale[m] * E[m, k] * scale[k], 1.0 if m == k else 0.0
        for m in range(6):
            pivot = A[m, m]
            if not pivot > LEAST_PIVOT:
                usable = False
                break
            for k in range(12):
                A[m, k] /= pivot
            for row in range(6):
                factor = A[row, m]
                if row != m and factor != 0.0:
                    for k in range(12):
                        A[row, k] -= factor * A[m, k]
        if usable:
            for m in range(6):
                for k in range(6):
                    out[m, k] = scale[m] * A[m, 6 + k] * scale[k]


@kernel()
def find_arms(island_start, positions, arms):
    """Writes positions from the centre of their island in units of its radius, (n, 3)."""
    centre = np.empty(3)
    for island in range(len(island_start) - 1):
        first, last = island_start[island], island_start[island + 1]
        for axis in range(3):
            centre[axis] = 0.0
        for i in range(first, last):
            for axis in range(3):
                centre[axis] += positions[i, axis]
        square = 0.0
        for i in range(first, last):
            for axis in range(3):
                arms[i, axis] = positions[i, axis] - centre[axis] / (last - first)
                square += arms[i, axis] ** 2
        scale = 1.0 / max(math.sqrt(square / (last - first)), 1e-300)
        for i in range(first, last):
            for axis in range(3):
                arms[i, axis] *= scale


def rigid_modes(pattern: BlockPattern, values: Floats, positions: Floats, is_free: Bools) -> RigidModes | None:
    """Returns the modes of the islands at node positions x [m], (n, 3), for the matrix of blocks `values`, (b, 9).

    None where every island is held somewhere.
    """
    if not np.logical_and.reduceat(is_free, pattern.island_start[:-1].astype(np.int64)).any():
        return None
    arms, product = np.empty((pattern.node_count, 3)), np.empty((pattern.node_count, 18))
    find_arms(pattern.island_start, floats(positions), arms)

    def work(rows: slice) -> None:
        multiply_rigid(pattern.row_start, pattern.column, values, arms, rows.start, rows.stop, product)

    run_in_chunks(pattern.node_count, work)
    matrices, inverse = np.empty((2, pattern.island_count, 6, 6))
    coarse_matrices(pattern.island_start, arms, product, matrices)
    invert_coarse(pattern.island_start, is_free, matrices, inverse)
    return RigidModes(arms, product, inverse)


def balance(modes: RigidModes, pattern: BlockPattern, b: Floats, x: Floats) -> None:
    """Moves x, (n, 3), by rigid modes to Zᵀ(b − A x) = 0 in every island without held nodes."""
    balance_islands(pattern.island_start, modes.arms, modes.product, modes.inverse, b, x)


def make_orthogonal(modes: RigidModes, pattern: BlockPattern, d: Floats) -> None:
    """Takes from a direction d, (n, 3), what is not A-orthogonal to the modes."""
    balance_islands(pattern.island_start, modes.arms, modes.product, modes.inverse, np.zeros((0, 3)), d)
