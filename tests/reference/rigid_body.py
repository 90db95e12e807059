# SPDX-License-Identifier: GPL-3.0-or-later
"""Euler's equations of a free rigid body, by the classical Runge-Kutta scheme with tiny steps."""

from __future__ import annotations

import numpy as np

from sinew.solver.runtime.arrays import Floats


def free_rotation(inertia: Floats, omega: Floats, time: float, steps: int) -> tuple[Floats, Floats]:
    """Returns the rotation R, (3, 3), and ω in the world [rad/s], (3,), at a time [s].

    I ω' = −ω × I ω in the space of the body, and R' = R [ω]×.

    Args:
        inertia: In the space of the body, which is the world at first [kg m²], (3, 3).
        omega: At first [rad/s], (3,).
        time: [s].
        steps: How many steps are taken.
    """
    inverse, h = np.linalg.inv(inertia), time / steps

    def rates(R: Floats, w: Floats) -> tuple[Floats, Floats]:
        x, y, z = w
        return R @ np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]), inverse @ np.cross(inertia @ w, w)

    R, w = np.eye(3), np.array(omega, float)
    for _ in range(steps):
        R1, w1 = rates(R, w)
        R2, w2 = rates(R + 0.5 * h * R1, w + 0.5 * h * w1)
        R3, w3 = rates(R + 0.5 * h * R2, w + 0.5 * h * w2)
        R4, w4 = rates(R + h * R3, w + h * w3)
        R, w = R + h / 6.0 * (R1 + 2.0 * R2 + 2.0 * R3 + R4), w + h / 6.0 * (w1 + 2.0 * w2 + 2.0 * w3 + w4)
    return R, R @ w


def steady_precession(spin: float, tilt: float, lever: float, mass: float, inertia: tuple[float, float]) -> float:
    """Returns the slow rate at which a symmetric top precesses without nutation [rad/s].

    (I₁ cos θ) Ω² − I₃ ω₃ Ω + m g l = 0 (Goldstein, Classical mechanics, section 5.7).

    Args:
        spin: ω₃ about its own axis [rad/s].
        tilt: θ of the axis from the vertical [rad].
        lever: l of its centre from the fixed tip [m].
        mass: m [kg].
        inertia: I₁ about the tip across the axis, and I₃ about the axis [kg m²].
    """
    a, b, c = inertia[0] * np.cos(tilt), -inertia[1] * spin, mass * 9.81 * lever
    return float((-b - np.sqrt(b * b - 4.0 * a * c)) / (2.0 * a))
