# SPDX-License-Identifier: GPL-3.0-or-later
"""Block Jacobi preconditioner: the inverse of the 3×3 diagonal block of every node."""

from __future__ import annotations

from ..runtime.jit import kernel


@kernel()
def invert_diagonal(diagonal, is_free, values, inverse):
    """Writes the inverses of the symmetric diagonal blocks, row by row, (n, 9).

    Nodes that are held, and nodes without mass and stiffness, get zero: the solver leaves them alone.
    """
    invert_rows(0, len(diagonal), diagonal, is_free, values, inverse)


@kernel(device_only=True)
def invert_rows(begin, end, diagonal, is_free, values, inverse):
    """Writes the inverses of the rows from `begin` to `end`; see `invert_diagonal`."""
    for node in range(begin, end):
        A, out = values[diagonal[node]], inverse[node]
        a, b, c, d, e, f = A[0], A[4], A[8], A[1], A[5], A[2]
        p, q, r = b * c - e * e, e * f - d * c, d * e - b * f
        det = a * p + d * q + f * r
        k = 1.0 / det if is_free[node] and det > 0.0 else 0.0
        xy, yz, zx = k * q, k * (f * d - a * e), k * r
        out[0], out[1], out[2] = k * p, xy, zx
        out[3], out[4], out[5] = xy, k * (a * c - f * f), yz
        out[6], out[7], out[8] = zx, yz, k * (a * b - d * d)
