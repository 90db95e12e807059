# SPDX-License-Identifier: GPL-3.0-or-later
"""Newton's method for flesh in contact: raises the penalty until no point is deep.

A finite penalty leaves a depth that is proportional to the pressure. If it is more than `MAX_DEPTH`, the penalty is
raised and the solve continues; if that does not converge, the equilibrium under the softer penalty stays. If a solve
stalls since contacts come and go, it continues with frozen contacts, then with new ones, and so on; only a solve with
new contacts counts as converged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ...runtime.arrays import Floats
from ..equilibrium import Equilibrium, solve
from ..equilibrium_problem import EquilibriumProblem
from ..progress import Progress
from .contact_penalty import ContactPenalty

MAX_DEPTH = 0.05  # depth that is accepted, in tet sizes of the point's body
PENALTY_GROWTH = 4.0  # factor by which the penalty is raised
MAX_PENALTY_RAISES = 2
MAX_ITERATIONS_PER_RAISE = 60  # iterations under a harder penalty
FROZEN_ITERATIONS = 5  # iterations with frozen contacts
MAX_FREEZES = 6


@dataclass(frozen=True, eq=False)
class ContactEquilibrium:
    """The result of a solve in contact.

    Attributes:
        equilibrium: With the iterations of all solves.
        max_depth: Largest depth of a point that could move out [m].
        penalty_raises: How often the penalty was raised.
        freezes: How often contacts were frozen.
    """

    equilibrium: Equilibrium
    max_depth: float
    penalty_raises: int
    freezes: int


class _SolveSequence:
    """Solves in sequence that share a number of iterations."""

    def __init__(
        self, begin: Callable[..., Equilibrium], max_iterations: int, on_iteration: Callable[[Progress], None]
    ) -> None:
        self.begin, self.iterations_left, self.on_iteration = begin, max_iterations, on_iteration
        self.newton_iterations = self.cg_iterations = 0

    def solve_from(self, x: Floats, max_iterations: int | None = None) -> Equilibrium:
        before = self.newton_iterations

        def report(progress: Progress) -> None:
            self.on_iteration(replace(progress, newton_iterations=before + progress.newton_iterations))

        limit = self.iterations_left if max_iterations is None else min(max_iterations, self.iterations_left)
        result = self.begin(x=x, max_iterations=limit, on_iteration=report)
        self.newton_iterations += result.newton_iterations
        self.cg_iterations += result.cg_iterations
        self.iterations_left = max(self.iterations_left - result.newton_iterations, 0)
        return replace(result, newton_iterations=self.newton_iterations, cg_iterations=self.cg_iterations)


def solve_in_contact(
    problem: EquilibriumProblem,
    x: Floats,
    contact: ContactPenalty,
    tolerance: float = 1.0e-6,
    max_iterations: int = 300,
    on_iteration: Callable[[Progress], None] = lambda progress: None,
) -> ContactEquilibrium:
    """Returns the equilibrium of bodies in contact, or the last iterate.

    Args:
        problem, x, tolerance, max_iterations, on_iteration: As for `equilibrium.solve`; the contacts are not among the
            forces of the problem.
        contact: What the bodies may touch.
    """

    with_contact = replace(problem, forces=[*problem.forces, contact])

    def begin(x: Floats, max_iterations: int, on_iteration: Callable[[Progress], None]) -> Equilibrium:
        return solve(with_contact, x, tolerance, max_iterations, on_iteration)

    solves, freezes = _SolveSequence(begin, max_iterations, on_iteration), 0
    is_free, best = problem.fixed.is_free(problem.model.node_count), None
    for stage in range(MAX_PENALTY_RAISES + 1):
        limit = solves.iterations_left if best is None else min(solves.iterations_left, MAX_ITERATIONS_PER_RAISE)
        found = solves.solve_from(x, limit)
        for _round in range(MAX_FREEZES if best is None else 0):
            if found.converged or not solves.iterations_left:
                break
            freezes += 1
            contact.freeze(found.x)
            frozen = solves.solve_from(found.x, FROZEN_ITERATIONS)
            contact.unfreeze()
            found = solves.solve_from(frozen.x)
        if best is not None and not found.converged:
            break
        x, best = found.x, ContactEquilibrium(found, contact.max_depth(found.x, is_free)[0], stage, freezes)
        if not found.converged or not solves.iterations_left or contact.max_depth(x, is_free)[1] <= MAX_DEPTH:
            break
        contact.penalty_factor *= PENALTY_GROWTH
    assert best is not None
    counted = replace(best.equilibrium, newton_iterations=solves.newton_iterations, cg_iterations=solves.cg_iterations)
    return replace(best, equilibrium=counted)
