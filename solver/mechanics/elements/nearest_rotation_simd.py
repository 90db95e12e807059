# SPDX-License-Identifier: GPL-3.0-or-later
"""Nearest rotations of 32 tets at a time, by loops without branches that the compiler turns into SIMD.

Number k of the matrix in lane i lies at k · L + i. What becomes of a lane does not depend on the others.
"""

from __future__ import annotations

from ...runtime.jit import kernel
from ...runtime.simd.lane_count import LANES
from .nearest_rotation import (
    CONVERGED_CHANGE,
    MAX_ITERATIONS,
    SCALING_DETERMINANT_GAP,
    allows_newton,
    nearest_rotation_of_any,
    newton_step,
)

L = LANES


@kernel(allow_fma=True, device_only=True)
def nearest_rotation_lanes(count, F, R, state):
    """Writes the rotations nearest to the matrices of the first `count` lanes.

    Args:
        count: How many there are.
        F: The matrices, (9 L,); numbers of any size in the other lanes.
        R: Out, (9 L,).
        state: Work space, (2 L,).
    """
    for i in range(L):
        state[i], state[L + i] = allows_newton(
            F[i], F[L + i], F[2 * L + i], F[3 * L + i], F[4 * L + i], F[5 * L + i], F[6 * L + i], F[7 * L + i],
            F[8 * L + i],
        )  # fmt: skip
    for i in range(9 * L):
        R[i] = F[i]
    for i in range(L):
        if i >= count:
            state[i] = 0.0
        elif state[i] == 0.0:
            (
                R[i], R[L + i], R[2 * L + i], R[3 * L + i], R[4 * L + i], R[5 * L + i], R[6 * L + i], R[7 * L + i],
                R[8 * L + i],
            ) = nearest_rotation_of_any(
                F[i], F[L + i], F[2 * L + i], F[3 * L + i], F[4 * L + i], F[5 * L + i], F[6 * L + i], F[7 * L + i],
                F[8 * L + i],
            )  # fmt: skip
        elif abs(state[L + i] - 1.0) > SCALING_DETERMINANT_GAP:
            s = state[L + i] ** (-1.0 / 3.0)
            for k in range(i, 9 * L, L):
                R[k] *= s
    for _ in range(MAX_ITERATIONS):
        left = 0
        for i in range(L):
            a, b, c, d, e, f, g, h, k, change = newton_step(
                state[i], R[i], R[L + i], R[2 * L + i], R[3 * L + i], R[4 * L + i], R[5 * L + i], R[6 * L + i],
                R[7 * L + i], R[8 * L + i],
            )  # fmt: skip
            R[i], R[L + i], R[2 * L + i], R[3 * L + i], R[4 * L + i] = a, b, c, d, e
            R[5 * L + i], R[6 * L + i], R[7 * L + i], R[8 * L + i] = f, g, h, k
            goes_on = change >= CONVERGED_CHANGE
            state[i] = 1.0 if goes_on else 0.0
            left += 1 if goes_on else 0
        if left == 0:
            break
