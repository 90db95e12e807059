# SPDX-License-Identifier: GPL-3.0-or-later
"""St. Venant and Kirchhoff's law of M coarse tets, by Green's strain E = ½ (FᵀF − I): energy, stress, differential.

    ψ = μ |E|² + λ/2 tr²E,    S = 2μ E + λ tr(E) I,    P = F S,
    δP = δF S + F (2μ δE + λ tr(δE) I),    δE = sym(Fᵀ δF)

All but δF S is positive semi-definite; that is, where S is. The clamped differential leaves out what of S pulls in.
Corotated linear strain in the frame R has the differential that Green's has at F = R.
"""

from __future__ import annotations

import numpy as np

from ...runtime.jit import kernel
from ..hyperelastic.jacobi_eigen import nearest_semidefinite


@kernel(device_only=True)
def second_piola_kirchhoff(F, mu, lam, S):
    """Writes S [Pa] of one F, (3, 3), and returns ψ [J/m³]."""
    square, trace = 0.0, 0.0
    for i in range(3):
        for j in range(3):
            E = 0.5 * (F[0, i] * F[0, j] + F[1, i] * F[1, j] + F[2, i] * F[2, j] - (1.0 if i == j else 0.0))
            S[i, j] = 2.0 * mu * E
            square += E * E
            if i == j:
                trace += E
    for i in range(3):
        S[i, i] += lam * trace
    return mu * square + 0.5 * lam * trace * trace


@kernel()
def energies(F, mu, lam, volume, out):
    """Writes V ψ [J], (M,)."""
    S = np.empty((3, 3))
    for tet in range(len(F)):
        out[tet] = volume[tet] * second_piola_kirchhoff(F[tet], mu[tet], lam[tet], S)


@kernel()
def stresses(F, mu, lam, volume, out):
    """Writes V P [J], (M, 3, 3)."""
    S = np.empty((3, 3))
    for tet in range(len(F)):
        second_piola_kirchhoff(F[tet], mu[tet], lam[tet], S)
        for i in range(3):
            for j in range(3):
                total = F[tet, i, 0] * S[0, j] + F[tet, i, 1] * S[1, j] + F[tet, i, 2] * S[2, j]
                out[tet, i, j] = volume[tet] * total


@kernel()
def moduli(F, mu, lam, volume, clamp, out):
    """Writes V ∂P_ij/∂F_kl [J], (M, 9, 9) with rows 3i + j and columns 3k + l."""
    S = np.empty((3, 3))
    for tet in range(len(F)):
        second_piola_kirchhoff(F[tet], mu[tet], lam[tet], S)
        if clamp:
            a, b, c, d, e, f = nearest_semidefinite(S[0, 0], S[1, 1], S[2, 2], S[0, 1], S[1, 2], S[2, 0])
            S[0, 0], S[1, 1], S[2, 2], S[0, 1], S[1, 2], S[2, 0] = a, b, c, d, e, f
            S[1, 0], S[2, 1], S[0, 2] = d, e, f
        out[tet] = 0.0
        for i in range(3):
            for j in range(3):
                for l in range(3):  # noqa: E741
                    out[tet, 3 * i + j, 3 * i + l] = volume[tet] * S[j, l]
        add_material_part(volume[tet], F[tet], mu[tet], lam[tet], out[tet])


@kernel()
def subtract_linear_moduli(R, mu, lam, volume, out):
    """Takes V ∂P_ij/∂F_kl of corotated linear strain from `out` [J], (M, 9, 9)."""
    for tet in range(len(R)):
        add_material_part(-volume[tet], R[tet], mu[tet], lam[tet], out[tet])


@kernel()
def subtract_linear_stress(R, F, mu, lam, volume, out):
    """Takes V R (2μ ε + λ tr(ε) I) of corotated linear strain, ε = sym(RᵀF) − I, from `out` [J], (M, 3, 3)."""
    e = np.empty((3, 3))
    for tet in range(len(R)):
        trace = linear_strain(R[tet], F[tet], e)
        for i in range(3):
            for j in range(3):
                total = R[tet, i, 0] * e[0, j] + R[tet, i, 1] * e[1, j] + R[tet, i, 2] * e[2, j]
                out[tet, i, j] -= volume[tet] * (2.0 * mu[tet] * total + lam[tet] * trace * R[tet, i, j])


@kernel()
def subtract_linear_energy(R, F, mu, lam, volume, out):
    """Takes V (μ |ε|² + λ/2 tr²ε) from `out` [J], (M,)."""
    e = np.empty((3, 3))
    for tet in range(len(R)):
        trace, square = linear_strain(R[tet], F[tet], e), 0.0
        for i in range(3):
            for j in range(3):
                square += e[i, j] * e[i, j]
        out[tet] -= volume[tet] * (mu[tet] * square + 0.5 * lam[tet] * trace * trace)


@kernel(device_only=True)
def linear_strain(R, F, e):
    """Writes sym(RᵀF) − I of one tet, (3, 3), and returns its trace."""
    for i in range(3):
        for j in range(3):
            one = R[0, i] * F[0, j] + R[1, i] * F[1, j] + R[2, i] * F[2, j]
            other = R[0, j] * F[0, i] + R[1, j] * F[1, i] + R[2, j] * F[2, i]
            e[i, j] = 0.5 * (one + other) - (1.0 if i == j else 0.0)
    return e[0, 0] + e[1, 1] + e[2, 2]


@kernel(device_only=True)
def add_material_part(factor, F, mu, lam, out):
    """Adds what the change of strain gives: F (2μ δE + λ tr(δE) I)."""
    for i in range(3):
        for k in range(3):
            even = mu * (F[i, 0] * F[k, 0] + F[i, 1] * F[k, 1] + F[i, 2] * F[k, 2])
            for j in range(3):
                for l in range(3):  # noqa: E741
                    out[3 * i + j, 3 * k + l] += factor * (mu * F[i, l] * F[k, j] + lam * F[i, j] * F[k, l])
                out[3 * i + j, 3 * k + j] += factor * even
