# SPDX-License-Identifier: GPL-3.0-or-later
"""Newton's method with backtracking for the coarse nodes of one hierarchical body, its details being carried along.

Along a coarse motion y, (n0, 3), the mean gradients change by Δt ∇y, the details do not, and all else that a step has
is linear. So with r the residual of the step before it, gathered at coarse nodes, and A the coarse matrix of what is
linear, y seeks the minimum of

    Φ(y) = −r·y + ½ yᵀ A y + Σ V ψ_Green(F + Δt ∇y) − Δt Σ V P(F) : ∇y,

which is a problem of coarse quantities alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..arrays import Bools, Floats
from ..linear.pattern import BlockPattern
from .body import LevelBody
from .galerkin import LevelMaps, of_coarse_tets
from .means import add_stress, mean_gradients

MOST = 12  # iterations
DONE = 1.0e-3  # share of the residual that is left
ENOUGH = 1.0e-4  # share of the slope by which Φ has to fall. Source: Nocedal and Wright 2006, section 3.1
SHORTEST = 1.0e-3

Factored = Callable[[BlockPattern, Floats, Bools], Callable[[Floats], Floats]]


@dataclass
class CoarseProblem:
    """The coarse problem of a body in a step.

    Attributes:
        body, maps: The body.
        dt: Δt [s].
        A: Coarse matrix of what is linear [kg], (b0, 9).
        r: Residual of the step, gathered [N s], (n0, 3).
        F: Mean gradients where the search begins, (M, 3, 3).
        is_free: Which coarse nodes move, (n0,).
        factored: What solves with a matrix.
    """

    body: LevelBody
    maps: LevelMaps
    dt: float
    A: Floats
    r: Floats
    F: Floats
    is_free: Bools
    factored: Factored

    def solve(self) -> tuple[Floats, int]:
        """Returns y [m/s], (n0, 3), and the iterations it took."""
        y, pattern = np.zeros_like(self.r), self.maps.coarse
        first = np.linalg.norm(self.r[self.is_free])
        begin = self._stress(self.F)
        for iteration in range(MOST):
            left = self._left(y, begin)
            if not np.linalg.norm(left) > DONE * first:
                return y, iteration
            A = self.A + self.dt**2 * of_coarse_tets(self.maps, self.body.means.coarse, self._moduli(y))
            d = self.factored(pattern, A, self.is_free)(left)
            slope = float(np.sum(d * left))
            if not slope > 0.0:
                return y, iteration
            here, s = self._potential(y, begin), 1.0
            while s >= SHORTEST and not self._potential(y + s * d, begin) <= here - ENOUGH * s * slope:
                s *= 0.5
            if s < SHORTEST:
                return y, iteration
            y = y + s * d
        return y, MOST

    def _gradients(self, y: Floats) -> Floats:
        found = np.empty_like(self.F)
        mean_gradients(y, self.body.levels.coarse_tets, self.body.means.coarse, found)
        return found

    def _stress(self, F: Floats) -> Floats:
        """Returns V P of F [J], (M, 3, 3)."""
        return self.body.green_stress(F)

    def _moduli(self, y: Floats) -> Floats:
        return self.body.green_moduli(self.F + self.dt * self._gradients(y), True)

    def _left(self, y: Floats, begin: Floats) -> Floats:
        """Returns what is left of r, (n0, 3)."""
        left = self.r - multiply(self.maps.coarse, self.A, y)
        change = self._stress(self.F + self.dt * self._gradients(y)) - begin
        add_stress(-self.dt, change, self.body.levels.coarse_tets, self.body.means.coarse, left)
        left[~self.is_free] = 0.0
        return left

    def _potential(self, y: Floats, begin: Floats) -> float:
        """Returns Φ(y) less Φ(0) [J]."""
        gradients, body = self._gradients(y), self.body
        gained = body.green_energy(self.F + self.dt * gradients) - body.green_energy(self.F)
        quadratic = 0.5 * np.sum(y * multiply(self.maps.coarse, self.A, y)) - np.sum(self.r * y)
        return float(quadratic + gained.sum() - self.dt * np.sum(begin * gradients))


def multiply(pattern: BlockPattern, values: Floats, v: Floats) -> Floats:
    """Returns A v, (n, 3)."""
    rows = np.einsum("bij,bj->bi", values.reshape(-1, 3, 3), v[pattern.column])
    return np.add.reduceat(rows, pattern.row_start[:-1].astype(np.int64))
