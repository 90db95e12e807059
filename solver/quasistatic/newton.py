# SPDX-License-Identifier: GPL-3.0-or-later
"""Newton's method for f(x) + load = 0 with the clamped tangent K = −∂f/∂x, from any start.

Every step solves K d = f + load by conjugate gradients, as exactly as it pays, and goes along d as far as
`step_length.py` says. Three stages, each passed once and in this order:

1. Where more than one tet in 2000 is inside out, the law is the corotated one without λ until none is. Its stress,
   2μ (σ_i − 1) along each axis, is the only one of the family that leads a flat or inverted tet straight back: λ
   pulls tets that are drawn out through their own plane, and together with the constant extension holds them there.
   Measured from a random scatter of 50,000 tets: none is left inverted after 28 steps; by the law itself 500 were
   after 150.
2. The law itself.
3. Where its constant extension still has hold of tets at rest, a lower threshold, so that in the end the law holds.

Source: S07, chapter 3; tolerances of the linear solves: Eisenstat and Walker 1996, second choice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Bools, Floats
from ..hyperelastic.element import Answer, Hyperelastic, energy, forces_and_tangent, tet_work
from ..hyperelastic.laws import COROTATED, NONE
from ..linear import pcg
from ..linear.multigrid.preconditioner import EmbeddedLattices
from ..model import Model
from .held import Held
from .residual import least_scale, residual_of
from .step_length import ENOUGH, ROUNDING, extrapolated, lowering

TANGLED = 1.0 / 2000.0  # share of inverted tets
LOOSE = 0.1  # relative residual of a linear solve while nothing is near: 0.5 never arrives, 0.01 leads astray
UNTANGLING = 150  # iterations of the first stage at most
CG_ITERATIONS = 2000
LEAST_THRESHOLD = 0.05  # below, tets count as flat
BELOW_SMALLEST = 0.9  # the new threshold, of the smallest stretch


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """Where a solve ended.

    Attributes:
        x: Node positions [m], (n, 3).
        converged: Whether `residual` is within the tolerance.
        residual: Of `residual.py`.
        energy: Elastic energy Ψ [J]; infinite where the law has none.
        inverted_tets: Number of tets inside out.
        extended_tets: Number of tets that the constant extension has hold of, whose stress is not the law's.
        newton_iterations: Linear systems solved.
        cg_iterations: Iterations of conjugate gradients in all of them.
    """

    x: Floats
    converged: bool
    residual: float
    energy: float
    inverted_tets: int
    extended_tets: int
    newton_iterations: int
    cg_iterations: int


@dataclass(frozen=True)
class Progress:
    """How far a solve is: Newton iterations so far, residual, inverted tets."""

    newton_iterations: int
    residual: float
    inverted_tets: int


def solve(
    model: Model,
    law: Hyperelastic,
    held: Held,
    x: Floats,
    tolerance: float = 1.0e-6,
    max_iterations: int = 300,
    load: Floats | None = None,
    on_iteration: Callable[[Progress], None] = lambda progress: None,
) -> Equilibrium:
    """Returns where the body is at rest, or how far it came; a solve that did not arrive says so.

    Args:
        model: All bodies.
        law: What they are made of.
        held: Which nodes are held, and where.
        x: Where to begin [m], (n, 3): the rest shape, the equilibrium of the frame before, or anything.
        tolerance: Residual to reach.
        max_iterations: Newton iterations to spend at most.
        load: Forces from outside [N], (n, 3); None: none.
        on_iteration: Called before every Newton iteration.
    """
    search = _Search(model, held, load)
    x = x.copy()
    x[held.nodes] = held.positions
    now = untangling = replace(law, law=np.full_like(law.law, COROTATED), lam=np.zeros_like(law.lam), extension=NONE)
    answer = search.look(now, x)
    if answer.inverted <= TANGLED * model.tet_count:
        now = law
        answer = search.look(now, x)
    iterations, before = 0, np.inf
    while True:
        residual = search.residual()
        is_tangled = now is untangling and answer.inverted > 0
        if now is untangling and not (is_tangled and residual > tolerance and iterations < UNTANGLING):
            now, before = law, np.inf
            answer = search.look(now, x)
            continue
        if residual <= tolerance and _can_be_lowered(now, answer):
            now, before = replace(now, threshold=max(BELOW_SMALLEST * answer.smallest, LEAST_THRESHOLD)), np.inf
            answer = search.look(now, x)
            continue
        on_iteration(Progress(iterations, residual, answer.inverted))
        if residual <= tolerance or iterations == max_iterations:
            break
        exact = LOOSE if is_tangled else max(min(LOOSE, 0.9 * (residual / before) ** 2), 0.3 * tolerance / residual)
        d = search.direction(min(exact, LOOSE))
        iterations, before = iterations + 1, residual
        x, answer, has_moved = search.step(now, x, answer, d, now is untangling)
        if not has_moved:
            residual = search.residual()
            break
    return Equilibrium(
        x=x,
        converged=residual <= tolerance,
        residual=residual,
        energy=answer.energy,
        inverted_tets=answer.inverted,
        extended_tets=answer.below,
        newton_iterations=iterations,
        cg_iterations=search.cg_iterations,
    )


def _can_be_lowered(law: Hyperelastic, answer: Answer) -> bool:
    return answer.below > 0 and answer.smallest > LEAST_THRESHOLD and law.threshold > LEAST_THRESHOLD


class _Search:
    """The arrays of a solve, and what is done with them: forces and tangent are those of the last look."""

    def __init__(self, model: Model, held: Held, load: Floats | None) -> None:
        self.model = model
        self.is_free: Bools = held.is_free(model.node_count)
        self.load = load
        self.least = least_scale(model)
        self.values = np.empty((model.pattern.block_count, 9))
        self.force = np.empty((model.node_count, 3))
        self.work = tet_work(model.pattern)
        self.lattices = EmbeddedLattices(model.X)
        self.cg_iterations = 0

    def look(self, law: Hyperelastic, x: Floats) -> Answer:
        """Computes forces, loads included, and tangent at x; returns how it is there, with the energy in the loads."""
        answer = forces_and_tangent(self.model, law, x, self.values, self.force, self.work)
        if self.load is not None:
            self.force += self.load
        return self._with_load(answer, x)

    def residual(self) -> float:
        """Returns the residual at the last look."""
        return residual_of(self.force, self.is_free, self.least)

    def direction(self, tolerance: float) -> Floats:
        """Returns d with K d = f, to a relative residual, and zero at held nodes."""
        d, b = np.zeros_like(self.force), np.where(self.is_free[:, None], self.force, 0.0)
        solved = pcg.solve(
            self.model.pattern, self.values, b, self.is_free, d, tolerance, CG_ITERATIONS, preconditioner=self.lattices
        )
        self.cg_iterations += solved.iterations
        return d

    def step(
        self, law: Hyperelastic, x: Floats, before: Answer, d: Floats, is_tangled: bool
    ) -> tuple[Floats, Answer, bool]:
        """Goes along d; returns where that is, how it is there, and whether a step was found at all."""
        slope = self._along(d)
        answer = self.look(law, x + d)
        if is_tangled or answer.below or before.below:
            length = extrapolated(slope, self._along(d))
        elif answer.energy <= before.energy - ENOUGH * slope + ROUNDING * abs(before.energy):
            length = 1.0
        else:
            length = lowering(before.energy, slope, lambda s: self._energy(law, x + s * d))
        if length == 1.0:
            return x + d, answer, True
        x = x + length * d
        return x, self.look(law, x), length > 0.0

    def _along(self, d: Floats) -> float:
        return float(np.vdot(self.force, d))

    def _energy(self, law: Hyperelastic, x: Floats) -> float:
        found = self._with_load(energy(self.model, law, x, self.work), x)
        return found.energy if found.below == 0 else np.inf

    def _with_load(self, answer: Answer, x: Floats) -> Answer:
        if self.load is None:
            return answer
        return replace(answer, energy=answer.energy - float(np.vdot(self.load, x - self.model.X)))
