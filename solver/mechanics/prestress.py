# SPDX-License-Identifier: GPL-3.0-or-later
"""Giving every tet a shape of its own in which it is free of stress, so that the body is under stress at rest.

A tet cut out of the body would take the shape G⁻¹ of what it is now, G symmetric. With it as the rest shape,
F becomes F G, and the tet stays what it was: an elastic tet, torque-free and with an energy. An initial strain
subtracted from the strain would be simpler, but its stress does not turn with the stretch: it exerts a torque
on a moving body that does not vanish with the step.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..runtime.arrays import Floats
from .model import Model

# stretches G of a tet that was squeezed or pulled; what would need more is left to the initial strain
MIN_STRETCH, MAX_STRETCH = 0.3, 4.0
MAX_NEWTON_ITERATIONS = 30
STRESS_TOLERANCE = 1.0e-12


def with_prestress(model: Model, strain: Floats) -> Model:
    """Returns the model with the stress 2μ ε + λ tr(ε) I in every tet while it lies as in `model.X`.

    Args:
        model: The bodies, without initial strain.
        strain: ε of each tet as xx, yy, zz, xy, yz, zx of the tensor, (m, 6).
    """
    sizes, axes = np.linalg.eigh(_from_voigt(strain))
    mu, lam = model.mu[:, None], model.lam[:, None]
    wanted = 2.0 * mu * sizes + lam * sizes.sum(axis=1, keepdims=True)
    g = _solve_stretches(wanted, mu, lam)
    J = g.prod(axis=1, keepdims=True)
    # (2μ ε + λ tr ε − left) g / J = wanted, with ε = g − 1
    e = g - 1.0
    left = 2.0 * mu * e + lam * e.sum(axis=1, keepdims=True) - wanted * J / g
    left[np.abs(left).max(axis=1) <= STRESS_TOLERANCE * np.abs(wanted).max(axis=1)] = 0.0
    strain_left = (left - lam / (2.0 * mu + 3.0 * lam) * left.sum(axis=1, keepdims=True)) / (2.0 * mu)
    G = np.einsum("mia,ma,mja->mij", axes, g, axes)
    return replace(
        model,
        Dm_inverse=np.ascontiguousarray(model.Dm_inverse @ G),
        volume=model.volume / J[:, 0],
        initial_strain=_to_voigt(np.einsum("mia,ma,mja->mij", axes, strain_left, axes))
        if left.any()
        else np.zeros((0, 6)),
    )


def _solve_stretches(wanted: Floats, mu: Floats, lam: Floats) -> Floats:
    """Returns principal stretches g, (m, 3), whose Cauchy stress is `wanted` [Pa], (m, 3), by Newton's method."""
    g = np.ones_like(wanted)
    busy = np.flatnonzero(np.abs(wanted).max(axis=1, initial=0.0) > 0.0)
    for _ in range(MAX_NEWTON_ITERATIONS):
        if not len(busy):
            break
        h, m, k = g[busy], mu[busy], lam[busy]
        J = h.prod(axis=1, keepdims=True)
        stress = (2.0 * m * (h - 1.0) + k * (h - 1.0).sum(axis=1, keepdims=True)) * h / J
        change = np.linalg.solve(_stress_derivatives(h, J, stress, m, k), (wanted[busy] - stress)[:, :, None])[:, :, 0]
        change *= np.minimum(1.0, 0.3 / np.maximum(np.abs(change).max(axis=1, keepdims=True), 1e-300))
        g[busy] = np.clip(h + change, MIN_STRETCH, MAX_STRETCH)
        busy = busy[np.abs(change).max(axis=1) > STRESS_TOLERANCE]
    return g


def _stress_derivatives(g: Floats, J: Floats, stress: Floats, mu: Floats, lam: Floats) -> Floats:
    """Returns ∂ stress_i / ∂ g_j, (m, 3, 3)."""
    own = 2.0 * mu * g / J + stress / g
    slopes = (lam * g / J)[:, :, None] - stress[:, :, None] / g[:, None, :]
    return slopes + own[:, :, None] * np.eye(3)


def _from_voigt(six: Floats) -> Floats:
    xx, yy, zz, xy, yz, zx = six.T
    return np.stack([xx, xy, zx, xy, yy, yz, zx, yz, zz], axis=1).reshape(-1, 3, 3)


def _to_voigt(e: Floats) -> Floats:
    six = [e[:, 0, 0], e[:, 1, 1], e[:, 2, 2], e[:, 0, 1], e[:, 1, 2], e[:, 2, 0]]
    return np.ascontiguousarray(np.stack(six, axis=1))
