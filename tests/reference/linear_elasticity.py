# SPDX-License-Identifier: GPL-3.0-or-later
"""Strain, stress and energy of the isotropic linear elastic solid in a rotated frame, by NumPy."""

from __future__ import annotations

import numpy as np

from sinew.solver.runtime.arrays import Floats


def symmetric_matrices(six: Floats) -> Floats:
    """Returns the matrices, (m, 3, 3), of xx, yy, zz, xy, yz, zx, (m, 6)."""
    return six[:, [[0, 3, 5], [3, 1, 4], [5, 4, 2]]]


def corotated_strain(F: Floats, R: Floats) -> Floats:
    """Returns ε = sym(RᵀF) − I of deformation gradients F and rotations R, (…, 3, 3)."""
    U = np.swapaxes(R, -1, -2) @ F
    return 0.5 * (U + np.swapaxes(U, -1, -2)) - np.eye(3)


def stress(strain: Floats, mu: Floats, lam: Floats) -> Floats:
    """Returns σ = 2μ ε + λ tr(ε) I [Pa] of strains (…, 3, 3) and moduli (…)."""
    trace = np.trace(strain, axis1=-2, axis2=-1)
    return 2.0 * np.asarray(mu)[..., None, None] * strain + (lam * trace)[..., None, None] * np.eye(3)


def energy_density(strain: Floats, mu: Floats, lam: Floats) -> Floats:
    """Returns ψ = μ ε:ε + ½ λ tr(ε)² [J/m³] of strains (…, 3, 3) and moduli (…)."""
    trace = np.trace(strain, axis1=-2, axis2=-1)
    return mu * np.sum(strain * strain, axis=(-2, -1)) + 0.5 * lam * trace**2
