# SPDX-License-Identifier: GPL-3.0-or-later
"""Galerkin projection PᵀA P of a system on the motions of rigid cores, with Pᵀ(b − A v0), in one pass over A.

What joins two cores is added up for their rigid motions first, (6, 6), and goes to their points once for each pair.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...runtime.arrays import Floats, Indices
from ...runtime.jit import kernel


class ProjectionArrays(NamedTuple):
    """What makes P, for kernels.

    Attributes:
        core_of, row_of, block_target, row_stride, pair_of_block: Of the `ReducedPattern`.
        arms: r [m], (n, 3), read at nodes of cores.
        C: u ← y, (cores, 6, 9).
    """

    core_of: Indices
    row_of: Indices
    block_target: Indices
    row_stride: Indices
    pair_of_block: Indices
    arms: Floats
    C: Floats


class ReducedSystem(NamedTuple):
    """What `reduce_blocks` adds to.

    Attributes:
        inner: Σ (I, −[r_i]×)ᵀ A_ij (I, −[r_j]×) within each core, (cores, 6, 6).
        coupling: The same between the two cores of each pair, (pairs, 6, 6).
        values: The other blocks of PᵀA P, (b, 9).
        b: Pᵀ(b − A v0), (rows, 3).
    """

    inner: Floats
    coupling: Floats
    values: Floats
    b: Floats

    @staticmethod
    def zeros(core_count: int, pair_count: int, block_count: int, row_count: int) -> ReducedSystem:
        """Returns a system that is zero."""
        return ReducedSystem(
            np.zeros((core_count, 6, 6)),
            np.zeros((pair_count, 6, 6)),
            np.zeros((block_count, 9)),
            np.zeros((row_count, 3)),
        )


@kernel()
def reduce_blocks(matrix, b, given, is_moved, projection, into, system):
    """Writes the blocks of PᵀA P between nodes outside cores and all else, and Pᵀ(b − A v0); adds up those of cores.

    A node i of a core has P_i = (I, −[r_i]×) C, r_i from the core's centre.

    Args:
        matrix: A, as `BlockRows`.
        b: (n, 3).
        given: v0, (n, 3), read where `is_moved`, and only at nodes of cores.
        is_moved: Whether any core has a v0.
        projection: P, as `ProjectionArrays`.
        into: Work space, (6, 3).
        system: Out: a `ReducedSystem`, zero before.
    """
    row_start, column, values = matrix.row_start, matrix.column, matrix.values
    core_of, row_of, block_target, row_stride = (
        projection.core_of,
        projection.row_of,
        projection.block_target,
        projection.row_stride,
    )
    arms, C = projection.arms, projection.C
    inner, coupling, reduced, out = system.inner, system.coupling, system.values, system.b
    for i in range(len(row_start) - 1):
        ci, row = core_of[i], row_of[i]
        fx, fy, fz = b[i, 0], b[i, 1], b[i, 2]
        for k in range(row_start[i], row_start[i + 1]):
            j = column[k]
            cj = core_of[j]
            if cj >= 0 and is_moved:
                x, y, z = given[j, 0], given[j, 1], given[j, 2]
                fx -= values[k, 0] * x + values[k, 1] * y + values[k, 2] * z
                fy -= values[k, 3] * x + values[k, 4] * y + values[k, 5] * z
                fz -= values[k, 6] * x + values[k, 7] * y + values[k, 8] * z
            if ci < 0 and cj < 0:
                for e in range(9):
                    reduced[block_target[k], e] = values[k, e]
            elif ci < 0:
                # (A (I, −[r]×))ᵀ, six columns of A and of its rows × r
                for a in range(3):
                    into[:, a] = lever_arm_product(
                        arms[j], values[k, 3 * a], values[k, 3 * a + 1], values[k, 3 * a + 2]
                    )
                for a in range(3):
                    for c in range(9):
                        reduced[block_target[k] + c // 3, 3 * a + c % 3] += column_product(into, a, C[cj], c)
            else:
                has_any = False
                for e in range(9):
                    has_any = has_any or values[k, e] != 0.0
                if not has_any:
                    continue
                for a in range(3):
                    into[:, a] = lever_arm_product(arms[i], values[k, a], values[k, 3 + a], values[k, 6 + a])
                if cj < 0:
                    for a in range(3):
                        for c in range(9):
                            reduced[block_target[k] + (c // 3) * row_stride[k], 3 * (c % 3) + a] += column_product(
                                into, a, C[ci], c
                            )
                else:
                    total = inner[ci] if ci == cj else coupling[projection.pair_of_block[k]]
                    for m in range(6):
                        numbers = lever_arm_product(arms[j], into[m, 0], into[m, 1], into[m, 2])
                        for c in range(6):
                            total[m, c] += numbers[c]
        if ci < 0:
            out[row, 0], out[row, 1], out[row, 2] = fx, fy, fz
        else:
            into[:, 0] = lever_arm_product(arms[i], fx, fy, fz)
            for c in range(9):
                out[row + c // 3, c % 3] += column_product(into, 0, C[ci], c)


@kernel(device_only=True)
def lever_arm_product(arm, p, q, r):
    """Returns (I, −[arm]×)ᵀ (p, q, r): the three numbers, and arm × them."""
    x, y, z = arm[0], arm[1], arm[2]
    return p, q, r, y * r - z * q, z * p - x * r, x * q - y * p


@kernel(device_only=True)
def column_product(into, a, C, c):
    """Returns the product of column a of `into` and column c of C, (6, …) each."""
    total = 0.0
    for m in range(6):
        total += into[m, a] * C[m, c]
    return total


@kernel()
def project_coupling(coupling, pair_cores, first_block, row_stride, C, into, values):
    """Adds what joins pairs of cores to the blocks of their points.

    Args:
        coupling: Of each pair, (p, 6, 6), as `ReducedSystem` has it.
        pair_cores, first_block, row_stride: Of the `ReducedPattern`: pair_cores, pair_target, pair_stride.
        C: u ← y, (cores, 6, 9).
        into: Work space, (6, 9).
        values: Out: the blocks of PᵀA P, (b, 9).
    """
    for p in range(len(coupling)):
        one, other = C[pair_cores[p, 0]], C[pair_cores[p, 1]]
        for m in range(6):
            for d in range(9):
                total = 0.0
                for q in range(6):
                    total += coupling[p, m, q] * other[q, d]
                into[m, d] = total
        for c in range(9):
            for d in range(9):
                total = 0.0
                for m in range(6):
                    total += one[m, c] * into[m, d]
                values[first_block[p] + (c // 3) * row_stride[p] + d // 3, 3 * (c % 3) + d % 3] += total
