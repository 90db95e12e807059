# SPDX-License-Identifier: GPL-3.0-or-later
"""Tets with full tensors in the diagonal frame: P̂ as 9 numbers and T as a 9×9 matrix, row by row.

Up to P̂ and T of the isotropic law the stages are those of the tet pass (`diagonal_frame_stress_simd.py`); the rest goes
tet by tet.

Compiled only for models with a term of `anisotropic_terms.py`. Loops instead of A[:] = T: they compile in a seventh of
the time.
"""

from __future__ import annotations

from ...runtime.jit import kernel
from ...runtime.simd.lane_count import LANES
from .diagonal_frame_stress import extended_stretch
from .diagonal_frame_stress_simd import (
    AXES,
    DECOMPOSED,
    DEFORMATION,
    ENERGY_TERMS,
    GRADIENTS,
    MATERIAL,
    ROTATED_GRADIENTS,
    STRESS_AND_TANGENT,
    decompose,
    eigen_axes_lanes,
    right_cauchy_green_lanes,
    stress_and_tangent_lanes,
)
from .tet_kernels import BLOCKS_OFFSET

L = LANES
SCRATCH_SIZE = ROTATED_GRADIENTS * L


@kernel(allow_fma=True)
def compute_diagonal_frames(rows, wanted, law, x, tets, Dm_inverse, s, stretches, frames, stress, tangent):
    """Writes raised stretches, frames U and V, and P̂ and T of the isotropic law [Pa], not clamped.

    Args:
        rows: The tets.
        wanted: Whether P̂ and T are.
        law: `LawArrays`.
        x, tets, Dm_inverse: Positions [m], and of the model.
        s: Work space, (SCRATCH_SIZE,).
        stretches, frames, stress, tangent: (c, 3), (c, 2, 3, 3), (c, 9) and (c, 9, 9), out.
    """
    numbers, mu, lam, parameter, extension, threshold = law
    F, W = s[DEFORMATION * L : GRADIENTS * L], s[AXES * L : DECOMPOSED * L]
    D, M, C = (
        s[DECOMPOSED * L : MATERIAL * L],
        s[MATERIAL * L : ENERGY_TERMS * L],
        s[ENERGY_TERMS * L : STRESS_AND_TANGENT * L],
    )
    T = s[STRESS_AND_TANGENT * L : ROTATED_GRADIENTS * L]
    for first in range(0, len(rows), L):
        count = min(L, len(rows) - first)
        for i in range(L):
            tet = rows[first + min(i, count - 1)]
            write_deformation_gradient(x, tets[tet], Dm_inverse[tet], i, F)
            M[i], M[L + i], M[2 * L + i], M[3 * L + i], M[4 * L + i] = (
                mu[tet],
                lam[tet],
                parameter[tet],
                1.0,
                numbers[tet],
            )
        right_cauchy_green_lanes(F, W)
        eigen_axes_lanes(len(W) // (DECOMPOSED - AXES), W)
        decompose(F, W, D)
        if wanted:
            stress_and_tangent_lanes(extension, threshold, D, M, C, T)
        for i in range(count):
            for k in range(3):
                stretches[first + i, k] = extended_stretch(extension, threshold, D[(9 + k) * L + i])
                for r in range(3):
                    frames[first + i, 0, r, k] = D[(3 * r + k) * L + i]
                    frames[first + i, 1, r, k] = D[(12 + 3 * r + k) * L + i]
            if wanted:
                write_full_tensors(i, T, stress[first + i], tangent[first + i])


@kernel(allow_fma=True, device_only=True)
def write_deformation_gradient(x, n, B, i, F):
    """Writes F of a tet into lane i."""
    for r in range(3):
        a, b, c = x[n[1], r] - x[n[0], r], x[n[2], r] - x[n[0], r], x[n[3], r] - x[n[0], r]
        for k in range(3):
            F[(3 * r + k) * L + i] = a * B[0, k] + b * B[1, k] + c * B[2, k]


@kernel(allow_fma=True, device_only=True)
def write_full_tensors(i, T, stress, tangent):
    """Writes the fifteen numbers of `T` in lane i as P̂, (9,), and T, (9, 9)."""
    for r in range(9):
        stress[r] = 0.0
        for c in range(9):
            tangent[r, c] = 0.0
    for p in range(3):
        q = (p + 1) % 3  # pairs are 12, 23, 31
        pp, pq, qp, qq = 4 * p, 3 * p + q, 3 * q + p, 4 * q
        above, below = 0.5 * T[(9 + p) * L + i], 0.5 * T[(12 + p) * L + i]
        stress[pp], tangent[pp, pp] = T[p * L + i], T[(3 + p) * L + i]
        tangent[pp, qq] = tangent[qq, pp] = T[(6 + p) * L + i]
        tangent[pq, pq] = tangent[qp, qp] = above + below
        tangent[pq, qp] = tangent[qp, pq] = above - below


@kernel(allow_fma=True)
def write_anisotropic_records(rows, wanted, Dm_inverse, volume, pairs, frames, stress, tangent, h, K, record):
    """Writes f_a = −V U P̂ h_a and, where wanted, K_ab = V U K̂ Uᵀ, K̂[i, k] = Σ_jl T_ij,kl h_a[j] h_b[l], h = Vᵀ g.

    Args:
        rows, wanted: The tets, and whether blocks are.
        Dm_inverse, volume: Of the model.
        pairs: Nodes of the blocks of a tet, (6, 2).
        frames, stress, tangent: Of `compute_diagonal_frames`, with what was added.
        h, K: Work space, (4, 3) and (3, 3).
        record: (m, RECORD_LENGTH), out.
    """
    for place in range(len(rows)):
        tet, U, W = rows[place], frames[place, 0], frames[place, 1]
        B, P, T, v, out = Dm_inverse[tet], stress[place], tangent[place], volume[tet], record[rows[place]]
        for j in range(3):
            for a in range(3):
                h[a + 1, j] = B[a, 0] * W[0, j] + B[a, 1] * W[1, j] + B[a, 2] * W[2, j]
            h[0, j] = -h[1, j] - h[2, j] - h[3, j]
        for a in range(3):
            for r in range(3):
                total = 0.0
                for k in range(9):
                    total += U[r, k // 3] * P[k] * h[a + 1, k % 3]
                out[3 * a + r] = -v * total
        if wanted:
            for number in range(6):
                g, other = h[pairs[number, 0]], h[pairs[number, 1]]
                for i in range(3):
                    for k in range(3):
                        total = 0.0
                        for j in range(3):
                            row, c = T[3 * i + j], 3 * k
                            total += g[j] * (row[c] * other[0] + row[c + 1] * other[1] + row[c + 2] * other[2])
                        K[i, k] = v * total
                for r in range(9):
                    total, a, b = 0.0, U[r // 3], U[r % 3]
                    for i in range(3):
                        total += a[i] * (K[i, 0] * b[0] + K[i, 1] * b[1] + K[i, 2] * b[2])
                    out[BLOCKS_OFFSET + 9 * number + r] = total
