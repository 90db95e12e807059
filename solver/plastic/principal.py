# SPDX-License-Identifier: GPL-3.0-or-later
"""Principal values of symmetric 3×3 matrices, and powers of them, without their axes.

A matrix is its entries xx, yy, zz, xy, yz, zx. A power Cᵖ is the polynomial of degree two in C that has the powers
of the eigenvalues there: Newton's divided differences, which stay good where eigenvalues come together.
"""

from __future__ import annotations

import math

from ..jit import kernel

TOGETHER = 1.0e-12  # relative distance of eigenvalues that counts as none


@kernel()
def eigenvalues(C, det):
    """Returns the eigenvalues u ≥ v ≥ w of a positive definite matrix whose determinant is known.

    By the cosines that solve the cubic; the smallest by the determinant, which keeps its digits where it is tiny.
    """
    xx, yy, zz, xy, yz, zx = C
    middle = (xx + yy + zz) / 3.0
    a, b, c = xx - middle, yy - middle, zz - middle
    size = math.sqrt((a * a + b * b + c * c + 2.0 * (xy * xy + yz * yz + zx * zx)) / 6.0)
    if not size > TOGETHER * middle:
        return middle, middle, middle
    half = 0.5 * (a * (b * c - yz * yz) - xy * (xy * c - yz * zx) + zx * (xy * yz - b * zx)) / (size * size * size)
    angle = math.acos(min(1.0, max(-1.0, half))) / 3.0
    near, far = size * math.cos(angle), 1.7320508075688772 * size * math.sin(angle)
    u, v, w = middle + 2.0 * near, middle - near + far, middle - near - far
    return u, v, (det / (u * v) if w < 0.01 * v else w)


@kernel()
def power(C, u, v, w, p):
    """Returns the six entries of Cᵖ / (det C)^(p/3), whose determinant is 1, by the eigenvalues u ≥ v ≥ w of C."""
    xx, yy, zz, xy, yz, zx = C
    U, V, W = math.log(u), math.log(v), math.log(w)
    mean = (U + V + W) / 3.0
    fu, fv, fw = math.exp(p * (U - mean)), math.exp(p * (V - mean)), math.exp(p * (W - mean))
    uv = (fu - fv) / (u - v) if u - v > TOGETHER * u else p * fv / v
    vw = (fv - fw) / (v - w) if v - w > TOGETHER * u else p * fv / v
    uvw = (uv - vw) / (u - w) if u - w > TOGETHER * u else 0.0
    # fu I + uv (C − u I) + uvw (C − u I)(C − v I) = k I + n C + uvw C²
    k, n = fu - uv * u + uvw * u * v, uv - uvw * (u + v)
    return (
        k + n * xx + uvw * (xx * xx + xy * xy + zx * zx),
        k + n * yy + uvw * (xy * xy + yy * yy + yz * yz),
        k + n * zz + uvw * (zx * zx + yz * yz + zz * zz),
        n * xy + uvw * (xx * xy + xy * yy + zx * yz),
        n * yz + uvw * (xy * zx + yy * yz + yz * zz),
        n * zx + uvw * (xx * zx + xy * yz + zx * zz),
    )


@kernel()
def shear_norm(u, v, w):
    """Returns ‖½ ln C − its mean‖ of C with the eigenvalues u, v, w: how far it is from a mere change of size."""
    a, b, c = 0.5 * math.log(u), 0.5 * math.log(v), 0.5 * math.log(w)
    mean = (a + b + c) / 3.0
    return math.sqrt((a - mean) ** 2 + (b - mean) ** 2 + (c - mean) ** 2)
