# SPDX-License-Identifier: GPL-3.0-or-later
"""Green's strain in M coarse tets, E = ½ (FᵀF − I): energy, stress and its differential.

    ψ = μ |E|² + λ/2 tr²E,    S = 2μ E + λ tr(E) I,    P = F S,
    δP = δF S + F (2μ δE + λ tr(δE) I),    δE = sym(Fᵀ δF)

All but δF S is positive semi-definite; that is, where S is. The clamped differential leaves out what of S pulls in.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Floats

I3 = np.eye(3)


def energy(F: Floats, mu: Floats, lam: Floats) -> Floats:
    """Returns ψ [J/m³], (M,)."""
    E = strain(F)
    return mu * np.einsum("mij,mij->m", E, E) + 0.5 * lam * np.einsum("mii->m", E) ** 2


def stress(F: Floats, mu: Floats, lam: Floats) -> Floats:
    """Returns P [Pa], (M, 3, 3)."""
    return F @ second_stress(F, mu, lam)


def differential(F: Floats, mu: Floats, lam: Floats, clamp: bool) -> Floats:
    """Returns ∂P_ij/∂F_kl [Pa], (M, 3, 3, 3, 3)."""
    S = second_stress(F, mu, lam)
    if clamp:
        values, vectors = np.linalg.eigh(S)
        S = (vectors * np.maximum(values, 0.0)[:, None, :]) @ vectors.transpose(0, 2, 1)
    FF = F @ F.transpose(0, 2, 1)
    out = np.einsum("ik,mlj->mijkl", I3, S)
    out += mu[:, None, None, None, None] * (np.einsum("mil,mkj->mijkl", F, F) + np.einsum("mik,jl->mijkl", FF, I3))
    out += np.einsum("m,mij,mkl->mijkl", lam, F, F)
    return out


def linear_differential(R: Floats, mu: Floats, lam: Floats) -> Floats:
    """Returns the same of corotated linear strain in frames R, (M, 3, 3, 3, 3): Green's at F = R."""
    out = np.einsum("m,mij,mkl->mijkl", lam, R, R)
    out += mu[:, None, None, None, None] * (np.einsum("mil,mkj->mijkl", R, R) + np.einsum("ik,jl->ijkl", I3, I3))
    return out


def strain(F: Floats) -> Floats:
    """Returns E, (M, 3, 3)."""
    return 0.5 * (F.transpose(0, 2, 1) @ F - I3)


def second_stress(F: Floats, mu: Floats, lam: Floats) -> Floats:
    """Returns S [Pa], (M, 3, 3)."""
    E = strain(F)
    return 2.0 * mu[:, None, None] * E + (lam * np.einsum("mii->m", E))[:, None, None] * I3
