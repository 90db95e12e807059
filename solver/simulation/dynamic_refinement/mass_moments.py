# SPDX-License-Identifier: GPL-3.0-or-later
"""Masses of nodes with given moments: mass, centre and moments of inertia.

Masses at the corners of large tets reach farther out than those of small ones. Where these took their place as they
are, a body that turns would have another moment of inertia, and keep either its angular momentum or its energy, but not
both. So the new masses m are multiplied by exp(q c), with q = (1, r, r rᵀ) of their places r, so that Σ m q is as it
was: all rigid motions, and all affine ones, then have the momenta and the energy that they had. Of all masses with
these moments those have the least entropy relative to m. Newton's method finds c: Σ m exp(q c) − c · Σ m q is convex.
"""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Floats, floats

MIN_FACTOR, MAX_FACTOR = 0.02, 50.0  # of masses, beyond which they are not changed
MAX_ITERATIONS = 60
TOLERANCE = 1.0e-13  # of moments, over the largest


def moments(mass: Floats, x: Floats, middle: Floats, size: float) -> Floats:
    """Returns Σ m q of masses [kg], (n,), at places [m], (n, 3), around a middle [m], in units of a size [m], (10,)."""
    return floats(mass @ _monomials(x, middle, size))


def masses_with_moments(mass: Floats, x: Floats, wanted: Floats, middle: Floats, size: float) -> Floats | None:
    """Returns masses near `mass` [kg], (n,), at places [m], (n, 3), that have the moments wanted, (10,).

    None where some would be less than a fiftieth or more than fifty times as large.
    """
    q, c = _monomials(x, middle, size), np.zeros(10)
    factor, best = np.ones(len(mass)), np.inf
    for _ in range(MAX_ITERATIONS):
        own = mass * factor
        missing = wanted - own @ q
        error = float(np.abs(missing).max() / np.abs(wanted).max())
        if error >= best and error < TOLERANCE:
            break
        best = min(best, error)
        step = np.linalg.lstsq(q.T @ (own[:, None] * q), missing, rcond=1.0e-14)[0]
        largest = float(np.abs(q @ step)[mass > 0.0].max())
        c = c + step * min(1.0, 1.0 / max(largest, 1.0e-300))  # no mass changes by more than e at once
        factor = np.exp(q @ c)
    used = factor[mass > 0.0]
    if error >= TOLERANCE or used.min() < MIN_FACTOR or used.max() > MAX_FACTOR:
        return None
    return floats(mass * factor)


def _monomials(x: Floats, middle: Floats, size: float) -> Floats:
    """Returns 1, the three coordinates and their six products, (n, 10)."""
    r = (x - middle) / size
    products = [r[:, i] * r[:, j] for i in range(3) for j in range(i, 3)]
    return floats(np.column_stack([np.ones(len(r)), r, *products]))
