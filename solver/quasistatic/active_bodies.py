# SPDX-License-Identifier: GPL-3.0-or-later
"""The bodies that Newton's method moves: those that are not at rest, while the others stay where they are.

Of the muscles of an arm most are at rest after a few iterations, and one that buckles may take fifty. An iteration that
moves some bodies passes over their tets alone, finds the contacts and links that move them, and solves for their nodes;
the others hold against them. What changes for a body that stays are the forces of contacts and links with those that
move, so its residual is known in every iteration: with f₀ its forces and c₀ those of these couplings when it began to
stay, its forces are f₀ − c₀ + c(x). Where its residual rises above the tolerance all bodies are evaluated together
again, and it moves until the solve ends: so no body goes to and fro between both, and a solve ends. It ends only where
all bodies together are within the tolerance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..mechanics.hyperelastic.hyperelastic_bodies import EvaluationResult, Hyperelastic
from ..mechanics.submodel import Submodel, make_submodel
from ..runtime.arrays import Bools, Floats
from .equilibrium_problem import EquilibriumProblem
from .equilibrium_residual import relative_residual
from .fixed_nodes import FixedNodes
from .newton_iterate import NewtonIterate
from .potential_forces import PotentialForces, PotentialForcesOnPart

# Of the tolerance: residual below which a body stays. What moves beside it changes its residual a little
STAYING_SHARE = 0.5
# Of the tets that move now: so many less are worth the evaluation that it takes to leave bodies out
MAX_MOVING_SHARE = 0.7


@dataclass(frozen=True, eq=False)
class _MovingPart:
    """Some bodies that move while others stay.

    Attributes:
        part: They.
        search: Their Newton iterations.
        potentials: What acts on them.
        law: That of their tets.
        constant_forces: On nodes of other bodies: all forces [N] but those of couplings with these, (n, 3).
    """

    part: Submodel
    search: NewtonIterate
    potentials: PotentialForcesOnPart
    law: Hyperelastic
    constant_forces: Floats

    def all_forces(self, x: Floats) -> Floats:
        """Returns the forces on all nodes [N], (n, 3), for nodes of these bodies at x [m], where forces are."""
        forces = self.constant_forces + self.potentials.forces_on_others(x)
        forces[self.part.nodes] = self.search.force
        return forces


class ActiveBodies:
    """Which of b bodies a solve moves now, all at first.

    Attributes:
        search: Newton's iterations of those that move.
    """

    def __init__(self, problem: EquilibriumProblem, whole: NewtonIterate) -> None:
        """Takes the problem, and the iterations of all its bodies."""
        assert isinstance(whole.potentials, PotentialForces)
        self.problem, self.whole, self.search, self._potentials = problem, whole, whole, whole.potentials
        self._moving: _MovingPart | None = None
        self._may_stay = np.ones(len(problem.model.bodies), bool)
        self._iterations_of_parts = 0

    @property
    def are_all_moving(self) -> bool:
        """Whether no body stays where it is."""
        return self._moving is None

    @property
    def cg_iterations(self) -> int:
        """Iterations of conjugate gradients so far."""
        own = 0 if self._moving is None else self._moving.search.cg_iterations
        return self.whole.cg_iterations + self._iterations_of_parts + own

    def law(self, law: Hyperelastic) -> Hyperelastic:
        """Returns the law of the bodies that move, of that of all, which is the same as when others began to stay."""
        return law if self._moving is None else self._moving.law

    def residuals(self, x: Floats) -> list[float]:
        """Returns the residual of every body, for the last evaluation, at positions x [m] of those that move."""
        if self._moving is None:
            return self.whole.residuals()
        forces, is_free = self._moving.all_forces(x), self.whole.is_free
        return [relative_residual(forces[nodes], is_free[nodes], least) for nodes, least in self.whole.bodies]

    def must_all_move(self, residuals: Sequence[float], tolerance: float) -> bool:
        """Returns whether a body that stays is no longer at rest, or all bodies are: then all have to be evaluated."""
        if self._moving is None:
            return False
        stays = np.ones(len(residuals), bool)
        stays[list(self._moving.part.bodies)] = False
        has_risen = stays & ~(np.array(residuals) <= tolerance)
        return bool(has_risen.any() or max(residuals) <= tolerance)

    def move_all(
        self, law: Hyperelastic, x: Floats, tolerance: float, for_good: bool = False
    ) -> tuple[Floats, EvaluationResult]:
        """Lets all bodies move again.

        Args:
            law: Of all bodies.
            x: Positions of those that moved [m].
            tolerance: Residual to reach.
            for_good: Whether none stays any more in this solve: some alone had no way to lower their energy.

        Returns:
            The positions of all [m], (n, 3), and their evaluation.
        """
        moving = self._moving
        assert moving is not None
        x = moving.potentials.positions(x)
        self._moving, self.search = None, self.whole
        self._iterations_of_parts += moving.search.cg_iterations
        self._potentials.restrict_to(None)
        self.whole.take_experience(moving.search)
        answer = self.whole.evaluate_forces(law, x)
        stayed = np.ones(len(self._may_stay), bool)
        stayed[list(moving.part.bodies)] = False
        self._may_stay &= ~(stayed & ~(np.array(self.whole.residuals()) <= tolerance)) & (not for_good)
        return x, answer

    def leave_resting(
        self, law: Hyperelastic, x: Floats, residuals: Sequence[float], tolerance: float
    ) -> tuple[Floats, EvaluationResult] | None:
        """Lets bodies stay that are at rest, where that gains something.

        Args:
            law: Of all bodies.
            x: Positions of those that move now [m].
            residuals: Of all bodies there.
            tolerance: Residual to reach.

        Returns:
            The positions of those that go on and their evaluation, or None where all go on that move now.
        """
        bodies, before = self.problem.model.bodies, self._moving
        is_moving = ~(self._may_stay & (np.array(residuals) <= STAYING_SHARE * tolerance))
        numbers = tuple(np.flatnonzero(is_moving).tolist())
        now = range(len(bodies)) if before is None else before.part.bodies
        sizes = [body.tets.stop - body.tets.start for body in bodies]
        if not numbers or sum(sizes[k] for k in numbers) > MAX_MOVING_SHARE * sum(sizes[k] for k in now):
            return None
        forces = self.whole.force.copy() if before is None else before.all_forces(x)
        whole_x = x if before is None else before.potentials.positions(x)
        if before is not None:
            self._iterations_of_parts += before.search.cg_iterations
        part = self._part(numbers)
        potentials = PotentialForcesOnPart(self._potentials, part, whole_x)
        own_law = law.of_tets(part.tets)
        search = NewtonIterate(self._problem_of(part), potentials)
        search.take_experience(self.search)
        own_x = np.ascontiguousarray(whole_x[part.nodes])
        answer = search.evaluate_forces(own_law, own_x)
        constant = forces - potentials.forces_on_others(own_x)
        self._moving, self.search = _MovingPart(part, search, potentials, own_law, constant), search
        return own_x, answer

    def _part(self, numbers: tuple[int, ...]) -> Submodel:
        return make_submodel(self.problem.model, numbers)

    def _problem_of(self, part: Submodel) -> EquilibriumProblem:
        """Returns the problem of some bodies, without forces that have a potential."""
        problem = self.problem
        fixed = problem.fixed
        number = np.full(problem.model.node_count, -1, np.int32)
        number[part.nodes] = np.arange(len(part.nodes), dtype=np.int32)
        is_own: Bools = number[fixed.nodes] >= 0
        own = FixedNodes(number[fixed.nodes[is_own]], fixed.positions[is_own])
        load = None if problem.load is None else np.ascontiguousarray(problem.load[part.nodes])
        return EquilibriumProblem(part.model, problem.law.of_tets(part.tets), own, load)
