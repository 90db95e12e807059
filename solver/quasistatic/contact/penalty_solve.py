# SPDX-License-Identifier: GPL-3.0-or-later
"""Newton's method for flesh in contact: raises the penalty until no point is deep.

A finite penalty leaves a depth that is proportional to the pressure. If it is more than `MAX_DEPTH`, the penalty is
raised and the solve continues; if that does not converge, the equilibrium under the softer penalty stays. If a solve
stalls since contacts come and go, it continues with frozen contacts, then with new ones, and so on; only a solve with
new contacts counts as converged.

Flesh that lies on something does so in the next sample too. So a solve may begin with the penalty that the one before
ended with; if it does not converge, it begins anew with the softest, and with all of its iterations.

A raise moves what touches by most of the accepted depth, which is seen as a pop where everything else moves slowly. So
a sample that comes near that depth asks the next one for a penalty that is harder by as much, and the depth stays just
below it while the pressure grows slowly; raises are for what is pressed quickly. Softer the penalty gets by and by.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ...runtime.arrays import Floats
from ..equilibrium import Equilibrium, solve
from ..equilibrium_problem import EquilibriumProblem
from ..progress import Progress
from .contact_penalty import ContactPenalty

MAX_DEPTH = 0.05  # depth that is accepted, in tet sizes of the point's body
PENALTY_GROWTH = 4.0  # factor by which the penalty is raised
MAX_PENALTY_FACTOR = 16.0
MAX_ITERATIONS_PER_RAISE = 60  # iterations under a harder penalty
FROZEN_ITERATIONS = 5  # iterations with frozen contacts
MAX_FREEZES = 6
EASED_DEPTH = 0.8  # share of the accepted depth that the penalty of the next sample is to leave at most
SOFT_DEPTH = 0.125  # share of it below which the penalty of the next sample is softer
SOFTENING = 1.2  # by this factor


@dataclass(frozen=True, eq=False)
class ContactEquilibrium:
    """The result of a solve in contact.

    Attributes:
        equilibrium: With the iterations of all solves.
        max_depth: Largest depth of a point that could move out [m].
        depth_in_tets: The same in tet sizes, of contacts with their full penalty only.
        freezes: How often contacts were frozen.
        next_penalty_factor: Of the penalty with which a solve that begins here should begin.
    """

    equilibrium: Equilibrium
    max_depth: float
    depth_in_tets: float
    freezes: int
    next_penalty_factor: float


class _SolveSequence:
    """Solves in sequence that share a number of iterations."""

    def __init__(
        self, begin: Callable[..., Equilibrium], max_iterations: int, on_iteration: Callable[[Progress], None]
    ) -> None:
        self.begin, self.iterations_left, self.on_iteration = begin, max_iterations, on_iteration
        self.newton_iterations = self.cg_iterations = 0

    def solve_from(
        self, x: Floats, max_iterations: int | None = None, other_starts: Sequence[Floats] = ()
    ) -> Equilibrium:
        before = self.newton_iterations

        def report(progress: Progress) -> None:
            self.on_iteration(replace(progress, newton_iterations=before + progress.newton_iterations))

        limit = self.iterations_left if max_iterations is None else min(max_iterations, self.iterations_left)
        result = self.begin(x=x, max_iterations=limit, on_iteration=report, other_starts=other_starts)
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
    other_starts: Sequence[Floats] = (),
) -> ContactEquilibrium:
    """Returns the equilibrium of bodies in contact, or the last iterate.

    Args:
        problem, x, tolerance, max_iterations, on_iteration, other_starts: As for `equilibrium.solve`; the contacts are
            not among the forces of the problem. Only a solve that begins at x has the other starts.
        contact: What the bodies may touch. Its penalty factor is the one to begin with.
    """

    with_contact = replace(problem, forces=[*problem.forces, contact])

    solves = _SolveSequence(partial(solve, with_contact, tolerance=tolerance), max_iterations, on_iteration)
    is_free = problem.fixed.is_free(problem.model.node_count)

    def accepted(found: Equilibrium, freezes: int) -> ContactEquilibrium:
        depth, in_tets = contact.max_depth(found.x, is_free)
        return ContactEquilibrium(found, depth, in_tets, freezes, _next_factor(contact.penalty_factor, in_tets))

    best = None
    if contact.penalty_factor > 1.0:
        found = solves.solve_from(x, MAX_ITERATIONS_PER_RAISE, other_starts)
        best = accepted(found, 0) if found.converged else None
    if best is None:
        contact.penalty_factor, solves.iterations_left = 1.0, max_iterations
        best = accepted(*_solve_with_freezes(solves, x, contact, other_starts))
    while best.equilibrium.converged and solves.iterations_left and best.depth_in_tets > MAX_DEPTH:
        if contact.penalty_factor >= MAX_PENALTY_FACTOR:
            break
        contact.penalty_factor *= PENALTY_GROWTH
        found = solves.solve_from(best.equilibrium.x, MAX_ITERATIONS_PER_RAISE)
        if not found.converged:
            break
        best = accepted(found, best.freezes)
    counted = replace(best.equilibrium, newton_iterations=solves.newton_iterations, cg_iterations=solves.cg_iterations)
    return replace(best, equilibrium=counted)


def _next_factor(factor: float, depth_in_tets: float) -> float:
    """Returns the penalty factor with which the next sample is to begin, after one that left a depth [tet sizes]."""
    share = depth_in_tets / MAX_DEPTH
    if share > EASED_DEPTH:  # depth is as the pressure over the factor
        return max(factor, min(factor * share / EASED_DEPTH, MAX_PENALTY_FACTOR))
    return max(factor / SOFTENING, 1.0) if share < SOFT_DEPTH else factor


def _solve_with_freezes(
    solves: _SolveSequence, x: Floats, contact: ContactPenalty, other_starts: Sequence[Floats]
) -> tuple[Equilibrium, int]:
    """Returns the equilibrium under the softest penalty, or the last iterate, and how often contacts were frozen."""
    found = solves.solve_from(x, None, other_starts)
    for freezes in range(MAX_FREEZES):
        if found.converged or not solves.iterations_left:
            return found, freezes
        contact.freeze(found.x)
        frozen = solves.solve_from(found.x, FROZEN_ITERATIONS)
        contact.unfreeze()
        found = solves.solve_from(frozen.x)
    return found, MAX_FREEZES
