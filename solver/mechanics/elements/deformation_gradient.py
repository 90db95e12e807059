# SPDX-License-Identifier: GPL-3.0-or-later
"""The deformation gradient of a tet, as nine numbers that stay in registers."""

from __future__ import annotations

from ...runtime.jit import kernel


@kernel(allow_fma=True, device_only=True)
def deformation_gradient_of(x, n, G):
    """Returns the entries of F = Ds Dm⁻¹, row by row, of the tet with the nodes n, (4,), and Dm⁻¹ = G, (3, 3)."""
    p0, p1, p2, p3 = x[n[0]], x[n[1]], x[n[2]], x[n[3]]
    x1, y1, z1 = p1[0] - p0[0], p1[1] - p0[1], p1[2] - p0[2]
    x2, y2, z2 = p2[0] - p0[0], p2[1] - p0[1], p2[2] - p0[2]
    x3, y3, z3 = p3[0] - p0[0], p3[1] - p0[1], p3[2] - p0[2]
    g1x, g1y, g1z = G[0, 0], G[0, 1], G[0, 2]
    g2x, g2y, g2z = G[1, 0], G[1, 1], G[1, 2]
    g3x, g3y, g3z = G[2, 0], G[2, 1], G[2, 2]
    a, b, c = x1 * g1x + x2 * g2x + x3 * g3x, x1 * g1y + x2 * g2y + x3 * g3y, x1 * g1z + x2 * g2z + x3 * g3z
    d, e, f = y1 * g1x + y2 * g2x + y3 * g3x, y1 * g1y + y2 * g2y + y3 * g3y, y1 * g1z + y2 * g2z + y3 * g3z
    g, h, i = z1 * g1x + z2 * g2x + z3 * g3x, z1 * g1y + z2 * g2y + z3 * g3y, z1 * g1z + z2 * g2z + z3 * g3z
    return a, b, c, d, e, f, g, h, i


@kernel(device_only=True)
def matrix_entries(R):
    """Returns the entries of a matrix, (3, 3), row by row."""
    return R[0, 0], R[0, 1], R[0, 2], R[1, 0], R[1, 1], R[1, 2], R[2, 0], R[2, 1], R[2, 2]


@kernel(device_only=True)
def unpack_six(e):
    """Returns six numbers, (6,)."""
    return e[0], e[1], e[2], e[3], e[4], e[5]


@kernel(allow_fma=True, device_only=True)
def corotated_strain_of(gradient, rotation):
    """Returns xx, yy, zz, xy, yz, zx of sym(RᵀF) − I for the entries of F and of R, row by row."""
    a, b, c, d, e, f, g, h, i = gradient
    A, B, C, D, E, F, P, Q, R = rotation
    return (
        A * a + D * d + P * g - 1.0,
        B * b + E * e + Q * h - 1.0,
        C * c + F * f + R * i - 1.0,
        0.5 * (A * b + D * e + P * h + B * a + E * d + Q * g),
        0.5 * (B * c + E * f + Q * i + C * b + F * e + R * h),
        0.5 * (C * a + F * d + R * g + A * c + D * f + P * i),
    )
