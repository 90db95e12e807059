# SPDX-License-Identifier: GPL-3.0-or-later
"""Forces, energy and tangent of linear hyperelastic tets, and their sums per node.

With F = Ds Dm⁻¹ = U F̂ Vᵀ, gradients g_a of the shape functions and h_a = Vᵀ g_a, node a feels f_a = −V U P̂ h_a, and
the tangent between nodes a and b is the block K_ab = U K̂_ab Uᵀ with

    K̂_ab[i, k] = V Σ_jl T_ij,kl h_a[j] h_b[l]

An isotropic law leaves of it K̂_ab[i, i] = V (A_ii h_a[i] h_b[i] + Σ_j≠i α_ij h_a[j] h_b[j]) and, beside the diagonal,
K̂_ab[i, k] = V (A_ik h_a[i] h_b[k] + β_ik h_a[k] h_b[i]). A law with directions adds the sum with its own T here, before
U turns the block; nothing after that knows what a block is made of.

A tet pass writes forces and blocks of a tet, a row pass gathers them per node: no two threads write to the same place,
and every sum has its order.
"""

from __future__ import annotations

import numba
import numpy as np

from ..jit import kernel
from .principal import clamped, principal
from .signed_svd import signed_svd

# What the tet pass leaves per tet: forces [N] on its four nodes, then per node a the blocks K_a1, K_a2, K_a3 [N/m],
# row by row; K_a0 is minus their sum; (m, RECORD).
RECORD = 120


@kernel(parallel=True, contract=True)
def hyperelastic_tets(
    wanted, clamp, law, mu, lam, share, extension, threshold, x, tets, Dm_inverse, volume, energy, smallest, record
):
    """Writes energy and smallest stretch of every tet at node positions x [m], (n, 3), and its record where wanted.

    Args:
        wanted: Whether `record` is written; else it may be empty.
        clamp: Whether the tangent is made positive semi-definite.
        law, mu, lam, share, extension, threshold: Of `Hyperelastic`.
        tets, Dm_inverse, volume: Of the model.
        energy: Energies [J], (m,), out; infinite where the law has none.
        smallest: σ3, negative where inverted, (m,), out.
        record: (m, RECORD), out.
    """
    for tet in numba.prange(len(tets)):
        n, G = tets[tet], Dm_inverse[tet]
        p0, p1, p2, p3 = x[np.uint32(n[0])], x[np.uint32(n[1])], x[np.uint32(n[2])], x[np.uint32(n[3])]
        x1, y1, z1 = p1[0] - p0[0], p1[1] - p0[1], p1[2] - p0[2]
        x2, y2, z2 = p2[0] - p0[0], p2[1] - p0[1], p2[2] - p0[2]
        x3, y3, z3 = p3[0] - p0[0], p3[1] - p0[1], p3[2] - p0[2]
        a1, b1, c1 = G[0, 0], G[0, 1], G[0, 2]
        a2, b2, c2 = G[1, 0], G[1, 1], G[1, 2]
        a3, b3, c3 = G[2, 0], G[2, 1], G[2, 2]
        U11, U12, U13, U21, U22, U23, U31, U32, U33, p, q, r, V11, V12, V13, V21, V22, V23, V31, V32, V33 = signed_svd(
            x1 * a1 + x2 * a2 + x3 * a3, x1 * b1 + x2 * b2 + x3 * b3, x1 * c1 + x2 * c2 + x3 * c3,
            y1 * a1 + y2 * a2 + y3 * a3, y1 * b1 + y2 * b2 + y3 * b3, y1 * c1 + y2 * c2 + y3 * c3,
            z1 * a1 + z2 * a2 + z3 * a3, z1 * b1 + z2 * b2 + z3 * b3, z1 * c1 + z2 * c2 + z3 * c3,
        )  # fmt: skip
        psi, P1, P2, P3, A11, A22, A33, A12, A23, A31, s12, s23, s31, t12, t23, t31 = principal(
            law[tet], mu[tet], lam[tet], share[tet], extension, threshold, p, q, r
        )
        v = volume[tet]
        energy[tet], smallest[tet] = v * psi, r
        if wanted:
            if clamp:
                A11, A22, A33, A12, A23, A31, s12, s23, s31, t12, t23, t31 = clamped(
                    A11, A22, A33, A12, A23, A31, s12, s23, s31, t12, t23, t31
                )
            w, U = record[tet], (U11, U12, U13, U21, U22, U23, U31, U32, U33)
            h1 = V11 * a1 + V21 * b1 + V31 * c1, V12 * a1 + V22 * b1 + V32 * c1, V13 * a1 + V23 * b1 + V33 * c1
            h2 = V11 * a2 + V21 * b2 + V31 * c2, V12 * a2 + V22 * b2 + V32 * c2, V13 * a2 + V23 * b2 + V33 * c2
            h3 = V11 * a3 + V21 * b3 + V31 * c3, V12 * a3 + V22 * b3 + V32 * c3, V13 * a3 + V23 * b3 + V33 * c3
            f1, f2, f3 = force_of(U, -v * P1, -v * P2, -v * P3, h1, h2, h3)
            for m in range(3):
                w[3 + m], w[6 + m], w[9 + m] = f1[m], f2[m], f3[m]
                w[m] = -(f1[m] + f2[m] + f3[m])
            half = 0.5 * v
            T = (
                v * A11, v * A22, v * A33, v * A12, v * A23, v * A31,
                half * (s12 + t12), half * (s23 + t23), half * (s31 + t31),
                half * (s12 - t12), half * (s23 - t23), half * (s31 - t31),
            )  # fmt: skip
            B11, B12, B13 = block(U, T, h1, h1), block(U, T, h1, h2), block(U, T, h1, h3)
            B22, B23, B33 = block(U, T, h2, h2), block(U, T, h2, h3), block(U, T, h3, h3)
            for m in range(3):
                for k in range(3):
                    i, j = 3 * m + k, 3 * k + m
                    w[39 + i], w[48 + i], w[57 + i] = B11[i], B12[i], B13[i]
                    w[66 + i], w[75 + i], w[84 + i] = B12[j], B22[i], B23[i]
                    w[93 + i], w[102 + i], w[111 + i] = B13[j], B23[j], B33[i]
                    w[12 + i] = -(B11[i] + B12[j] + B13[j])
                    w[21 + i] = -(B12[i] + B22[i] + B23[j])
                    w[30 + i] = -(B13[i] + B23[i] + B33[i])


@kernel(contract=True)
def force_of(U, P1, P2, P3, h1, h2, h3):
    """Returns U (P1 h[0], P2 h[1], P3 h[2]) for three vectors h."""
    a, b, c = P1 * h1[0], P2 * h1[1], P3 * h1[2]
    d, e, f = P1 * h2[0], P2 * h2[1], P3 * h2[2]
    g, h, i = P1 * h3[0], P2 * h3[1], P3 * h3[2]
    U11, U12, U13, U21, U22, U23, U31, U32, U33 = U
    return (
        (U11 * a + U12 * b + U13 * c, U21 * a + U22 * b + U23 * c, U31 * a + U32 * b + U33 * c),
        (U11 * d + U12 * e + U13 * f, U21 * d + U22 * e + U23 * f, U31 * d + U32 * e + U33 * f),
        (U11 * g + U12 * h + U13 * i, U21 * g + U22 * h + U23 * i, U31 * g + U32 * h + U33 * i),
    )


@kernel(contract=True)
def block(U, T, g, h):
    """Returns the nine entries of U K̂ Uᵀ for gradients g and h in the diagonal frame."""
    A11, A22, A33, A12, A23, A31, a12, a23, a31, b12, b23, b31 = T
    x, y, z = g
    u, v, w = h
    xu, yv, zw = x * u, y * v, z * w
    K11 = A11 * xu + a12 * yv + a31 * zw
    K22 = a12 * xu + A22 * yv + a23 * zw
    K33 = a31 * xu + a23 * yv + A33 * zw
    K12, K21 = A12 * (x * v) + b12 * (y * u), A12 * (y * u) + b12 * (x * v)
    K23, K32 = A23 * (y * w) + b23 * (z * v), A23 * (z * v) + b23 * (y * w)
    K31, K13 = A31 * (z * u) + b31 * (x * w), A31 * (x * w) + b31 * (z * u)
    U11, U12, U13, U21, U22, U23, U31, U32, U33 = U
    a, b, c = U11 * K11 + U12 * K21 + U13 * K31, U11 * K12 + U12 * K22 + U13 * K32, U11 * K13 + U12 * K23 + U13 * K33
    d, e, f = U21 * K11 + U22 * K21 + U23 * K31, U21 * K12 + U22 * K22 + U23 * K32, U21 * K13 + U22 * K23 + U23 * K33
    k, l, m = U31 * K11 + U32 * K21 + U33 * K31, U31 * K12 + U32 * K22 + U33 * K32, U31 * K13 + U32 * K23 + U33 * K33  # noqa: E741
    return (
        a * U11 + b * U12 + c * U13, a * U21 + b * U22 + c * U23, a * U31 + b * U32 + c * U33,
        d * U11 + e * U12 + f * U13, d * U21 + e * U22 + f * U23, d * U31 + e * U32 + f * U33,
        k * U11 + l * U12 + m * U13, k * U21 + l * U22 + m * U23, k * U31 + l * U32 + m * U33,
    )  # fmt: skip


@kernel(parallel=True, contract=True)
def gather_rows(row_start, diagonal, corner_start, corners, corner_block, record, values, force):
    """Writes the blocks of the tangent, (b, 9), and the forces on the nodes [N], (n, 3).

    `row_start`, `diagonal`, `corner_start`, `corners` and `corner_block` are the `BlockPattern`'s; `record` is the
    tet pass's.
    """
    for node in numba.prange(len(diagonal)):
        for k in range(row_start[node], row_start[node + 1]):
            values[k, :] = 0.0
        fx, fy, fz = 0.0, 0.0, 0.0
        for place in range(corner_start[node], corner_start[node + 1]):
            corner = corners[place]
            a = corner & np.uint32(3)
            w, blocks = record[corner >> np.uint32(2)], corner_block[corner]
            fx, fy, fz = fx + w[3 * a], fy + w[3 * a + 1], fz + w[3 * a + 2]
            first = np.uint32(12) + np.uint32(27) * a
            v0, v1, v2, v3 = values[blocks[0]], values[blocks[1]], values[blocks[2]], values[blocks[3]]
            for i in range(np.uint32(9)):
                p, q, r = w[first + i], w[first + np.uint32(9) + i], w[first + np.uint32(18) + i]
                v0[i] -= p + q + r
                v1[i] += p
                v2[i] += q
                v3[i] += r
        force[node, 0], force[node, 1], force[node, 2] = fx, fy, fz


@kernel(parallel=True, contract=True)
def gather_forces(diagonal, corner_start, corners, record, force):
    """Writes the forces on the nodes [N], (n, 3), alone."""
    for node in numba.prange(len(diagonal)):
        fx, fy, fz = 0.0, 0.0, 0.0
        for place in range(corner_start[node], corner_start[node + 1]):
            corner = corners[place]
            a, w = corner & np.uint32(3), record[corner >> np.uint32(2)]
            fx, fy, fz = fx + w[3 * a], fy + w[3 * a + 1], fz + w[3 * a + 2]
        force[node, 0], force[node, 1], force[node, 2] = fx, fy, fz
