# SPDX-License-Identifier: GPL-3.0-or-later
"""S07's time integration (6.3.3) of nodes and soft-bound particles by dense matrices, all of them unknowns.

Particles may have masses of their own and inherit the acceleration of their targets, as in S07. That makes momentum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sinew.solver.runtime.arrays import Floats


@dataclass(frozen=True, eq=False)
class BoundSystem:
    """n nodes, and p particles after them.

    Attributes:
        mass: Of both [kg], (n + p,).
        weights: Targets, W, (p, n).
        stiffness, damping: Of the springs [N/m], [N s/m], (p,).
        elastic: Forces on the nodes at positions [N], (n, 3) ← (n, 3).
        acceleration: Of both, by gravity [m/s²], (3,).
        inherits: Whether elastic forces give particles the acceleration of their targets (S07, 6.3).
        arms: W' for positions of both, (p, n): where damping acts; None: at targets, as in (6.5).
    """

    mass: Floats
    weights: Floats
    stiffness: Floats
    damping: Floats
    elastic: Callable[[Floats], Floats]
    acceleration: Floats
    inherits: bool = False
    arms: Callable[[Floats], Floats] | None = None

    def rows(self, weights: Floats) -> Floats:
        """Returns what particles are less their targets, (p, n + p)."""
        return np.concatenate([-weights, np.eye(len(weights))], axis=1)

    def stiffness_matrix(self) -> Floats:
        """Returns K, (n + p, n + p), the same for each axis."""
        rows = self.rows(self.weights)
        return rows.T @ (self.stiffness[:, None] * rows)

    def damping_matrix(self, x: Floats) -> Floats:
        """Returns B at positions of both, (n + p, n + p)."""
        rows = self.rows(self.weights if self.arms is None else self.arms(x))
        return rows.T @ (self.damping[:, None] * rows)

    def explicit_forces(self, x: Floats) -> Floats:
        """Returns elastic forces and gravity on both [N], (n + p, 3)."""
        n = self.weights.shape[1]
        on_nodes = self.elastic(x[:n])
        on_particles = np.zeros((len(self.weights), 3))
        if self.inherits:
            on_particles = self.mass[n:, None] * (self.weights @ (on_nodes / self.mass[:n, None]))
        return np.concatenate([on_nodes, on_particles]) + self.mass[:, None] * self.acceleration


def modified_newmark_step(system: BoundSystem, x: Floats, v: Floats, dt: float) -> tuple[Floats, Floats]:
    """Returns the end of a step from x [m] and v [m/s], (n + p, 3) each.

    Source: S07, steps 1 to 5 of 6.3.3 with step 1 as (6.6) and (6.8).
    """
    M, K, h = np.diag(system.mass), system.stiffness_matrix(), 0.5 * dt
    first = M + h * system.damping_matrix(x) + h * h * K
    middle = np.linalg.solve(first, M @ v + h * (system.explicit_forces(x) - K @ x))
    x_half = x + h * middle
    second = M + h * system.damping_matrix(x_half)
    half = np.linalg.solve(second, M @ v + h * (system.explicit_forces(x_half) - K @ x_half))
    return x + dt * middle, 2.0 * half - v
