# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes symmetric matrices semidefinite by dropping negative eigenvalues.

Source: Golub and Van Loan (2013), algorithm 8.5.3 (cyclic Jacobi).
"""

from __future__ import annotations

import math

from ..runtime.jit import kernel

MAX_SWEEPS = 30
NEGLIGIBLE_RATIO = 1.0e-14  # of the largest diagonal entry: what is smaller beside the diagonal counts as zero


@kernel()
def project_semidefinite(matrix, vectors):
    """Replaces a symmetric matrix by the nearest positive semidefinite one.

    Args:
        matrix: Changed, (n, n).
        vectors: Room, (n, n).
    """
    n = len(matrix)
    for i in range(n):
        for j in range(n):
            vectors[i, j] = 1.0 if i == j else 0.0
    for _ in range(MAX_SWEEPS):
        if not _sweep(matrix, vectors):
            break
    values = matrix[0].copy()
    for i in range(n):
        values[i] = max(matrix[i, i], 0.0)
    for i in range(n):
        for j in range(n):
            total = 0.0
            for k in range(n):
                total += values[k] * vectors[i, k] * vectors[j, k]
            matrix[i, j] = total


@kernel(device_only=True)
def _sweep(matrix, vectors):
    """Rotates all pairs of axes so that the entry between them becomes zero; returns whether any was not yet."""
    n, largest, changed = len(matrix), 0.0, False
    for i in range(n):
        for j in range(n):
            largest = max(largest, abs(matrix[i, j]))
    for p in range(n - 1):
        for q in range(p + 1, n):
            entry = matrix[p, q]
            if abs(entry) <= NEGLIGIBLE_RATIO * largest:
                continue
            changed = True
            slope = (matrix[q, q] - matrix[p, p]) / (2.0 * entry)
            t = (1.0 if slope >= 0.0 else -1.0) / (abs(slope) + math.sqrt(1.0 + slope * slope))
            c = 1.0 / math.sqrt(1.0 + t * t)
            _rotate(matrix, vectors, p, q, c, t * c)
    return changed


@kernel(device_only=True)
def _rotate(matrix, vectors, p, q, c, s):
    """Turns the axes p and q by the angle with this cosine and sine."""
    for k in range(len(matrix)):
        one, other = matrix[k, p], matrix[k, q]
        matrix[k, p], matrix[k, q] = c * one - s * other, s * one + c * other
    for k in range(len(matrix)):
        one, other = matrix[p, k], matrix[q, k]
        matrix[p, k], matrix[q, k] = c * one - s * other, s * one + c * other
        one, other = vectors[k, p], vectors[k, q]
        vectors[k, p], vectors[k, q] = c * one - s * other, s * one + c * other
