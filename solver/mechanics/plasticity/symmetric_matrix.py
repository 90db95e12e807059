# SPDX-License-Identifier: GPL-3.0-or-later
"""3×3 matrices as tuples of their entries, row by row, and functions of symmetric ones without their axes.

A symmetric matrix is xx, yy, zz, xy, yz, zx. A function f(C) of one is the polynomial of degree two in C that has the
values of f at the eigenvalues: Newton's divided differences, which stay good where eigenvalues come together.
"""

from __future__ import annotations

import math

from ...runtime.jit import kernel

EIGENVALUE_TOLERANCE = 1.0e-12  # relative distance of eigenvalues that counts as none


@kernel()
def eigenvalues(C, det):
    """Returns the eigenvalues u ≥ v ≥ w of a positive definite matrix whose determinant is known.

    By the cosines that solve the cubic; the smallest by the determinant, which keeps its digits where it is tiny.
    """
    xx, yy, zz, xy, yz, zx = C
    middle = (xx + yy + zz) / 3.0
    a, b, c = xx - middle, yy - middle, zz - middle
    size = math.sqrt((a * a + b * b + c * c + 2.0 * (xy * xy + yz * yz + zx * zx)) / 6.0)
    if not size > EIGENVALUE_TOLERANCE * middle:
        return middle, middle, middle
    half = 0.5 * (a * (b * c - yz * yz) - xy * (xy * c - yz * zx) + zx * (xy * yz - b * zx)) / (size * size * size)
    angle = math.acos(min(1.0, max(-1.0, half))) / 3.0
    near, far = size * math.cos(angle), 1.7320508075688772 * size * math.sin(angle)
    u, v, w = middle + 2.0 * near, middle - near + far, middle - near - far
    return u, v, (det / (u * v) if w < 0.01 * v else w)


@kernel()
def matrix_function(C, u, v, w, fu, fv, fw, slope):
    """Returns the nine entries of f(C), by the eigenvalues u ≥ v ≥ w of C and f there.

    `slope` is f′ near eigenvalues that cannot be told apart.
    """
    xx, yy, zz, xy, yz, zx = C
    uv = (fu - fv) / (u - v) if u - v > EIGENVALUE_TOLERANCE * u else slope
    vw = (fv - fw) / (v - w) if v - w > EIGENVALUE_TOLERANCE * u else slope
    uvw = (uv - vw) / (u - w) if u - w > EIGENVALUE_TOLERANCE * u else 0.0
    # fu I + uv (C − u I) + uvw (C − u I)(C − v I) = k I + n C + uvw C²
    k, n = fu - uv * u + uvw * u * v, uv - uvw * (u + v)
    fxy = n * xy + uvw * (xx * xy + xy * yy + zx * yz)
    fyz = n * yz + uvw * (xy * zx + yy * yz + yz * zz)
    fzx = n * zx + uvw * (xx * zx + xy * yz + zx * zz)
    fxx = k + n * xx + uvw * (xx * xx + xy * xy + zx * zx)
    fyy = k + n * yy + uvw * (xy * xy + yy * yy + yz * yz)
    fzz = k + n * zz + uvw * (zx * zx + yz * yz + zz * zz)
    return fxx, fxy, fzx, fxy, fyy, fyz, fzx, fyz, fzz


@kernel()
def log_shear(u, v, w):
    """Returns the three values of ½ ln C less their mean, by the eigenvalues u, v, w of C, and their norm.

    For C = FᵀF that is the logarithmic strain without the change of size, and how large it is.
    """
    first, second = math.log(u / v) / 6.0, math.log(v / w) / 6.0
    a, b, c = 2.0 * first + second, second - first, -first - 2.0 * second
    return a, b, c, math.sqrt(a * a + b * b + c * c)


@kernel()
def log_shear_bound(C):
    """Returns a number that the norm of `log_shear` does not exceed, in a quarter of the time; infinite where C is
    flat.

    The eigenvalues are at most √(2/3) q from their mean m, q the norm of what C has besides m, and the logarithm is
    nowhere steeper than at the smallest of them.
    """
    xx, yy, zz, xy, yz, zx = C
    m = (xx + yy + zz) / 3.0
    q = math.sqrt((xx - m) ** 2 + (yy - m) ** 2 + (zz - m) ** 2 + 2.0 * (xy * xy + yz * yz + zx * zx))
    smallest = m - 0.8164965809277261 * q
    return 0.5 * q / smallest if smallest > 0.0 else math.inf


@kernel(device_only=True)
def plastic_shear(Fp_inverse):
    """Returns what is needed of Fp⁻¹, given by its nine entries.

    Returns:
        The six entries of A = Fp⁻¹ Fp⁻ᵀ, its eigenvalues u ≥ v ≥ w, and (a, b, c, norm) of `log_shear` them. With
        Fp = R U, A is U⁻²: the norm is ‖ln Fp‖.
    """
    a, b, c, d, e, f, g, h, i = Fp_inverse
    A = right_cauchy_green((a, d, g, b, e, h, c, f, i))
    u, v, w = eigenvalues(A, 1.0)
    return A, u, v, w, log_shear(u, v, w)


@kernel(device_only=True)
def right_cauchy_green(F):
    """Returns the six entries of Fᵀ F."""
    a, b, c, d, e, f, g, h, i = F
    return (
        a * a + d * d + g * g,
        b * b + e * e + h * h,
        c * c + f * f + i * i,
        a * b + d * e + g * h,
        b * c + e * f + h * i,
        c * a + f * d + i * g,
    )


@kernel(device_only=True)
def matrix_product(left, right):
    """Returns the nine entries of a product of matrices."""
    a, b, c, d, e, f, g, h, i = left
    A, B, C, D, E, F, P, Q, R = right
    return (
        a * A + b * D + c * P,
        a * B + b * E + c * Q,
        a * C + b * F + c * R,
        d * A + e * D + f * P,
        d * B + e * E + f * Q,
        d * C + e * F + f * R,
        g * A + h * D + i * P,
        g * B + h * E + i * Q,
        g * C + h * F + i * R,
    )


@kernel()
def determinant(F):
    """Returns det F."""
    a, b, c, d, e, f, g, h, i = F
    return a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g)


@kernel(device_only=True)
def matrix_entries(m):
    """Returns the nine entries of a matrix, (3, 3)."""
    return m[0, 0], m[0, 1], m[0, 2], m[1, 0], m[1, 1], m[1, 2], m[2, 0], m[2, 1], m[2, 2]


@kernel(device_only=True)
def write_matrix(m, nine):
    """Writes the nine entries of a matrix, (3, 3)."""
    m[0, 0], m[0, 1], m[0, 2], m[1, 0], m[1, 1], m[1, 2], m[2, 0], m[2, 1], m[2, 2] = nine
