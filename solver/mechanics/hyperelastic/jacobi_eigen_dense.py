# SPDX-License-Identifier: GPL-3.0-or-later
"""Positive semi-definite projection of symmetric n×n matrices by Jacobi's rotations; for 3×3 see `jacobi_eigen.py`.

Loops instead of A[:] = T: they compile in a seventh of the time.
"""

from __future__ import annotations

from ...runtime.jit import kernel
from .jacobi_eigen import MAX_SWEEPS, OFF_DIAGONAL_TOLERANCE, jacobi_rotation


@kernel(allow_fma=True)
def project_semidefinite_dense(tangent, A, Q):
    """Replaces symmetric matrices, (c, n, n), by the nearest positive semi-definite ones; A and Q are work, (n, n)."""
    n = len(A)
    for place in range(len(tangent)):
        T = tangent[place]
        if is_positive_definite_dense(T, A):
            continue
        jacobi_eigen_dense(T, A, Q)
        for i in range(n):
            for k in range(n):
                total = 0.0
                for m in range(n):
                    total += 0.0 if A[m, m] <= 0.0 else A[m, m] * Q[i, m] * Q[k, m]
                T[i, k] = total


@kernel(allow_fma=True, device_only=True)
def is_positive_definite_dense(T, A):
    """Returns whether T is positive definite, by Cholesky's pivots; A is work."""
    n = len(A)
    for i in range(n):
        for k in range(i + 1):
            total = T[i, k]
            for m in range(k):
                total -= A[i, m] * A[k, m] * A[m, m]
            if k < i:
                A[i, k] = total / A[k, k]
            else:
                A[i, i] = total
                if not total > 0.0:
                    return False
    return True


@kernel(allow_fma=True, device_only=True)
def jacobi_eigen_dense(T, A, Q):
    """Writes the eigenvalues of a symmetric T into the diagonal of A, in no order, and its axes as columns of Q."""
    n = len(A)
    for i in range(n):
        for k in range(n):
            A[i, k], Q[i, k] = T[i, k], 1.0 if i == k else 0.0
    for _ in range(MAX_SWEEPS):
        beside, along = 0.0, 0.0
        for i in range(n):
            along += abs(A[i, i])
            for k in range(i):
                beside += abs(A[i, k])
        if beside <= OFF_DIAGONAL_TOLERANCE * along:
            break
        for p in range(n):
            for q in range(p + 1, n):
                if A[p, q] == 0.0:
                    continue
                c, s, t = jacobi_rotation(A[p, p], A[q, q], A[p, q])
                change = t * A[p, q]
                for i in range(n):
                    Q[i, p], Q[i, q] = c * Q[i, p] - s * Q[i, q], s * Q[i, p] + c * Q[i, q]
                    if i != p and i != q:
                        a, b = c * A[i, p] - s * A[i, q], s * A[i, p] + c * A[i, q]
                        A[i, p], A[p, i], A[i, q], A[q, i] = a, a, b, b
                A[p, p], A[q, q], A[p, q], A[q, p] = A[p, p] - change, A[q, q] + change, 0.0, 0.0
