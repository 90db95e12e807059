# SPDX-License-Identifier: GPL-3.0-or-later
"""The hierarchical formulation in plain NumPy, tet by tet: slow, and by itself."""

from __future__ import annotations

import numpy as np


def gradients(X, tets, x):
    """Returns F of every tet, (m, 3, 3), and rest volumes, (m,)."""
    rest = (X[tets[:, 1:]] - X[tets[:, :1]]).transpose(0, 2, 1)
    now = (x[tets[:, 1:]] - x[tets[:, :1]]).transpose(0, 2, 1)
    return now @ np.linalg.inv(rest), np.linalg.det(rest) / 6.0


def green(F, mu, lam):
    """Returns the density of Green's energy, and P."""
    E = 0.5 * (F.T @ F - np.eye(3))
    S = 2.0 * mu * E + lam * np.trace(E) * np.eye(3)
    return mu * np.sum(E * E) + 0.5 * lam * np.trace(E) ** 2, F @ S


def linear(D, R, mu, lam):
    """Returns the density of the energy of details D in a frame R, and P."""
    e = 0.5 * (R.T @ D + D.T @ R)
    return mu * np.sum(e * e) + 0.5 * lam * np.trace(e) ** 2, R @ (2.0 * mu * e + lam * np.trace(e) * np.eye(3))


def rotation(F):
    """Returns the rotation nearest to F."""
    U, _, Vt = np.linalg.svd(F)
    U[:, 2] *= np.sign(np.linalg.det(U @ Vt))
    return U @ Vt


def means(X, tets, x, per):
    """Returns the mean of F over the `per` children of every coarse tet, (M, 3, 3)."""
    F, V = gradients(X, tets, x)
    total = (V[:, None, None] * F).reshape(-1, per, 3, 3).sum(axis=1)
    return total / V.reshape(-1, per).sum(axis=1)[:, None, None]


def energy_and_forces(X, tets, x, per, mu, lam, frames=None):
    """Returns E [J] and forces [N], (n, 3), with the rotations `frames`, (M, 3, 3), or else those of x."""
    (F, V), mean = gradients(X, tets, x), means(X, tets, x, per)
    rest = (X[tets[:, 1:]] - X[tets[:, :1]]).transpose(0, 2, 1)
    total, force = 0.0, np.zeros_like(x)
    for coarse, of_mean in enumerate(mean):
        R = rotation(of_mean) if frames is None else frames[coarse]
        density, P = green(of_mean, mu, lam)
        for tet in range(per * coarse, per * (coarse + 1)):
            more, Q = linear(F[tet] - of_mean, R, mu, lam)
            total += V[tet] * (density + more)
            pulls = -V[tet] * (P + Q) @ np.linalg.inv(rest[tet]).T
            force[tets[tet, 1:]] += pulls.T
            force[tets[tet, 0]] -= pulls.sum(axis=1)
    return total, force
