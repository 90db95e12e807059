# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodal forces and tangent blocks, for 32 tets at a time (`diagonal_frame_stress_simd.py` has the layout of lanes).

With F = U F̂ Vᵀ, gradients g_a of the shape functions and h_a = Vᵀ g_a, node a feels f_a = −V U P̂ h_a, and the tangent
between nodes a and b is the block K_ab = U K̂_ab Uᵀ with K̂_ab[i, k] = V Σ_jl T_ij,kl h_a[j] h_b[l]. An isotropic law
leaves of it

    K̂_ab[i, i] = V (A_ii h_a[i] h_b[i] + Σ_j≠i α_ij h_a[j] h_b[j])
    K̂_ab[i, k] = V (A_ik h_a[i] h_b[k] + β_ik h_a[k] h_b[i]),   i ≠ k

Tets with an anisotropic term have a full T and P̂, and the whole sum: `write_anisotropic_blocks` of
`anisotropic_kernels.py`.
"""

from __future__ import annotations

from ...runtime.jit import kernel
from ...runtime.simd.lane_count import LANES as L


@kernel(allow_fma=True, device_only=True)
def scale_by_volume(M, T):
    """Multiplies stress and differential in T by V, and turns α + β and α − β into α and β."""
    for i in range(L):
        v = M[3 * L + i]
        for k in range(9):
            T[k * L + i] *= v
        x, y, z = 0.5 * v * T[9 * L + i], 0.5 * v * T[10 * L + i], 0.5 * v * T[11 * L + i]
        a, b, c = 0.5 * v * T[12 * L + i], 0.5 * v * T[13 * L + i], 0.5 * v * T[14 * L + i]
        T[9 * L + i], T[10 * L + i], T[11 * L + i] = x + a, y + b, z + c
        T[12 * L + i], T[13 * L + i], T[14 * L + i] = x - a, y - b, z - c


@kernel(allow_fma=True, device_only=True)
def gradient_forces(D, T, g, h, f):
    """Writes h = Vᵀ g and f = −U P h of one gradient per tet, for P = V P̂ in T."""
    for i in range(L):
        x, y, z = g[i], g[L + i], g[2 * L + i]
        a = D[12 * L + i] * x + D[15 * L + i] * y + D[18 * L + i] * z
        b = D[13 * L + i] * x + D[16 * L + i] * y + D[19 * L + i] * z
        c = D[14 * L + i] * x + D[17 * L + i] * y + D[20 * L + i] * z
        h[i], h[L + i], h[2 * L + i] = a, b, c
        a, b, c = -T[i] * a, -T[L + i] * b, -T[2 * L + i] * c
        f[i] = D[i] * a + D[L + i] * b + D[2 * L + i] * c
        f[L + i] = D[3 * L + i] * a + D[4 * L + i] * b + D[5 * L + i] * c
        f[2 * L + i] = D[6 * L + i] * a + D[7 * L + i] * b + D[8 * L + i] * c


@kernel(allow_fma=True, device_only=True)
def tangent_blocks(D, T, g, h, K):
    """Writes U K̂ Uᵀ, row by row, for the gradients g and h in the diagonal frame."""
    for i in range(L):
        x, y, z, u, v, w = g[i], g[L + i], g[2 * L + i], h[i], h[L + i], h[2 * L + i]
        A12, A23, A31 = T[6 * L + i], T[7 * L + i], T[8 * L + i]
        a12, a23, a31 = T[9 * L + i], T[10 * L + i], T[11 * L + i]
        b12, b23, b31 = T[12 * L + i], T[13 * L + i], T[14 * L + i]
        xu, yv, zw, xv, yu, yw, zv, zu, xw = x * u, y * v, z * w, x * v, y * u, y * w, z * v, z * u, x * w
        K11, K22, K33 = (
            T[3 * L + i] * xu + a12 * yv + a31 * zw,
            a12 * xu + T[4 * L + i] * yv + a23 * zw,
            a31 * xu + a23 * yv + T[5 * L + i] * zw,
        )
        K12, K21, K23, K32 = A12 * xv + b12 * yu, A12 * yu + b12 * xv, A23 * yw + b23 * zv, A23 * zv + b23 * yw
        K31, K13 = A31 * zu + b31 * xw, A31 * xw + b31 * zu
        p, q, r = D[i], D[L + i], D[2 * L + i]
        P, Q, R = D[3 * L + i], D[4 * L + i], D[5 * L + i]
        s, t, o = D[6 * L + i], D[7 * L + i], D[8 * L + i]
        a, b, c = p * K11 + q * K21 + r * K31, p * K12 + q * K22 + r * K32, p * K13 + q * K23 + r * K33
        d, e, f = P * K11 + Q * K21 + R * K31, P * K12 + Q * K22 + R * K32, P * K13 + Q * K23 + R * K33
        k, l, m = s * K11 + t * K21 + o * K31, s * K12 + t * K22 + o * K32, s * K13 + t * K23 + o * K33  # noqa: E741
        K[i], K[L + i], K[2 * L + i] = a * p + b * q + c * r, a * P + b * Q + c * R, a * s + b * t + c * o
        K[3 * L + i], K[4 * L + i], K[5 * L + i] = d * p + e * q + f * r, d * P + e * Q + f * R, d * s + e * t + f * o
        K[6 * L + i], K[7 * L + i], K[8 * L + i] = k * p + l * q + m * r, k * P + l * Q + m * R, k * s + l * t + m * o


@kernel(allow_fma=True, device_only=True)
def first_corner_blocks(S, K, K0):
    """Writes K01, K02, K03 by K11, K22, K33 in S and K12, K13, K23: columns of blocks have the sum zero."""
    for m in range(3):
        for n in range(3):
            a, b = (3 * m + n) * L, (3 * n + m) * L
            for i in range(L):
                K0[a + i] = -(S[a + i] + K[b + i] + K[9 * L + b + i])
                K0[9 * L + a + i] = -(K[a + i] + S[9 * L + a + i] + K[18 * L + b + i])
                K0[18 * L + a + i] = -(K[9 * L + a + i] + K[18 * L + a + i] + S[18 * L + a + i])
