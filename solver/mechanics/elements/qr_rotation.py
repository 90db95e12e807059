# SPDX-License-Identifier: GPL-3.0-or-later
"""The rotation of a tet by the edges at its first corner: F = R U in its axes at rest, U upper triangular.

The first axis lies along the edge ab, the second in the plane abc, the third normal to it; R turns these axes at rest
into the present ones. R depends on the order of the corners. The corner d alone does not count, and the axes are always
right-handed: a tet is inverted where d has crossed the plane abc, and is pushed back through it.

Source: Nesme, Payan and Faure 2005, sections 2.1 and 4.1.
"""

from __future__ import annotations

import math

from ...runtime.jit import kernel
from ...runtime.simd.lane_count import LANES
from .nearest_rotation import nearest_rotation_of_any

L = LANES
FLAT_TRIANGLE_RATIO = 1.0e-12  # height over length of the triangle abc up to which it has no plane


@kernel(allow_fma=True)
def qr_rotation_of(F, across_acd, across_abc):
    """Returns the nine entries of R, row by row, for those of F.

    The other arguments are the last two rows of Dm⁻¹: across the plane acd, and across abc. Where a, b and c lie on a
    line or in one point there are no such axes, and R is the rotation nearest to F.
    """
    A, B, C, D, E, G, P, Q, R, there = qr_axes(F, across_acd, across_abc)
    if there == 0.0:
        return nearest_rotation_of_any(*F)
    return A, B, C, D, E, G, P, Q, R


@kernel(allow_fma=True, device_only=True)
def qr_rotation_lanes(count, F, G, R, there):
    """Writes the rotations of the first `count` lanes, as `nearest_rotation_lanes` does.

    Args:
        count: How many there are.
        F: The matrices, (9 L,), column by column; numbers of any size in the other lanes.
        G: The last two rows of Dm⁻¹, (6 L,).
        R: Out, (9 L,).
        there: Work space, (L,).
    """
    for i in range(L):
        (
            R[i], R[3 * L + i], R[6 * L + i], R[L + i], R[4 * L + i], R[7 * L + i], R[2 * L + i], R[5 * L + i],
            R[8 * L + i], there[i],
        ) = qr_axes(
            (
                F[i], F[3 * L + i], F[6 * L + i], F[L + i], F[4 * L + i], F[7 * L + i], F[2 * L + i], F[5 * L + i],
                F[8 * L + i],
            ),
            (G[i], G[L + i], G[2 * L + i]),
            (G[3 * L + i], G[4 * L + i], G[5 * L + i]),
        )  # fmt: skip
    for i in range(count):
        if there[i] == 0.0:
            (
                R[i], R[3 * L + i], R[6 * L + i], R[L + i], R[4 * L + i], R[7 * L + i], R[2 * L + i], R[5 * L + i],
                R[8 * L + i],
            ) = nearest_rotation_of_any(
                F[i], F[3 * L + i], F[6 * L + i], F[L + i], F[4 * L + i], F[7 * L + i], F[2 * L + i], F[5 * L + i],
                F[8 * L + i],
            )  # fmt: skip


@kernel(allow_fma=True, inline=True, device_only=True)
def qr_axes(F, across_acd, across_abc):
    """Returns the nine entries of R, row by row, and 1, or no numbers and 0 where abc has no plane."""
    a, b, c, d, e, f, g, h, i = F
    gx, gy, gz = across_acd
    hx, hy, hz = across_abc
    # the axes at rest: the third across abc, the second in abc and across ab, the first along ab
    k = 1.0 / math.sqrt(hx * hx + hy * hy + hz * hz)
    hx, hy, hz = k * hx, k * hy, k * hz
    k = gx * hx + gy * hy + gz * hz
    gx, gy, gz = gx - k * hx, gy - k * hy, gz - k * hz
    k = 1.0 / math.sqrt(gx * gx + gy * gy + gz * gz)
    gx, gy, gz = k * gx, k * gy, k * gz
    fx, fy, fz = gy * hz - gz * hy, gz * hx - gx * hz, gx * hy - gy * hx
    # where F takes the first two, and the normal of the plane of these
    px, py, pz = a * fx + b * fy + c * fz, d * fx + e * fy + f * fz, g * fx + h * fy + i * fz
    qx, qy, qz = a * gx + b * gy + c * gz, d * gx + e * gy + f * gz, g * gx + h * gy + i * gz
    rx, ry, rz = py * qz - pz * qy, pz * qx - px * qz, px * qy - py * qx
    along, across = px * px + py * py + pz * pz, qx * qx + qy * qy + qz * qz
    normal = rx * rx + ry * ry + rz * rz
    least = FLAT_TRIANGLE_RATIO * (along + across)
    there = (normal > least * least) & (along > FLAT_TRIANGLE_RATIO * FLAT_TRIANGLE_RATIO * across)
    k, m = 1.0 / math.sqrt(along), 1.0 / math.sqrt(normal)
    px, py, pz, rx, ry, rz = k * px, k * py, k * pz, m * rx, m * ry, m * rz
    qx, qy, qz = ry * pz - rz * py, rz * px - rx * pz, rx * py - ry * px
    return (
        px * fx + qx * gx + rx * hx, px * fy + qx * gy + rx * hy, px * fz + qx * gz + rx * hz,
        py * fx + qy * gx + ry * hx, py * fy + qy * gy + ry * hy, py * fz + qy * gz + ry * hz,
        pz * fx + qz * gx + rz * hx, pz * fy + qz * gy + rz * hy, pz * fz + qz * gz + rz * hz,
        1.0 if there else 0.0,
    )  # fmt: skip
