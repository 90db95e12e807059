# SPDX-License-Identifier: GPL-3.0-or-later
"""The rotation nearest to a deformation gradient: proper for every F, and a function of F alone.

R maximizes tr(RᵀF) over the proper rotations. For det F > 0 that is the orthogonal factor of the polar
decomposition F = R S; for an inverted F it is U Vᵀ of the singular value decomposition with the smallest
singular vector turned round, as S07 wants. It does not look at the past, so that a resumed bake goes on
with the same bits.
"""

from __future__ import annotations

import math

from ...runtime.jit import kernel

# Newton's iteration is taken where F is well away from flat, det F > MIN_RELATIVE_DETERMINANT (‖F‖² / 3)^(3/2);
# elsewhere the dearer way, which is at home in any F
MIN_RELATIVE_DETERMINANT = 0.02
SCALING_DETERMINANT_GAP = 0.1  # |det F − 1| from which it is scaled first
MAX_ITERATIONS = 12
CONVERGED_CHANGE = 1.0e-16


@kernel(allow_fma=True)
def nearest_rotation(a, b, c, d, e, f, g, h, i):
    """Returns the nine entries of the rotation nearest to F = [[a, b, c], [d, e, f], [g, h, i]].

    Source: Higham, Computing the polar decomposition, 1986: R ← ½ (R + R⁻ᵀ), after one scaling by
    det^(-1/3) which brings the singular values near 1, where every pass doubles the digits.
    """
    easy, det = allows_newton(a, b, c, d, e, f, g, h, i)
    if easy == 0.0:
        return nearest_rotation_of_any(a, b, c, d, e, f, g, h, i)
    if abs(det - 1.0) > SCALING_DETERMINANT_GAP:
        s = det ** (-1.0 / 3.0)
        a, b, c, d, e, f, g, h, i = s * a, s * b, s * c, s * d, s * e, s * f, s * g, s * h, s * i
    for _ in range(MAX_ITERATIONS):
        a, b, c, d, e, f, g, h, i, change = newton_step(1.0, a, b, c, d, e, f, g, h, i)
        if change < CONVERGED_CHANGE:
            break
    return a, b, c, d, e, f, g, h, i


@kernel(allow_fma=True, inline=True, device_only=True)
def allows_newton(a, b, c, d, e, f, g, h, i):
    """Returns 1 where F is well away from flat, else 0, and det F."""
    det = a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g)
    size = (a * a + b * b + c * c + d * d + e * e + f * f + g * g + h * h + i * i) / 3.0
    easy = (det > MIN_RELATIVE_DETERMINANT * size * math.sqrt(size)) & (size < 1e100) & (size > 1e-100)
    return (1.0 if easy else 0.0), det


@kernel(allow_fma=True, inline=True, device_only=True)
def newton_step(share, a, b, c, d, e, f, g, h, i):
    """Returns R moved by `share` of the way to ½ (R + R⁻ᵀ), and the square of the change: twice the error left."""
    p, q, r = e * i - f * h, f * g - d * i, d * h - e * g
    t, u, v = c * h - b * i, a * i - c * g, b * g - a * h
    w, x, y = b * f - c * e, c * d - a * f, a * e - b * d
    o = 0.5 * share
    k = o / (a * p + b * q + c * r)
    p, q, r = k * p - o * a, k * q - o * b, k * r - o * c
    t, u, v = k * t - o * d, k * u - o * e, k * v - o * f
    w, x, y = k * w - o * g, k * x - o * h, k * y - o * i
    change = p * p + q * q + r * r + t * t + u * u + v * v + w * w + x * x + y * y
    return a + p, b + q, c + r, d + t, e + u, f + v, g + w, h + x, i + y, change


@kernel()
def nearest_rotation_of_any(a, b, c, d, e, f, g, h, i):
    """Returns the nine entries of the rotation nearest to any F; where several are, always the same one.

    tr(RᵀF) = qᵀ K q for the unit quaternion q = (w, x, y, z) of R, so q is the eigenvector of the largest
    eigenvalue of the symmetric 4×4 matrix K. (I + K) squared again and again tends to q qᵀ; equal
    eigenvalues, as those of F = 0, do no harm. Source: K from Horn 1987, section 4.
    """
    size = math.sqrt(3.0 * (a * a + b * b + c * c + d * d + e * e + f * f + g * g + h * h + i * i))
    if size > 0.0 and size < math.inf:
        s = 1.0 / size
    else:  # zero, or no numbers: the identity
        s, a, b, c, d, e, f, g, h, i = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    ww, xx, yy, zz = 1.0 + s * (a + e + i), 1.0 + s * (a - e - i), 1.0 + s * (e - a - i), 1.0 + s * (i - a - e)
    wx, wy, wz = s * (h - f), s * (c - g), s * (d - b)
    xy, xz, yz = s * (b + d), s * (c + g), s * (f + h)
    for _ in range(50):
        k = 1.0 / (ww + xx + yy + zz)
        ww, xx, yy, zz, wx, wy, wz, xy, xz, yz = (
            k * ww, k * xx, k * yy, k * zz, k * wx, k * wy, k * wz, k * xy, k * xz, k * yz,
        )  # fmt: skip
        ww, xx, yy, zz, wx, wy, wz, xy, xz, yz = (
            ww * ww + wx * wx + wy * wy + wz * wz,
            wx * wx + xx * xx + xy * xy + xz * xz,
            wy * wy + xy * xy + yy * yy + yz * yz,
            wz * wz + xz * xz + yz * yz + zz * zz,
            ww * wx + wx * xx + wy * xy + wz * xz,
            ww * wy + wx * xy + wy * yy + wz * yz,
            ww * wz + wx * xz + wy * yz + wz * zz,
            wx * wy + xx * xy + xy * yy + xz * yz,
            wx * wz + xx * xz + xy * yz + xz * zz,
            wy * wz + xy * xz + yy * yz + yz * zz,
        )
        # with trace one before squaring, the trace after tells how near to q qᵀ it is
        if ww + xx + yy + zz > 1.0 - 1e-9:
            break
    largest = max(ww, xx, yy, zz)
    if ww == largest:
        w, x, y, z = ww, wx, wy, wz
    elif xx == largest:
        w, x, y, z = wx, xx, xy, xz
    elif yy == largest:
        w, x, y, z = wy, xy, yy, yz
    else:
        w, x, y, z = wz, xz, yz, zz
    k = 1.0 / math.sqrt(w * w + x * x + y * y + z * z)
    w, x, y, z = k * w, k * x, k * y, k * z
    return (
        1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y),
        2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x),
        2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y),
    )  # fmt: skip
