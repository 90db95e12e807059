# SPDX-License-Identifier: GPL-3.0-or-later
"""The signed singular value decomposition F = U diag(σ) Vᵀ with proper rotations U and V.

σ1 ≥ σ2 ≥ |σ3|, and σ3 < 0 where F is turned inside out. V comes from the axes of FᵀF; the columns of F V are then
orthogonal, but where the smaller two are short, squaring has lost their digits, so they are turned once more in their
plane. Gram and Schmidt make U of them. Flat and zero F have a decomposition too, always the same one.

Source: S07, section 3.5; Irving, Teran and Fedkiw 2004, section 5, for the signs.
"""

from __future__ import annotations

import math

from ..jit import kernel
from .jacobi import eigen_axes, turn

TINY = 1.0e-140  # columns that are shorter say nothing of their direction
APART = 1.0e-15  # relative to the largest singular value: what may be left beside the diagonal


@kernel(contract=True)
def signed_svd(a, b, c, d, e, f, g, h, i):
    """Returns U, row by row, σ1, σ2, σ3, and V, row by row, of F = [[a, b, c], [d, e, f], [g, h, i]]: 21 numbers."""
    _, _, _, v11, v12, v13, v21, v22, v23, v31, v32, v33 = eigen_axes(
        a * a + d * d + g * g,
        b * b + e * e + h * h,
        c * c + f * f + i * i,
        a * b + d * e + g * h,
        b * c + e * f + h * i,
        c * a + f * d + i * g,
    )
    # the columns x, y, z of F V
    x1, x2, x3 = a * v11 + b * v21 + c * v31, d * v11 + e * v21 + f * v31, g * v11 + h * v21 + i * v31
    y1, y2, y3 = a * v12 + b * v22 + c * v32, d * v12 + e * v22 + f * v32, g * v12 + h * v22 + i * v32
    z1, z2, z3 = a * v13 + b * v23 + c * v33, d * v13 + e * v23 + f * v33, g * v13 + h * v23 + i * v33
    xx, yy, zz = x1 * x1 + x2 * x2 + x3 * x3, y1 * y1 + y2 * y2 + y3 * y3, z1 * z1 + z2 * z2 + z3 * z3
    if yy < zz:  # columns trade places as a quarter turn, so that V stays proper
        y1, y2, y3, z1, z2, z3, yy, zz = z1, z2, z3, -y1, -y2, -y3, zz, yy
        v12, v22, v32, v13, v23, v33 = v13, v23, v33, -v12, -v22, -v32
    if xx < yy:
        x1, x2, x3, y1, y2, y3, xx, yy = y1, y2, y3, -x1, -x2, -x3, yy, xx
        v11, v21, v31, v12, v22, v32 = v12, v22, v32, -v11, -v21, -v31
    yz = y1 * z1 + y2 * z2 + y3 * z3
    if yz * yz > APART * APART * xx * max(yy, zz):
        k, s, t = turn(yy, zz, yz)
        yy, zz = yy - t * yz, zz + t * yz
        y1, y2, y3, z1, z2, z3 = (
            k * y1 - s * z1, k * y2 - s * z2, k * y3 - s * z3, s * y1 + k * z1, s * y2 + k * z2, s * y3 + k * z3,
        )  # fmt: skip
        v12, v22, v32, v13, v23, v33 = (
            k * v12 - s * v13, k * v22 - s * v23, k * v32 - s * v33,
            s * v12 + k * v13, s * v22 + k * v23, s * v32 + k * v33,
        )  # fmt: skip
    if yy < zz:
        y1, y2, y3, z1, z2, z3 = z1, z2, z3, -y1, -y2, -y3
        v12, v22, v32, v13, v23, v33 = v13, v23, v33, -v12, -v22, -v32

    p = math.sqrt(xx)
    if p > TINY:
        u11, u21, u31 = x1 / p, x2 / p, x3 / p
    else:
        u11, u21, u31 = v11, v21, v31
    along = u11 * y1 + u21 * y2 + u31 * y3
    w1, w2, w3 = y1 - along * u11, y2 - along * u21, y3 - along * u31
    q = math.sqrt(w1 * w1 + w2 * w2 + w3 * w3)
    if not (q > TINY and q > 0.5 * abs(along)):  # no direction is left: the axis that is farthest from u
        k = abs(u11) <= abs(u21) and abs(u11) <= abs(u31)
        m = not k and abs(u21) <= abs(u31)
        w1, w2, w3 = 1.0 if k else 0.0, 1.0 if m else 0.0, 0.0 if k or m else 1.0
        along = u11 * w1 + u21 * w2 + u31 * w3
        w1, w2, w3 = w1 - along * u11, w2 - along * u21, w3 - along * u31
        q = math.sqrt(w1 * w1 + w2 * w2 + w3 * w3)
    u12, u22, u32 = w1 / q, w2 / q, w3 / q
    u13, u23, u33 = u21 * u32 - u31 * u22, u31 * u12 - u11 * u32, u11 * u22 - u21 * u12
    q = u12 * y1 + u22 * y2 + u32 * y3
    r = u13 * z1 + u23 * z2 + u33 * z3
    return u11, u12, u13, u21, u22, u23, u31, u32, u33, p, q, r, v11, v12, v13, v21, v22, v23, v31, v32, v33
