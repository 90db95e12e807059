# SPDX-License-Identifier: GPL-3.0-or-later
"""A pendulum of point masses on a rigid link that turns about the y axis, by implicit Euler in Cartesian coordinates.

    Σ m_i ((v_i⁺ − v_i) / Δt − g) · t_i⁺ = 0,    v_i⁺ = (x_i⁺ − x_i) / Δt,    x_i⁺ = R(θ⁺) X_i,

with t_i⁺ the direction in which a turn moves the mass. Bodies by implicit Euler move along straight lines, too.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from sinew.solver.runtime.arrays import Floats


def turned(X: Floats, angle: float) -> Floats:
    """Returns positions [m], (n, 3), turned about the y axis."""
    c, s = np.cos(angle), np.sin(angle)
    return X @ np.array([[c, 0.0, -s], [0.0, 1.0, 0.0], [s, 0.0, c]]).T


def pendulum_energies(mass: Floats, X: Floats, dt: float, steps: int, gravity: float = 9.81) -> Floats:
    """Returns kinetic energy and that in gravity after every step [J], (steps,), from rest at X [m], (n, 3)."""
    x, v, angle, turn, found = X.copy(), np.zeros_like(X), 0.0, 0.0, np.empty(steps)
    weight = np.array([0.0, 0.0, -gravity])
    for step in range(steps):

        def moment(wanted: float, x: Floats = x, v: Floats = v) -> float:
            y = turned(X, wanted)
            across = np.stack([-y[:, 2], np.zeros(len(y)), y[:, 0]], axis=1)
            return float(mass @ ((((y - x) / dt - v) / dt - weight) * across).sum(axis=1))

        ahead = angle + turn
        wanted = float(brentq(moment, ahead - 0.1, ahead + 0.1, xtol=1.0e-14))
        y = turned(X, wanted)
        x, v, angle, turn = y, (y - x) / dt, wanted, wanted - angle
        found[step] = 0.5 * mass @ (v * v).sum(axis=1) + gravity * mass @ x[:, 2]
    return found
