# SPDX-License-Identifier: GPL-3.0-or-later
"""Tets with full tensors in the diagonal frame: P̂ as 9 numbers and T as a 9×9 matrix, row by row.

Up to P̂ and T of the isotropic law the stages are those of the tet pass (`diagonal_frame_stress_simd.py`); the rest goes
tet by tet.

Compiled only for models with a term of `anisotropic_terms.py`. Loops instead of A[:] = T: they compile in a seventh of
the time.
"""

from __future__ import annotations

import numpy as np

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
from .tet_kernels import BLOCKS_OFFSET, ENERGY_ONLY, WITH_TANGENT

L = LANES
SCRATCH_SIZE = ROTATED_GRADIENTS * L


@kernel(allow_fma=True)
def compute_diagonal_frames(
    rows, wanted, law, x, rest, s, energy, smallest, stretches, frames, stress, tangent
):  # fmt: skip
    """Writes raised stretches, frames U and V, and of the isotropic law energy, P̂ and T, not clamped.

    Args:
        rows: The tets.
        wanted: WITH_TANGENT: P̂ and T; WITH_FORCES: P̂; ENERGY_ONLY: neither, and those not wanted may be empty.
        law: `LawArrays`.
        x: Positions [m], (n, 3).
        rest: `RestShapes`.
        s: Work space, (SCRATCH_SIZE,).
        energy, smallest: As in `hyperelastic_tets`, [J], (m,) each, out.
        stretches, frames, stress, tangent: (c, 3), (c, 2, 3, 3), (c, 9) and (c, 9, 9), P̂ and T in Pa, out.
    """
    numbers, mu, lam, parameter, extension, threshold = law
    tets, Dm_inverse, volume = rest
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
        stress_and_tangent_lanes(extension, threshold, D, M, C, T)
        for i in range(count):
            tet = rows[first + i]
            energy[tet], smallest[tet] = volume[tet] * C[4 * L + i], D[11 * L + i]
            for k in range(3):
                stretches[first + i, k] = extended_stretch(extension, threshold, D[(9 + k) * L + i])
                for r in range(3):
                    frames[first + i, 0, r, k] = D[(3 * r + k) * L + i]
                    frames[first + i, 1, r, k] = D[(12 + 3 * r + k) * L + i]
            if wanted != ENERGY_ONLY:
                write_full_stress(i, T, stress[first + i])
            if wanted == WITH_TANGENT:
                write_full_tangent(i, T, tangent[first + i])


@kernel(allow_fma=True, device_only=True)
def write_deformation_gradient(x, n, B, i, F):
    """Writes F of a tet into lane i."""
    for r in range(3):
        a, b, c = x[n[1], r] - x[n[0], r], x[n[2], r] - x[n[0], r], x[n[3], r] - x[n[0], r]
        for k in range(3):
            F[(3 * r + k) * L + i] = a * B[0, k] + b * B[1, k] + c * B[2, k]


@kernel(allow_fma=True, device_only=True)
def write_full_stress(i, T, stress):
    """Writes the stress among the fifteen numbers of `T` in lane i as P̂, (9,)."""
    for r in range(9):
        stress[r] = 0.0
    for p in range(3):
        stress[4 * p] = T[p * L + i]


@kernel(allow_fma=True, device_only=True)
def write_full_tangent(i, T, tangent):
    """Writes the differential among the fifteen numbers of `T` in lane i as T, (9, 9)."""
    for r in range(9):
        for c in range(9):
            tangent[r, c] = 0.0
    for p in range(3):
        q = (p + 1) % 3  # pairs are 12, 23, 31
        pp, pq, qp, qq = 4 * p, 3 * p + q, 3 * q + p, 4 * q
        above, below = 0.5 * T[(9 + p) * L + i], 0.5 * T[(12 + p) * L + i]
        tangent[pp, pp] = T[(3 + p) * L + i]
        tangent[pp, qq] = tangent[qq, pp] = T[(6 + p) * L + i]
        tangent[pq, pq] = tangent[qp, qp] = above + below
        tangent[pq, qp] = tangent[qp, pq] = above - below


@kernel(allow_fma=True)
def write_anisotropic_forces(rows, Dm_inverse, volume, frames, stress, record):
    """Writes f_a = −V U P̂ h_a, h = Vᵀ g, into records.

    Args:
        rows: The tets.
        Dm_inverse, volume: Of the model.
        frames, stress: Of `compute_diagonal_frames`, with what was added.
        record: (m, RECORD_LENGTH), out.
    """
    for place in range(len(rows)):
        tet, U, W, P = rows[place], frames[place, 0], frames[place, 1], stress[place]
        B, v, out = Dm_inverse[tet], volume[tet], record[tet]
        for a in range(3):
            h0 = B[a, 0] * W[0, 0] + B[a, 1] * W[1, 0] + B[a, 2] * W[2, 0]
            h1 = B[a, 0] * W[0, 1] + B[a, 1] * W[1, 1] + B[a, 2] * W[2, 1]
            h2 = B[a, 0] * W[0, 2] + B[a, 1] * W[1, 2] + B[a, 2] * W[2, 2]
            p0 = P[0] * h0 + P[1] * h1 + P[2] * h2
            p1 = P[3] * h0 + P[4] * h1 + P[5] * h2
            p2 = P[6] * h0 + P[7] * h1 + P[8] * h2
            for r in range(3):
                out[3 * a + r] = -v * (U[r, 0] * p0 + U[r, 1] * p1 + U[r, 2] * p2)


@kernel(allow_fma=True)
def write_anisotropic_blocks(rows, Dm_inverse, volume, pairs, frames, tangent, record):
    """Writes K_ab = V U K̂ Uᵀ, K̂[i, k] = Σ_jl T_ij,kl h_a[j] h_b[l], h = Vᵀ g, into records.

    Args:
        rows, Dm_inverse, volume, frames, tangent, record: As for `write_anisotropic_forces`.
        pairs: Nodes of the blocks of a tet, a < b, (6, 2).
    """
    h, C, K = np.empty((4, 3)), np.empty((3, 3, 9)), np.empty((3, 3))
    for place in range(len(rows)):
        tet, U, W, T = rows[place], frames[place, 0], frames[place, 1], tangent[place]
        B, v, out = Dm_inverse[tet], volume[tet], record[tet]
        for j in range(3):
            for a in range(3):
                h[a + 1, j] = B[a, 0] * W[0, j] + B[a, 1] * W[1, j] + B[a, 2] * W[2, j]
            h[0, j] = -h[1, j] - h[2, j] - h[3, j]
        for a in range(3):  # Σ_j T_ij,kl h_a[j]: no pair has the last node first
            for i in range(3):
                for k in range(9):
                    C[a, i, k] = T[3 * i, k] * h[a, 0] + T[3 * i + 1, k] * h[a, 1] + T[3 * i + 2, k] * h[a, 2]
        for number in range(6):
            g, other = C[pairs[number, 0]], h[pairs[number, 1]]
            for k in range(3):
                a = g[0, 3 * k] * other[0] + g[0, 3 * k + 1] * other[1] + g[0, 3 * k + 2] * other[2]
                b = g[1, 3 * k] * other[0] + g[1, 3 * k + 1] * other[1] + g[1, 3 * k + 2] * other[2]
                c = g[2, 3 * k] * other[0] + g[2, 3 * k + 1] * other[1] + g[2, 3 * k + 2] * other[2]
                for r in range(3):
                    K[r, k] = v * (U[r, 0] * a + U[r, 1] * b + U[r, 2] * c)
            for r in range(3):
                for c in range(3):
                    total = K[r, 0] * U[c, 0] + K[r, 1] * U[c, 1] + K[r, 2] * U[c, 2]
                    out[BLOCKS_OFFSET + 9 * number + 3 * r + c] = total
