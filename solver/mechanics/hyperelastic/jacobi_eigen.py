# SPDX-License-Identifier: GPL-3.0-or-later
"""Eigenvalues and eigenvectors of symmetric 3×3 matrices by Jacobi's rotations, accurate for every matrix."""

from __future__ import annotations

import math

from ...runtime.jit import kernel

MAX_SWEEPS = 12  # four are enough as a rule
OFF_DIAGONAL_TOLERANCE = 1.0e-17  # relative size of what may be left beside the diagonal


@kernel(allow_fma=True, inline=True, device_only=True)
def jacobi_rotation(p, q, r):
    """Returns cosine, sine and tangent t of the rotation that makes [[p, r], [r, q]] diagonal: p − t r and q + t r."""
    half = 0.5 * (q - p)
    below = half + math.copysign(math.sqrt(half * half + r * r), half)
    t = r / below if below != 0.0 else 0.0
    c = 1.0 / math.sqrt(1.0 + t * t)
    return c, t * c, t


@kernel(allow_fma=True, inline=True, device_only=True)
def jacobi_sweep(matrix, axes):
    """Returns a symmetric matrix, six numbers, after a rotation in each of its planes, and its rotated axes, nine."""
    xx, yy, zz, xy, yz, zx = matrix
    a, b, c, d, e, f, g, h, i = axes
    k, s, t = jacobi_rotation(xx, yy, xy)
    xx, yy = xx - t * xy, yy + t * xy
    zx, yz = k * zx - s * yz, s * zx + k * yz
    a, b, d, e, g, h = k * a - s * b, s * a + k * b, k * d - s * e, s * d + k * e, k * g - s * h, s * g + k * h
    k, s, t = jacobi_rotation(xx, zz, zx)
    xx, zz = xx - t * zx, zz + t * zx
    xy, yz = -s * yz, k * yz
    a, c, d, f, g, i = k * a - s * c, s * a + k * c, k * d - s * f, s * d + k * f, k * g - s * i, s * g + k * i
    k, s, t = jacobi_rotation(yy, zz, yz)
    yy, zz = yy - t * yz, zz + t * yz
    xy, zx = k * xy, s * xy
    b, c, e, f, h, i = k * b - s * c, s * b + k * c, k * e - s * f, s * e + k * f, k * h - s * i, s * h + k * i
    return xx, yy, zz, xy, 0.0, zx, a, b, c, d, e, f, g, h, i


@kernel(allow_fma=True, inline=True, device_only=True)
def is_diagonal(xx, yy, zz, xy, yz, zx):
    """Returns whether the off-diagonal entries are negligible."""
    return abs(xy) + abs(yz) + abs(zx) <= OFF_DIAGONAL_TOLERANCE * (abs(xx) + abs(yy) + abs(zz))


@kernel(allow_fma=True, device_only=True)
def eigen_axes(xx, yy, zz, xy, yz, zx):
    """Returns the three eigenvalues of a symmetric matrix, in no order, and its axes.

    The axes are the columns of a proper rotation, whose nine entries come row by row.
    """
    a, b, c, d, e, f, g, h, i = 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0
    for _ in range(MAX_SWEEPS):
        if is_diagonal(xx, yy, zz, xy, yz, zx):
            break
        xx, yy, zz, xy, yz, zx, a, b, c, d, e, f, g, h, i = jacobi_sweep(
            (xx, yy, zz, xy, yz, zx), (a, b, c, d, e, f, g, h, i)
        )
    return xx, yy, zz, a, b, c, d, e, f, g, h, i


@kernel(allow_fma=True, inline=True, device_only=True)
def is_positive_definite(xx, yy, zz, xy, yz, zx):
    """Returns whether a symmetric matrix is positive definite, by Cholesky's pivots."""
    lower, last = yy - xy * xy / xx, yz - xy * zx / xx
    return (xx > 0.0) & (lower > 0.0) & (zz - zx * zx / xx - last * last / lower > 0.0)


@kernel(allow_fma=True, inline=True, device_only=True)
def matrix_from_clamped_eigenvalues(u, v, w, a, b, c, d, e, f, g, h, i):
    """Returns the entries xx, yy, zz, xy, yz, zx of the matrix with eigenvalues max(u, 0), max(v, 0), max(w, 0)."""
    u, v, w = max(u, 0.0), max(v, 0.0), max(w, 0.0)
    return (
        u * a * a + v * b * b + w * c * c,
        u * d * d + v * e * e + w * f * f,
        u * g * g + v * h * h + w * i * i,
        u * a * d + v * b * e + w * c * f,
        u * d * g + v * e * h + w * f * i,
        u * g * a + v * h * b + w * i * c,
    )


@kernel(allow_fma=True, device_only=True)
def nearest_semidefinite(xx, yy, zz, xy, yz, zx):
    """Returns the six entries of the positive semi-definite matrix nearest to a symmetric one."""
    if is_positive_definite(xx, yy, zz, xy, yz, zx):
        return xx, yy, zz, xy, yz, zx
    u, v, w, a, b, c, d, e, f, g, h, i = eigen_axes(xx, yy, zz, xy, yz, zx)
    return matrix_from_clamped_eigenvalues(u, v, w, a, b, c, d, e, f, g, h, i)
