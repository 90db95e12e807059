# SPDX-License-Identifier: GPL-3.0-or-later
"""The passes of conjugate gradients over the rows of a matrix: one task after the other.

The preconditioner is block Jacobi (`block_jacobi.py`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..runtime.arrays import Floats
from ..runtime.jit import kernel
from ..runtime.simd.block_row_product import PREFETCH_BLOCKS, multiply_row
from ..runtime.simd.vec3 import (
    block3_load,
    vec3,
    vec3_add_cross,
    vec3_axpy,
    vec3_fma,
    vec3_load,
    vec3_store,
    vec3_sum,
    vec3_unpack,
    vec3_zero,
    vec4_load,
    vec4_store,
)
from .convergence_rate import RateCheck
from .island_cholesky import solve_island

# First PREPARE for inverses and the packed half, (LOAD_FIXED, APPLY,) RESIDUAL for the norm of b, then LOAD_SOLUTION,
# APPLY, RESIDUAL for the residual of the guess; LOAD_INITIAL_DIRECTION, CURVATURE, UPDATE once; DIRECTION, PRODUCT,
# UPDATE until the residuals are small; at the end LOAD_SOLUTION, APPLY, RESIDUAL for the true residual, and on from
# DIRECTION where that is too large.
(
    DONE,
    PREPARE,
    LOAD_FIXED,
    LOAD_SOLUTION,
    APPLY,
    RESIDUAL,
    LOAD_INITIAL_DIRECTION,
    CURVATURE,
    DIRECTION,
    PRODUCT,
    UPDATE,
) = range(11)

# Scalars of an island, column by column: first those that it shares with the islands that it is coupled to, then its
# own, the sums of the last pass, the coefficients c of its modes in z, and the six sums that they follow from.
ACTIVE, ALPHA, BETA, RZ, MIN_RR, RR, BB, FIRST_SUM, SECOND_SUM, MODE_COEFFICIENTS = range(10)
CLUSTER_COLUMNS = RR  # columns
MODE_RESIDUALS = MODE_COEFFICIENTS + 6
ISLAND_COLUMNS = MODE_RESIDUALS + 6

SUMS_PER_CHUNK = 8  # that a pass leaves per chunk: two of its task, six for the modes

# Vectors in one array beside p.
R, Z, Q, D = range(4)
VECTOR_COUNT = 4


class PcgLimits(NamedTuple):
    """When conjugate gradients end.

    Attributes:
        tolerance: Relative residual to reach in every island.
        max_iterations: At most.
        first_iterations, first_rows: After so many iterations, or so many rows of islands that are not done, iteration
            by iteration, they only go on while they are fast.
        rate_check: What counts as fast.
    """

    tolerance: float
    max_iterations: int
    first_iterations: int
    first_rows: int
    rate_check: RateCheck


class PcgVectors(NamedTuple):
    """Vectors of n nodes.

    Attributes:
        b, x: Right-hand side, and the solution so far, (n, 3).
        p: The search direction, with another row behind it, (n + 1, 3).
        work: r, z, q and d, one behind the other, (4 n, 3).
        initial_direction: In which the solution is expected, (n, 3), or (0, 3).
        inverse: Inverses of the blocks on the diagonal, (n, 9).
    """

    b: Floats
    x: Floats
    p: Floats
    work: Floats
    initial_direction: Floats
    inverse: Floats


class ModeArrays(NamedTuple):
    """Those of `RigidModes`, or empty ones: E⁻¹, arms and A Z."""

    lever_arms: Floats
    product: Floats
    inverse: Floats


class IslandArrays(NamedTuple):
    """What is known of k islands, and which of them are coupled.

    Attributes:
        cluster_start, members: `clusters` of the `BlockPattern`.
        scalars: (k, ISLAND_COLUMNS).
        sums: What a pass leaves of every chunk, (chunks, SUMS_PER_CHUNK).
    """

    cluster_start: np.ndarray
    members: np.ndarray
    scalars: Floats
    sums: Floats


@kernel(allow_fma=True, inline=True, device_only=True, no_refcount=True)
def run_row_task(task, chunk, matrix, vectors, modes, factors, islands):
    """Does one task on one chunk of rows, with sums over them.

    PREPARE: p, r, z, q = 0, and d = the initial direction, at fixed nodes 0.
    LOAD_FIXED: p = x at fixed nodes, else 0. LOAD_SOLUTION: p = x. LOAD_INITIAL_DIRECTION: p = d, with r·p.
    DIRECTION: p = z + β p, less Z c where there are modes. APPLY, CURVATURE, PRODUCT: q = A p, with p·q.
    RESIDUAL: r = b − q. UPDATE: x += α p, r −= α q. The last two also z = M⁻¹ r, with r·z and r·r, and with
    (AZ)ᵀz − Zᵀr where there are modes.
    """
    row_start, column, values, is_free = matrix.row_start, matrix.column, matrix.values, matrix.is_free
    b, x, p, work, initial_direction, inverse = vectors
    lever_arms, product, scalars, sums = modes.lever_arms, modes.product, islands.scalars, islands.sums
    # One function, since every one takes its time to compile; and without parts of arrays as arrays of their own,
    # whose references would be counted in every pass.
    start, end, island = matrix.chunk_start[chunk], matrix.chunk_start[chunk + 1], matrix.chunk_island[chunk]
    count, none = 3 * len(is_free), np.int64(0)
    r, z, q, d = R * count, Z * count, Q * count, D * count
    first, second = vec3_zero(), vec3_zero()
    if task == APPLY or task == CURVATURE or task == PRODUCT:
        along = 0.0
        for i in range(start, end):
            s, t, u = multiply_row(values, column, p, row_start[i], row_start[i + 1])
            vec3_store(work, q + 3 * i, vec3(s, t, u))
            along += s * p[i, 0] + t * p[i, 1] + u * p[i, 2]
        sums[chunk, 0] = along
    elif task == DIRECTION:
        axpy_rows(start, end, work, z, scalars[island, BETA], p, none, p, none)
        if len(product) > 0:
            c = ISLAND_COLUMNS * island + MODE_COEFFICIENTS
            move, turn = vec3_load(scalars, c), vec3_load(scalars, c + 3)
            for i in range(start, end):
                moved = vec3_add_cross(move, turn, vec3_load(lever_arms, 3 * i))
                vec3_store(p, 3 * i, vec3_axpy(vec3_load(p, 3 * i), -1.0, moved))
    elif task == PREPARE:
        for i in range(start, end):
            vec3_store(p, 3 * i, vec3_zero())
            vec3_store(work, r + 3 * i, vec3_zero())
            vec3_store(work, z + 3 * i, vec3_zero())
            vec3_store(work, q + 3 * i, vec3_zero())
            if len(initial_direction) > 0:
                share = 1.0 if is_free[i] else 0.0
                vec3_store(work, d + 3 * i, vec3_axpy(vec3_zero(), share, vec3_load(initial_direction, 3 * i)))
    elif task == LOAD_INITIAL_DIRECTION:
        for i in range(start, end):
            direction = vec3_load(work, d + 3 * i)
            vec3_store(p, 3 * i, direction)
            first = vec3_fma(first, vec3_load(work, r + 3 * i), direction)
        sums[chunk, 0] = vec3_sum(first)
    elif task == LOAD_FIXED or task == LOAD_SOLUTION:
        for i in range(start, end):
            taken = 0.0 if task == LOAD_FIXED and is_free[i] else 1.0
            vec3_store(p, 3 * i, vec3_axpy(vec3_zero(), taken, vec3_load(x, 3 * i)))
    else:
        if task == UPDATE:
            # p is zero at held nodes
            axpy_rows(start, end, x, none, scalars[island, ALPHA], p, none, x, none)
            axpy_rows(start, end, work, r, -scalars[island, ALPHA], work, q, work, r)
        else:
            axpy_rows(start, end, b, none, -1.0, work, q, work, r)
        has_factor = False
        if factors is not None:
            if factors.is_factored[island]:
                has_factor = True
                for i in range(start, end):
                    if not is_free[i]:
                        vec3_store(work, r + 3 * i, vec3_zero())
                solve_island(np.int64(start), np.int64(end), work, r, z, factors)
        for i in range(start, end):
            left = vec3_load(work, r + 3 * i)
            if not is_free[i]:
                left = vec3_zero()
                vec3_store(work, r + 3 * i, left)
            if has_factor:
                found = vec3_load(work, z + 3 * i)
            else:
                s, t, u = vec3_unpack(left)
                f, g, h = block3_load(inverse, i, PREFETCH_BLOCKS)
                found = vec3_axpy(vec3_axpy(vec3_axpy(vec3_zero(), s, f), t, g), u, h)
                vec3_store(work, z + 3 * i, found)
            first, second = vec3_fma(first, left, found), vec3_fma(second, left, left)
        sums[chunk, 0], sums[chunk, 1] = vec3_sum(first), vec3_sum(second)
        if len(product) > 0:
            push, twist = vec3_zero(), vec3_zero()
            for i in range(start, end):
                left, row = vec3_load(work, r + 3 * i), 18 * i
                s, t, u = vec3_unpack(vec3_load(work, z + 3 * i))
                pushed = vec3_axpy(vec3_axpy(vec3_zero(), s, vec3_load(product, row)), t, vec3_load(product, row + 6))
                pushed = vec3_axpy(pushed, u, vec3_load(product, row + 12))
                twisted = vec3_axpy(
                    vec3_add_cross(vec3_zero(), left, vec3_load(lever_arms, 3 * i)), s, vec3_load(product, row + 3)
                )
                twisted = vec3_axpy(vec3_axpy(twisted, t, vec3_load(product, row + 9)), u, vec3_load(product, row + 15))
                push, twist = vec3_axpy(vec3_axpy(push, 1.0, pushed), -1.0, left), vec3_axpy(twist, 1.0, twisted)
            vec3_store(sums, SUMS_PER_CHUNK * chunk + 2, push)
            vec3_store(sums, SUMS_PER_CHUNK * chunk + 5, twist)


@kernel(allow_fma=True, inline=True, device_only=True, no_refcount=True)
def axpy_rows(start, end, v, at, k, w, there, out, to):
    """Writes v + k w for the rows from `start` to `end`; v, w and out begin at the numbers `at`, `there` and `to`."""
    whole = end - (end - start) % 4
    for i in range(start, whole, 4):
        for place in range(3 * i, 3 * i + 12, 4):
            vec4_store(out, to + place, vec3_axpy(vec4_load(v, at + place), k, vec4_load(w, there + place)))
    for i in range(whole, end):
        vec3_store(out, to + 3 * i, vec3_axpy(vec3_load(v, at + 3 * i), k, vec3_load(w, there + 3 * i)))
