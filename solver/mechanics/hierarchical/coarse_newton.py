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
from dataclasses import dataclass, field

import numpy as np

from ...linalg.block_pattern import BlockPattern
from ...runtime.arrays import Bools, Floats
from ...runtime.jit import kernel
from ...runtime.simd.block_row_product import multiply_row
from ..armijo_backtracking import falls_enough
from .hierarchical_body import HierarchicalBody
from .level_matrices import LevelMaps, assemble_coarse_tets
from .mean_gradients import add_stress, mean_gradients

MAX_ITERATIONS = 12  # iterations
RESIDUAL_TOLERANCE = 0.03  # share of the residual that is left: the fine level changes the question anyway
MIN_STEP_LENGTH = 1.0e-3

Factorisation = Callable[[BlockPattern, Floats, Bools], Callable[[Floats], Floats]]


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
        factorise: Returns what solves with a matrix.
        begin, stored: V P of F [J], (M, 3, 3), and Σ V ψ there [J].
    """

    body: HierarchicalBody
    maps: LevelMaps
    dt: float
    A: Floats
    r: Floats
    F: Floats
    is_free: Bools
    factorise: Factorisation
    begin: Floats = field(init=False)
    stored: float = field(init=False)

    def solve(self) -> tuple[Floats, int]:
        """Returns y [m/s], (n0, 3), and the iterations it took."""
        y, pattern = np.zeros_like(self.r), self.maps.coarse
        first = np.linalg.norm(self.r[self.is_free])
        self.begin, self.stored = self.body.green_stress(self.F), self.body.green_energy(self.F).sum()
        here = 0.0
        for iteration in range(MAX_ITERATIONS):
            left = self._residual(y)
            if not np.linalg.norm(left) > RESIDUAL_TOLERANCE * first:
                return y, iteration
            A = self.A + self.dt**2 * assemble_coarse_tets(
                self.maps, self.body.gradient_operator.coarse, self._moduli(y)
            )
            d = self.factorise(pattern, A, self.is_free)(left)
            slope, s = float(np.sum(d * left)), 1.0
            if not slope > 0.0:
                return y, iteration
            there = self._potential(y + d)
            while s >= MIN_STEP_LENGTH and not falls_enough(here, there, s, slope, 0.0):
                s *= 0.5
                there = self._potential(y + s * d)
            if s < MIN_STEP_LENGTH:
                return y, iteration
            y, here = y + s * d, there
        return y, MAX_ITERATIONS

    def _gradients(self, y: Floats) -> Floats:
        found = np.empty_like(self.F)
        mean_gradients(y, self.body.levels.coarse_tets, self.body.gradient_operator.coarse, found)
        return found

    def _moduli(self, y: Floats) -> Floats:
        return self.body.green_moduli(self.F + self.dt * self._gradients(y), True)

    def _residual(self, y: Floats) -> Floats:
        """Returns what is left of r, (n0, 3)."""
        left = self.r - multiply_coarse(self.maps.coarse, self.A, y)
        change = self.body.green_stress(self.F + self.dt * self._gradients(y)) - self.begin
        add_stress(-self.dt, change, self.body.levels.coarse_tets, self.body.gradient_operator.coarse, left)
        left[~self.is_free] = 0.0
        return left

    def _potential(self, y: Floats) -> float:
        """Returns Φ(y) less Φ(0) [J]."""
        gradients = self._gradients(y)
        gained = self.body.green_energy(self.F + self.dt * gradients).sum() - self.stored
        quadratic = 0.5 * np.sum(y * multiply_coarse(self.maps.coarse, self.A, y)) - np.sum(self.r * y)
        return float(quadratic + gained - self.dt * np.sum(self.begin * gradients))


def multiply_coarse(pattern: BlockPattern, values: Floats, v: Floats) -> Floats:
    """Returns A v, (n, 3)."""
    out = np.empty_like(v)
    multiply_rows(pattern.row_start, pattern.column, values, v, out)
    return out


@kernel(allow_fma=True)
def multiply_rows(row_start, column, values, v, out):
    """Writes A v, (n, 3)."""
    for i in range(len(out)):
        out[i, 0], out[i, 1], out[i, 2] = multiply_row(values, column, v, row_start[i], row_start[i + 1])
