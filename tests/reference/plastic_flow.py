# SPDX-License-Identifier: GPL-3.0-or-later
"""The laws of plastic flow once more, slowly and by other means, to compare the kernels with."""

from __future__ import annotations

import numpy as np

from reference.linear_elasticity import energy_density


def stretches(F):
    """Returns U, the principal stretches and V of F = U diag Vᵀ with proper rotations; the last may be below zero."""
    u, s, vt = np.linalg.svd(F)
    u, vt = u.copy(), vt.copy()
    for factor, row in ((u, False), (vt, True)):
        if np.linalg.det(factor) < 0.0:
            s[2] = -s[2]
            if row:
                factor[2] *= -1.0
            else:
                factor[:, 2] *= -1.0
    return u, s, vt.T


def shear(F):
    """Returns the logarithmic strain of F without change of size, as a symmetric tensor at rest, (3, 3)."""
    _, s, v = stretches(F)
    e = np.log(s)
    return v @ np.diag(e - e.mean()) @ v.T


def energy(F, mu, lam):
    """Returns the elastic energy of F [J/m³]."""
    _, s, _ = stretches(F)
    return energy_density(np.diag(s - 1.0), mu, lam)


def exponential(H):
    values, axes = np.linalg.eigh(H)
    return (axes * np.exp(values)) @ axes.T


def norm_of_shape(Fp_inverse):
    """Returns ‖ln Fp‖."""
    return np.linalg.norm(np.log(np.linalg.svd(Fp_inverse)[1]))


def flow_one(F, Fp_inverse, mu, lam, dt, yield_strain, rate, maximum, hardening, flowed):
    """Returns Fp⁻¹ and α of one tet after Δt of the multiplicative law, where F is neither flat nor inside out."""
    Fe = F @ Fp_inverse
    e0 = shear(Fe)
    norm = np.linalg.norm(e0)
    threshold = yield_strain + hardening * flowed
    if norm <= threshold or rate <= 0.0:
        return Fp_inverse, flowed
    left = max(norm * np.exp(-rate * dt), norm - 1.0, (threshold + hardening * norm) / (1.0 + hardening))
    new = Fp_inverse @ exponential((left / norm - 1.0) * e0)
    amount = norm - left
    maximum = max(maximum, norm_of_shape(Fp_inverse))
    if norm_of_shape(new) > maximum:
        u, s, vt = np.linalg.svd(new)
        new = u @ np.diag(s ** (maximum / norm_of_shape(new))) @ vt
        amount = norm - np.linalg.norm(shear(F @ new))
        if amount <= 0.0 or energy(F @ new, mu, lam) > energy(Fe, mu, lam):
            return Fp_inverse, flowed
    return new, flowed + amount


def flow_one_additive(F, plastic, dt, yield_strain, rate, maximum):
    """Returns ε_plastic, a symmetric tensor, of one tet after Δt of the additive law."""
    u, _, v = stretches(F)
    U = (u @ v.T).T @ F
    elastic = 0.5 * (U + U.T) - np.eye(3) - plastic
    if norm_of_six(elastic) > yield_strain:
        plastic = plastic + min(1.0, dt * rate) * elastic
        plastic = plastic * min(1.0, maximum / max(norm_of_six(plastic), 1e-300))
    return plastic


def norm_of_six(e):
    """Returns the norm of the vector of six of MG04, with shear angles."""
    return np.sqrt(sum(e[i, i] ** 2 for i in range(3)) + sum((2.0 * e[i, j]) ** 2 for i, j in ((0, 1), (1, 2), (2, 0))))


def six(e):
    """Returns xx, yy, zz, xy, yz, zx of a symmetric tensor."""
    return np.array([e[0, 0], e[1, 1], e[2, 2], e[0, 1], e[1, 2], e[2, 0]])
