# SPDX-License-Identifier: GPL-3.0-or-later
"""Positive semi-definite projection of symmetric n×n matrices by Jacobi's rotations; for 3×3 see `jacobi_eigen.py`.

Most matrices are definite already, which Cholesky's pivots tell. The others are rotated `BATCH` at a time, without
branches, so that the processor works on several at once; entry (i, k) of matrix l of a batch lies at [i, k, l]. They
lose what their negative eigenvalues give them, which are few.

Loops instead of A[:] = T: they compile in a seventh of the time.
"""

from __future__ import annotations

import numpy as np

from ...runtime.jit import kernel
from ...runtime.simd.lane_count import LANES
from .jacobi_eigen import MAX_SWEEPS, OFF_DIAGONAL_TOLERANCE, jacobi_rotation

BATCH = LANES  # matrices that are rotated at once


@kernel(allow_fma=True)
def project_semidefinite_dense(tangent):
    """Replaces symmetric matrices, (c, n, n), by the nearest positive semi-definite ones."""
    n = tangent.shape[1]
    lower, scaled = np.empty((n, n)), np.empty((n, n))
    A, Q = np.empty((n, n, BATCH)), np.empty((n, n, BATCH))
    turn, which = np.empty((3, BATCH)), np.empty(BATCH, np.int64)
    count = 0
    for place in range(len(tangent)):
        if not is_positive_definite_dense(tangent[place], lower, scaled):
            which[count] = place
            count += 1
        if count == BATCH or (count > 0 and place == len(tangent) - 1):
            for lane in range(BATCH):
                load_matrix(tangent[which[min(lane, count - 1)]], lane, A)
            jacobi_eigen_dense(A, Q, turn)
            for lane in range(count):
                remove_negative_part(lane, A, Q, tangent[which[lane]])
            count = 0


@kernel(allow_fma=True, device_only=True)
def is_positive_definite_dense(T, lower, scaled):
    """Returns whether T is positive definite, by Cholesky's pivots; the others are work, (n, n)."""
    n = len(T)
    for i in range(n):
        for k in range(i):
            total = T[i, k]
            for m in range(k):
                total -= lower[i, m] * scaled[k, m]
            lower[i, k] = total
        pivot = T[i, i]
        for m in range(i):
            scaled[i, m] = lower[i, m] * scaled[m, m]
            pivot -= lower[i, m] * scaled[i, m]
        if not pivot > 0.0:
            return False
        scaled[i, i] = 1.0 / pivot
    return True


@kernel(allow_fma=True, device_only=True)
def load_matrix(T, lane, A):
    """Writes T into a lane of a batch."""
    n = len(T)
    for i in range(n):
        for k in range(n):
            A[i, k, lane] = T[i, k]


@kernel(allow_fma=True, device_only=True)
def jacobi_eigen_dense(A, Q, turn):
    """Makes the symmetric matrices of a batch diagonal, and writes their axes as columns of Q.

    Eigenvalues are in no order. Of A only what is on and below the diagonal is read; `turn` is work, (3, BATCH).
    """
    n, cosine, sine, change = len(A), turn[0], turn[1], turn[2]
    for i in range(n):
        for k in range(n):
            for lane in range(BATCH):
                Q[i, k, lane] = 1.0 if i == k else 0.0
    for _ in range(MAX_SWEEPS):
        if is_diagonal_dense(A, turn):
            break
        for p in range(n):
            for q in range(p + 1, n):
                make_entry_zero(A[p, p], A[q, q], A[q, p], cosine, sine, change)
                for i in range(p):
                    rotate(A[p, i], A[q, i], cosine, sine)
                for i in range(p + 1, q):
                    rotate(A[i, p], A[q, i], cosine, sine)
                for i in range(q + 1, n):
                    rotate(A[i, p], A[i, q], cosine, sine)
                for i in range(n):
                    rotate(Q[i, p], Q[i, q], cosine, sine)


@kernel(allow_fma=True, device_only=True)
def is_diagonal_dense(A, turn):
    """Returns whether off-diagonal entries are negligible in all matrices of a batch."""
    n, beside, along, left = len(A), turn[0], turn[1], 0
    for lane in range(BATCH):
        beside[lane], along[lane] = 0.0, 0.0
    for i in range(n):
        for k in range(i):
            for lane in range(BATCH):
                beside[lane] += abs(A[i, k, lane])
        for lane in range(BATCH):
            along[lane] += abs(A[i, i, lane])
    for lane in range(BATCH):
        left += 1 if beside[lane] > OFF_DIAGONAL_TOLERANCE * along[lane] else 0
    return left == 0


@kernel(allow_fma=True, inline=True, device_only=True)
def make_entry_zero(pp, qq, qp, cosine, sine, change):
    """Writes the rotations that make entries qp zero, and what becomes of these three entries."""
    for lane in range(BATCH):
        cosine[lane], sine[lane], t = jacobi_rotation(pp[lane], qq[lane], qp[lane])
        change[lane] = t * qp[lane]
    for lane in range(BATCH):
        pp[lane], qq[lane], qp[lane] = pp[lane] - change[lane], qq[lane] + change[lane], 0.0


@kernel(allow_fma=True, inline=True, device_only=True)
def rotate(a, b, cosine, sine):
    """Turns pairs of entries, (BATCH,) each, by the rotations."""
    for lane in range(BATCH):
        x, y = a[lane], b[lane]
        a[lane], b[lane] = cosine[lane] * x - sine[lane] * y, sine[lane] * x + cosine[lane] * y


@kernel(allow_fma=True, device_only=True)
def remove_negative_part(lane, A, Q, T):
    """Subtracts what the negative eigenvalues of a lane give to T from it."""
    n = len(T)
    for m in range(n):
        value = A[m, m, lane]
        if value < 0.0:
            for i in range(n):
                for k in range(n):
                    T[i, k] -= value * Q[i, m, lane] * Q[k, m, lane]
