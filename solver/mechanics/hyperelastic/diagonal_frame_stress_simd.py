# SPDX-License-Identifier: GPL-3.0-or-later
"""Signed SVD, energy, and stress with its clamped differential in the diagonal frame, for 32 tets at a time.

The arithmetic is that of `signed_svd.py`, `energy_densities.py` and `diagonal_frame_stress.py`, stage by stage and
without branches, so that the processor works on eight tets at once. A stage hands groups of rows of a scratch array to
the next: number k of the tet in lane i lies at k · L + i.
"""

from __future__ import annotations

from ...runtime.jit import kernel
from ...runtime.simd.lane_count import LANES
from .diagonal_frame_stress import extended_stretch, stress_from_derivatives
from .energy_densities import energy_derivatives, limited_volume_change, stretch_sums, transcendental
from .jacobi_eigen import MAX_SWEEPS, is_diagonal, is_positive_definite, jacobi_sweep, matrix_from_clamped_eigenvalues
from .signed_svd import right_cauchy_green, svd_from_axes

L = LANES

# First rows of the groups
DEFORMATION = 0  # F, 9 rows
GRADIENTS = 9  # g1, g2, g3, 9 rows
AXES = 18  # a symmetric matrix and its axes, 15 rows
DECOMPOSED = 33  # U, σ and V, 21 rows
MATERIAL = 54  # μ, λ, share, V and law, 5 rows
ENERGY_TERMS = 59  # terms of the energy, and the energy, 5 rows
STRESS_AND_TANGENT = 64  # stress and its differential, 15 rows
ROTATED_GRADIENTS = 79  # gradients in the diagonal frame, 9 rows
RESULT = 88  # forces and blocks, 63 rows
NODE_BLOCKS = 151  # blocks of nodes with themselves, 27 rows
LANE_ROWS = 178  # number of all rows


@kernel(allow_fma=True, device_only=True)
def right_cauchy_green_lanes(F, W):
    """Writes FᵀF into W."""
    for i in range(L):
        xx, yy, zz, xy, yz, zx = right_cauchy_green(
            F[i], F[L + i], F[2 * L + i], F[3 * L + i], F[4 * L + i], F[5 * L + i], F[6 * L + i], F[7 * L + i],
            F[8 * L + i],
        )  # fmt: skip
        W[i], W[L + i], W[2 * L + i], W[3 * L + i], W[4 * L + i], W[5 * L + i] = xx, yy, zz, xy, yz, zx


@kernel(allow_fma=True, device_only=True)
def decompose(F, W, D):
    """Writes U, σ and V of F = U diag(σ) Vᵀ by the axes of FᵀF in W."""
    for i in range(L):
        (
            D[i], D[L + i], D[2 * L + i], D[3 * L + i], D[4 * L + i], D[5 * L + i], D[6 * L + i], D[7 * L + i],
            D[8 * L + i], D[9 * L + i], D[10 * L + i], D[11 * L + i], D[12 * L + i], D[13 * L + i], D[14 * L + i],
            D[15 * L + i], D[16 * L + i], D[17 * L + i], D[18 * L + i], D[19 * L + i], D[20 * L + i],
        ) = svd_from_axes(
            (
                F[i], F[L + i], F[2 * L + i], F[3 * L + i], F[4 * L + i], F[5 * L + i], F[6 * L + i], F[7 * L + i],
                F[8 * L + i],
            ),
            (
                W[6 * L + i], W[7 * L + i], W[8 * L + i], W[9 * L + i], W[10 * L + i], W[11 * L + i], W[12 * L + i],
                W[13 * L + i], W[14 * L + i],
            ),
        )  # fmt: skip


@kernel(allow_fma=True, device_only=True)
def eigen_axes_lanes(count, W):
    """Makes the symmetric matrices of the first `count` lanes diagonal and writes their axes."""
    for i in range(count):
        W[6 * L + i], W[7 * L + i], W[8 * L + i] = 1.0, 0.0, 0.0
        W[9 * L + i], W[10 * L + i], W[11 * L + i] = 0.0, 1.0, 0.0
        W[12 * L + i], W[13 * L + i], W[14 * L + i] = 0.0, 0.0, 1.0
    for _ in range(MAX_SWEEPS):
        left = 0
        for i in range(count):
            xx, yy, zz, xy, yz, zx, a, b, c, d, e, f, g, h, k = jacobi_sweep(
                (W[i], W[L + i], W[2 * L + i], W[3 * L + i], W[4 * L + i], W[5 * L + i]),
                (
                    W[6 * L + i], W[7 * L + i], W[8 * L + i], W[9 * L + i], W[10 * L + i], W[11 * L + i], W[12 * L + i],
                    W[13 * L + i], W[14 * L + i],
                ),
            )  # fmt: skip
            W[i], W[L + i], W[2 * L + i], W[3 * L + i], W[4 * L + i], W[5 * L + i] = xx, yy, zz, xy, yz, zx
            W[6 * L + i], W[7 * L + i], W[8 * L + i], W[9 * L + i], W[10 * L + i] = a, b, c, d, e
            W[11 * L + i], W[12 * L + i], W[13 * L + i], W[14 * L + i] = f, g, h, k
            left += 0 if is_diagonal(xx, yy, zz, xy, yz, zx) else 1
        if left == 0:
            break


@kernel(allow_fma=True, device_only=True)
def stress_and_tangent_lanes(extension, threshold, D, M, C, T):
    """Writes energies into the last row of C, and stress and differential of `stress_from_derivatives` into T."""
    for i in range(L):
        p = extended_stretch(extension, threshold, D[9 * L + i])
        q = extended_stretch(extension, threshold, D[10 * L + i])
        r = extended_stretch(extension, threshold, D[11 * L + i])
        s, e, j, _, _ = stretch_sums(p, q, r)
        C[i], C[L + i] = limited_volume_change(extension, threshold, j), e + 2.0 * s
    for i in range(L):
        C[2 * L + i], C[3 * L + i] = transcendental(int(M[4 * L + i]), C[i], C[L + i])
    for i in range(L):
        p = extended_stretch(extension, threshold, D[9 * L + i])
        q = extended_stretch(extension, threshold, D[10 * L + i])
        r = extended_stretch(extension, threshold, D[11 * L + i])
        sums = stretch_sums(p, q, r)
        psi, fs, f1, f2, f3, f11, f13, f23, f33 = energy_derivatives(
            int(M[4 * L + i]), M[i], M[L + i], M[2 * L + i], extension, sums, C[i], C[2 * L + i], C[3 * L + i]
        )
        C[4 * L + i] = psi * M[3 * L + i]
        (
            T[i], T[L + i], T[2 * L + i], T[3 * L + i], T[4 * L + i], T[5 * L + i], T[6 * L + i], T[7 * L + i],
            T[8 * L + i], T[9 * L + i], T[10 * L + i], T[11 * L + i], T[12 * L + i], T[13 * L + i], T[14 * L + i],
        ) = stress_from_derivatives(p, q, r, fs, f1, f2, f3, f11, f13, f23, f33)  # fmt: skip


@kernel(allow_fma=True, device_only=True)
def extract_indefinite(C, W, T):
    """Makes α ± β in T positive, and writes the matrices A that are not positive definite side by side into W.

    Their lanes go into C; returns how many there are.
    """
    for i in range(9 * L, 15 * L):
        T[i] = max(T[i], 0.0)
    for i in range(L):
        definite = is_positive_definite(
            T[3 * L + i], T[4 * L + i], T[5 * L + i], T[6 * L + i], T[7 * L + i], T[8 * L + i]
        )  # fmt: skip
        C[i] = 1.0 if definite else 0.0
    count = 0
    for i in range(L):
        if C[i] == 0.0:
            C[L + count] = i
            for k in range(6):
                W[k * L + count] = T[(3 + k) * L + i]
            count += 1
    return count


@kernel(allow_fma=True, device_only=True)
def insert_projected(count, C, W, T):
    """Writes the matrices in W, by their axes, back into T without their negative eigenvalues."""
    for i in range(count):
        xx, yy, zz, xy, yz, zx = matrix_from_clamped_eigenvalues(
            W[i], W[L + i], W[2 * L + i], W[6 * L + i], W[7 * L + i], W[8 * L + i], W[9 * L + i], W[10 * L + i],
            W[11 * L + i], W[12 * L + i], W[13 * L + i], W[14 * L + i],
        )  # fmt: skip
        W[i], W[L + i], W[2 * L + i], W[3 * L + i], W[4 * L + i], W[5 * L + i] = xx, yy, zz, xy, yz, zx
    for i in range(count):
        lane = int(C[L + i])
        for k in range(6):
            T[(3 + k) * L + lane] = W[k * L + i]
