# SPDX-License-Identifier: GPL-3.0-or-later
"""Slow twins of Green's and the hybrid formulation: tet after tet, as textbooks write them."""

from __future__ import annotations

import numpy as np

from sinew.solver.mechanics.model import Model
from sinew.solver.runtime.arrays import Floats


def rotation(F: Floats) -> Floats:
    """Returns the proper rotation nearest to F."""
    U, _, Vt = np.linalg.svd(F)
    U[:, 2] *= np.linalg.det(U @ Vt)
    return U @ Vt


def density(name: str, F: Floats, mu: float, lam: float) -> float:
    """Returns ψ(F) [J/m³]."""
    green = 0.5 * (F.T @ F - np.eye(3))
    if name == "green":
        return mu * np.sum(green * green) + 0.5 * lam * np.trace(green) ** 2
    return mu * np.sum((F - rotation(F)) ** 2) + 0.5 * lam * np.trace(green) ** 2


def stress(name: str, F: Floats, mu: float, lam: float) -> Floats:
    """Returns P(F) [Pa]."""
    green = 0.5 * (F.T @ F - np.eye(3))
    pressure = lam * np.trace(green) * F
    return 2.0 * mu * (F @ green if name == "green" else F - rotation(F)) + pressure


def energy(name: str, model: Model, x: Floats) -> float:
    """Returns the elastic energy [J] at node positions x [m], (n, 3)."""
    return sum(
        model.volume[t] * density(name, gradient(model, x, t), model.mu[t], model.lam[t])
        for t in range(model.tet_count)
    )


def forces(name: str, model: Model, x: Floats) -> Floats:
    """Returns the elastic forces on the nodes [N], (n, 3): −V P g of each tet's corners."""
    f = np.zeros_like(x)
    for t, corners in enumerate(model.tets):
        P = stress(name, gradient(model, x, t), model.mu[t], model.lam[t])
        g = np.vstack([-model.Dm_inverse[t].sum(axis=0), model.Dm_inverse[t]])
        for corner, gradient_of in zip(corners, g, strict=True):
            f[corner] -= model.volume[t] * P @ gradient_of
    return f


def stiffness(name: str, model: Model, x: Floats, step: float = 1e-6) -> Floats:
    """Returns −∂f/∂x [N/m], (3n, 3n), by central differences of the twin's forces."""
    columns = []
    for k in range(x.size):
        d = np.zeros(x.size)
        d[k] = step
        d = d.reshape(x.shape)
        columns.append((forces(name, model, x - d) - forces(name, model, x + d)).ravel() / (2.0 * step))
    return np.stack(columns, axis=1)


def gradient(model: Model, x: Floats, t: int) -> Floats:
    """Returns F of a tet."""
    corners = x[model.tets[t]]
    return (corners[1:] - corners[0]).T @ model.Dm_inverse[t]
