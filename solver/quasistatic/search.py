# SPDX-License-Identifier: GPL-3.0-or-later
"""What a Newton iteration does with positions: forces and tangent there, a direction, and a step along it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..arrays import Bools, Floats
from ..hyperelastic.element import Answer, Hyperelastic, energy, forces, forces_and_tangent, tet_work, whole_tangent
from ..hyperelastic.tet_order import in_order
from ..linear import pcg
from ..linear.multigrid.preconditioner import EmbeddedLattices
from ..linear.pattern import BlockPattern
from ..model import Model
from .held import Held
from .outside import Acting, Tying
from .residual import least_scales, residual_of
from .step_length import ENOUGH, Bracket, extrapolated, lowering, no_rise
from .ties import Ties, Widening

CG_ITERATIONS = 2000
NEAR = 1.0e-2  # residual from which the true tangent is tried
GENTLE = 0.8  # smallest stretch from which it is tried sooner: hardly a tet's own is indefinite there
HARDLY = 1.0e-12  # of the size of the mesh: what round-off alone moves held nodes by


class Search:
    """The arrays of a solve; forces and tangent in them are those of the last look."""

    def __init__(self, model: Model, held: Held, load: Floats | None, acting: Sequence[Acting] = ()) -> None:
        self.model, self.in_order = model, in_order(model)
        self.is_free: Bools = held.is_free(model.node_count)
        self.load, self.all_acting = load, tuple(acting)
        self.is_tangled = False  # what waits for a shape does not act then
        self.moduli = float(np.sum(model.volume * (2.0 * model.mu + model.lam)))
        self.bodies = [(body.nodes, least) for body, least in zip(model.bodies, least_scales(model), strict=True)]
        self.values = np.empty((model.pattern.block_count, 9))
        self.force = np.empty((model.node_count, 3))
        self.work = tet_work(model.pattern)
        self.law: Hyperelastic | None = None  # of the last look
        self.is_here = False  # whether the tangent is that where forces are
        self.has_order = False  # whether tets had that of `in_order` in the last pass over them
        self.lattices = EmbeddedLattices(model.X)
        self.lattices_of_mesh = EmbeddedLattices(model.X, mesh=model.pattern)
        self.is_hard = False  # whether the last system was, for block Jacobi
        self.is_solved = False  # whether the matrix is that of the last system
        self.widening: Widening | None = None
        self.cg_iterations = 0
        self.systems = 0
        self.is_definite = True  # whether the true tangent may still be asked
        self.is_gentle = True  # whether it may be asked far from rest
        self.is_true = False  # whether that is what the last look has left

    @property
    def acting(self) -> list[Acting]:
        """What acts now."""
        return [a for a in self.all_acting if not (self.is_tangled and isinstance(a, Tying) and a.waits_for_shape)]

    def begin(self) -> None:
        """Lets what acts forget where nodes were before they moved to where they are held."""
        for acting in self.all_acting:
            if isinstance(acting, Tying):
                acting.begin()

    def look(self, law: Hyperelastic, x: Floats, clamp: bool = True) -> Answer:
        """Computes forces, loads included, and tangent at x; returns how it is there, energy in the loads included."""
        self.law, self.is_true, self.is_here, self.is_solved = law, not clamp, True, False
        return self._acted_on(forces_and_tangent(*self._of(law), x, self.values, self.force, self.work, clamp), x)

    def feel(self, law: Hyperelastic, x: Floats) -> Answer:
        """Does what `look` does, but for the tangent, which stays that of the last look."""
        self.is_here = False
        return self._acted_on(forces(*self._of(law), x, self.force, self.work), x)

    def smallest(self) -> Floats:
        """Returns σ3 of every tet at the last look or feel, negative where inverted, (m,)."""
        if self.in_order is None or not self.has_order:
            return self.work.smallest
        found = np.empty_like(self.work.smallest)
        found[self.in_order.order] = self.work.smallest
        return found

    def residual(self) -> float:
        """Returns the residual at the last look, of the body that is farthest from rest."""
        return max(self.residuals())

    def residuals(self) -> list[float]:
        """Returns the residual of every body at the last look."""
        return [residual_of(self.force[nodes], self.is_free[nodes], least) for nodes, least in self.bodies]

    def direction(self, law: Hyperelastic, x: Floats, tolerance: float) -> Floats:
        """Returns d with K d = f for the clamped tangent K at x, to a relative residual, and zero at held nodes."""
        if self.is_true or not self.is_here:
            self.look(law, x)
        return self._solve(tolerance)[0]

    def old_direction(self, tolerance: float) -> Floats | None:
        """Returns d for forces here and the tangent of an earlier look, or None where forces have left none of it."""
        if self.law is None or self.is_here or self.law.left is not None or self.acting:
            return None
        d, has_solved = self._solve(tolerance)
        return d if has_solved and self._along(d) > 0.0 else None

    def may_be_true(self, residual: float) -> bool:
        """Returns whether the true tangent is to be tried: near rest, or where the last step has left it."""
        return self.is_definite and (residual <= NEAR or (self.is_true and self.is_here and self.is_gentle))

    def true_direction(self, law: Hyperelastic, x: Floats, tolerance: float, residual: float) -> Floats | None:
        """Returns d for the true tangent at x, or None where that leads nowhere.

        Where tets are pressed, the clamped tangent is too stiff, and a step leaves half of the residual. Near a stable
        equilibrium the true tangent is definite, though that of single tets is not.
        """
        if not self.is_true or not self.is_here:  # else the step to x has left it
            self.look(law, x, clamp=False)
        d, has_solved = self._solve(tolerance)
        if has_solved and self._along(d) > 0.0:
            return d
        self.is_definite, self.is_gentle = residual > NEAR, False
        return None

    def carried(self, law: Hyperelastic, x: Floats, held: Held, tolerance: float) -> Floats:
        """Returns x with the held nodes where they are held, and the others moved along as the tangent at x says.

        Held nodes that jump alone turn the tets next to them inside out. Where the tangent does that to more tets, as
        it may where held nodes turn far, they jump alone all the same.
        """
        jumped = x.copy()
        jumped[held.nodes] = held.positions
        farthest = float(np.abs(held.positions - x[held.nodes]).max(initial=0.0))
        if farthest <= HARDLY * float(np.ptp(self.model.X, axis=0).max()) or self.look(law, x).inverted:
            return jumped
        d, b = jumped - x, np.where(self.is_free[:, None], self.force, 0.0)
        self._solve_for(d, b, tolerance)
        if self._energy_of_tets(law, x + d).inverted > self._energy_of_tets(law, jumped).inverted:
            return jumped
        x = x + d
        x[held.nodes] = held.positions
        return x

    def step(
        self, law: Hyperelastic, x: Floats, before: Answer, d: Floats, is_tangled: bool, is_last: bool = False
    ) -> tuple[Floats, Answer, bool]:
        """Goes along d from x, where it was as `before`.

        Args:
            law, x, before, d: The same.
            is_tangled: Whether a tangle is undone.
            is_last: Whether x + d is likely to be at rest: no tangent is computed there, unless it is asked for.

        Returns:
            Where that is, how it is there, and whether there was a way at all.
        """
        slope, rounding = self._along(d), no_rise(before.energy, self.moduli)
        if not is_tangled and not before.below and any(isinstance(acting, Tying) for acting in self.acting):
            # a look changes what touches what, and with it the energy that a step has to lower
            length = lowering(before.energy, slope, rounding, lambda s: self._energy(law, x + s * d))
            answer, bracket = self._look_on(law, x + length * d, before), Bracket(slope, length)
            while bracket.narrow(self._along(d)):
                answer = self._look_on(law, x + bracket.length * d, before)
            length = bracket.length
            return x + length * d, answer, length > 0.0
        if is_tangled or before.below:
            answer = self.feel(law, x + d)
            length = extrapolated(slope, self._along(d))
            return x + length * d, self.look(law, x + length * d), True
        answer = self.feel(law, x + d) if is_last else self._look_on(law, x + d, before)
        if answer.below:
            length = extrapolated(slope, self._along(d))
        elif answer.energy <= before.energy - ENOUGH * slope + rounding:
            length = 1.0
        else:
            length = lowering(before.energy, slope, rounding, lambda s: self._energy(law, x + s * d))
        if length == 1.0:
            return x + d, answer, True
        return x + length * d, self._look_on(law, x + length * d, before), length > 0.0

    def _look_on(self, law: Hyperelastic, x: Floats, before: Answer) -> Answer:
        """Looks at x for the kind of tangent that has led there, or for the true one where nothing is pressed hard."""
        return self.look(law, x, clamp=not (self.is_true or (self.is_gentle and before.smallest >= GENTLE)))

    def _solve(self, tolerance: float) -> tuple[Floats, bool]:
        d, b = np.zeros_like(self.force), np.where(self.is_free[:, None], self.force, 0.0)
        return d, self._solve_for(d, b, tolerance)

    def _solve_for(self, d: Floats, b: Floats, tolerance: float) -> bool:
        pattern, values, lattices = self._system()
        lattices = replace(lattices, is_hard=self.is_hard, is_same=self.is_hard and self.is_solved)
        solved = pcg.solve(pattern, values, b, self.is_free, d, tolerance, CG_ITERATIONS, preconditioner=lattices)
        self.is_hard, self.is_solved = solved.taken_over, True
        self.cg_iterations += solved.iterations
        self.systems += 1
        return solved.converged

    def _system(self) -> tuple[BlockPattern, Floats, EmbeddedLattices]:
        """Returns the tangent of the last look, with what ties nodes of different tets, and its preconditioner."""
        assert self.law is not None
        pattern, values = whole_tangent(*self._of(self.law), self.values, self.work)
        if self.law.left is None:
            pattern = self.model.pattern  # the same blocks, whatever the order of tets
        found = [acting.ties() for acting in self.acting if isinstance(acting, Tying)]
        ties = [tied for tied in found if tied is not None]
        if not ties:
            return pattern, values, self.lattices_of_mesh
        if self.widening is None or self.widening.pattern is not pattern:
            self.widening = Widening(pattern)
        return *self.widening.widened(values, Ties.together(ties)), self.lattices

    def _along(self, d: Floats) -> float:
        return float(np.sum(self.force * d))  # np.dot's sum depends on the number of threads

    def _energy(self, law: Hyperelastic, x: Floats) -> float:
        found = self._with_load(self._energy_of_tets(law, x), x, sum(acting.energy(x) for acting in self.acting))
        return found.energy if found.below == 0 else np.inf

    def _energy_of_tets(self, law: Hyperelastic, x: Floats) -> Answer:
        return energy(*self._of(law), x, self.work)

    def _of(self, law: Hyperelastic) -> tuple[Model, Hyperelastic]:
        """Returns model and law with tets in the order in which passes over them take least."""
        self.has_order = law.added is None
        if self.in_order is None or law.added is not None:
            return self.model, law
        return self.in_order.model, self.in_order.law(law)

    def _acted_on(self, answer: Answer, x: Floats) -> Answer:
        """Adds what acts at x to the forces and the tangent of tets."""
        if self.load is not None:
            self.force += self.load
        added = sum(acting.add(x, self.values, self.force) for acting in self.acting)
        return self._with_load(answer, x, added)

    def _with_load(self, answer: Answer, x: Floats, added: float) -> Answer:
        if self.load is not None:
            added -= float(np.sum(self.load * (x - self.model.X)))
        return replace(answer, energy=answer.energy + added) if added else answer
