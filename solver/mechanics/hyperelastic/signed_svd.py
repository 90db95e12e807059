# SPDX-License-Identifier: GPL-3.0-or-later
"""The signed singular value decomposition F = U diag(σ) Vᵀ with proper rotations U and V.

σ1 ≥ σ2 ≥ |σ3|, and σ3 < 0 where F is turned inside out. V comes from the axes of FᵀF; the columns of F V are then
orthogonal, but where the smaller two are short, squaring has lost their digits, so they are turned once more in their
plane. Gram and Schmidt make U of them. Flat and zero F have a decomposition too, always the same one.

Source: S07, section 3.5; Irving, Teran and Fedkiw 2004, section 5, for the signs.
"""

from __future__ import annotations

import math

from ...runtime.jit import kernel
from .jacobi_eigen import eigen_axes, jacobi_rotation

MIN_COLUMN_LENGTH = 1.0e-140  # columns that are shorter say nothing of their direction


@kernel(allow_fma=True)
def signed_svd(a, b, c, d, e, f, g, h, i):
    """Returns U, row by row, σ1, σ2, σ3, and V, row by row, of F = [[a, b, c], [d, e, f], [g, h, i]]: 21 numbers."""
    xx, yy, zz, xy, yz, zx = right_cauchy_green(a, b, c, d, e, f, g, h, i)
    _, _, _, v11, v12, v13, v21, v22, v23, v31, v32, v33 = eigen_axes(xx, yy, zz, xy, yz, zx)
    return svd_from_axes((a, b, c, d, e, f, g, h, i), (v11, v12, v13, v21, v22, v23, v31, v32, v33))


@kernel(allow_fma=True, inline=True, device_only=True)
def right_cauchy_green(a, b, c, d, e, f, g, h, i):
    """Returns the entries xx, yy, zz, xy, yz, zx of FᵀF."""
    return (
        a * a + d * d + g * g,
        b * b + e * e + h * h,
        c * c + f * f + i * i,
        a * b + d * e + g * h,
        b * c + e * f + h * i,
        c * a + f * d + i * g,
    )


@kernel(allow_fma=True, inline=True, device_only=True)
def sort_columns(first, second):
    """Returns two columns, each with its square and its axis, the longer first: seven numbers each.

    They trade places as a quarter turn, so that V stays proper.
    """
    x1, x2, x3, xx, u1, u2, u3 = first
    y1, y2, y3, yy, v1, v2, v3 = second
    k = xx < yy
    return (
        y1 if k else x1, y2 if k else x2, y3 if k else x3, yy if k else xx,
        v1 if k else u1, v2 if k else u2, v3 if k else u3,
        -x1 if k else y1, -x2 if k else y2, -x3 if k else y3, xx if k else yy,
        -u1 if k else v1, -u2 if k else v2, -u3 if k else v3,
    )  # fmt: skip


@kernel(allow_fma=True, inline=True, device_only=True)
def svd_from_axes(F, axes):
    """Returns `signed_svd` of F, nine numbers, by the axes of FᵀF, nine. Without branches, for loops over many F."""
    a, b, c, d, e, f, g, h, i = F
    v11, v12, v13, v21, v22, v23, v31, v32, v33 = axes
    # the columns x, y, z of F V
    x1, x2, x3 = a * v11 + b * v21 + c * v31, d * v11 + e * v21 + f * v31, g * v11 + h * v21 + i * v31
    y1, y2, y3 = a * v12 + b * v22 + c * v32, d * v12 + e * v22 + f * v32, g * v12 + h * v22 + i * v32
    z1, z2, z3 = a * v13 + b * v23 + c * v33, d * v13 + e * v23 + f * v33, g * v13 + h * v23 + i * v33
    xx, yy, zz = x1 * x1 + x2 * x2 + x3 * x3, y1 * y1 + y2 * y2 + y3 * y3, z1 * z1 + z2 * z2 + z3 * z3
    y1, y2, y3, yy, v12, v22, v32, z1, z2, z3, zz, v13, v23, v33 = sort_columns(
        (y1, y2, y3, yy, v12, v22, v32), (z1, z2, z3, zz, v13, v23, v33)
    )
    x1, x2, x3, xx, v11, v21, v31, y1, y2, y3, yy, v12, v22, v32 = sort_columns(
        (x1, x2, x3, xx, v11, v21, v31), (y1, y2, y3, yy, v12, v22, v32)
    )
    k, s, _ = jacobi_rotation(yy, zz, y1 * z1 + y2 * z2 + y3 * z3)
    y1, y2, y3, z1, z2, z3 = (
        k * y1 - s * z1, k * y2 - s * z2, k * y3 - s * z3, s * y1 + k * z1, s * y2 + k * z2, s * y3 + k * z3,
    )  # fmt: skip
    v12, v22, v32, v13, v23, v33 = (
        k * v12 - s * v13, k * v22 - s * v23, k * v32 - s * v33,
        s * v12 + k * v13, s * v22 + k * v23, s * v32 + k * v33,
    )  # fmt: skip
    yy, zz = y1 * y1 + y2 * y2 + y3 * y3, z1 * z1 + z2 * z2 + z3 * z3
    y1, y2, y3, yy, v12, v22, v32, z1, z2, z3, zz, v13, v23, v33 = sort_columns(
        (y1, y2, y3, yy, v12, v22, v32), (z1, z2, z3, zz, v13, v23, v33)
    )

    p = math.sqrt(xx)
    one, over = p > MIN_COLUMN_LENGTH, 1.0 / p
    u11, u21, u31 = x1 * over if one else v11, x2 * over if one else v21, x3 * over if one else v31
    along = u11 * y1 + u21 * y2 + u31 * y3
    y1, y2, y3 = y1 - along * u11, y2 - along * u21, y3 - along * u31
    q = math.sqrt(y1 * y1 + y2 * y2 + y3 * y3)
    # where no direction is left: across u11, and across the shorter of the other two
    one, over = (q > MIN_COLUMN_LENGTH) & (q > 0.5 * abs(along)), 1.0 / q
    k = abs(u21) < abs(u31)
    w1, w2, w3 = -u31 if k else -u21, 0.0 if k else u11, u11 if k else 0.0
    n = 1.0 / math.sqrt(w1 * w1 + w2 * w2 + w3 * w3)
    u12, u22, u32 = y1 * over if one else w1 * n, y2 * over if one else w2 * n, y3 * over if one else w3 * n
    u13, u23, u33 = u21 * u32 - u31 * u22, u31 * u12 - u11 * u32, u11 * u22 - u21 * u12
    q = q if one else 0.0
    return (
        u11, u12, u13, u21, u22, u23, u31, u32, u33, p, q, u13 * z1 + u23 * z2 + u33 * z3,
        v11, v12, v13, v21, v22, v23, v31, v32, v33,
    )  # fmt: skip
