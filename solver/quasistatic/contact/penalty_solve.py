# SPDX-License-Identifier: GPL-3.0-or-later
"""Newton's method for flesh that touches things: the penalty grows until nothing is deep in anything.

A finite penalty leaves a depth that the pressure asks for. Where that is more than `MAX_DEPTH`, the penalty is raised
and the solve goes on from where it was; where that does not arrive, what was at rest under the softer one stays. Where
a solve with contacts that come and go finds no way on, it goes on with contacts frozen, looks again, and so on: at the
end what there is at a fresh look counts, and a solve that has not arrived by then says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ...mechanics.hyperelastic.hyperelastic_element import Hyperelastic
from ...mechanics.model import Model
from ...runtime.arrays import Floats
from ..equilibrium import Equilibrium, solve
from ..equilibrium_problem import EquilibriumProblem
from ..external_terms import PotentialForce
from ..fixed_nodes import FixedNodes
from ..progress import Progress
from .contact_terms import ContactPenalty

MAX_DEPTH = 0.05  # depth that is left, in sizes of a tet of the point's body
PENALTY_GROWTH = 4.0  # by what the penalty is raised each time
MAX_PENALTY_RAISES = 2  # how often
MAX_ITERATIONS_PER_RAISE = 60  # iterations under a harder penalty
FROZEN_ITERATIONS = 5  # iterations with contacts frozen
MAX_FREEZES = 6  # of freezing and looking again


@dataclass(frozen=True, eq=False)
class ContactEquilibrium:
    """Where a solve in contact ended.

    Attributes:
        equilibrium: Its iterations are those of all solves.
        deepest: How deep a point is in something else that could move out [m].
        stages: How often the penalty was raised.
        freezes: How often contacts were frozen.
    """

    equilibrium: Equilibrium
    max_depth: float
    penalty_raises: int
    freezes: int


class _SolveSequence:
    """One solve after the other, counted together."""

    def __init__(self, begin: Callable[..., Equilibrium], most: int, on_iteration: Callable[[Progress], None]) -> None:
        self.begin, self.iterations_left, self.on_iteration = begin, most, on_iteration
        self.newton_iterations = self.cg_iterations = 0

    def solve_from(self, x: Floats, most: int | None = None) -> Equilibrium:
        before = self.newton_iterations

        def told(progress: Progress) -> None:
            self.on_iteration(replace(progress, newton_iterations=before + progress.newton_iterations))

        most = self.iterations_left if most is None else min(most, self.iterations_left)
        found = self.begin(x=x, max_iterations=most, on_iteration=told)
        self.newton_iterations += found.newton_iterations
        self.cg_iterations += found.cg_iterations
        self.iterations_left = max(self.iterations_left - found.newton_iterations, 0)
        return replace(found, newton_iterations=self.newton_iterations, cg_iterations=self.cg_iterations)


def solve_in_contact(
    model: Model,
    law: Hyperelastic,
    held: FixedNodes,
    x: Floats,
    touching: ContactPenalty,
    tolerance: float = 1.0e-6,
    max_iterations: int = 300,
    load: Floats | None = None,
    on_iteration: Callable[[Progress], None] = lambda progress: None,
    acting: Sequence[PotentialForce] = (),
) -> ContactEquilibrium:
    """Returns where bodies are at rest against what they touch, or how far that came.

    Args:
        model, law, held, x, tolerance, max_iterations, load, on_iteration, acting: As for `newton.solve`; what
            touches is not in `acting`.
        touching: What they may touch.
    """

    def begin(x: Floats, max_iterations: int, on_iteration: Callable[[Progress], None]) -> Equilibrium:
        problem = EquilibriumProblem(model, law, held, load, [*acting, touching])
        return solve(problem, x, tolerance, max_iterations, on_iteration)

    solves, freezes = _SolveSequence(begin, max_iterations, on_iteration), 0
    is_free, best = held.is_free(model.node_count), None
    for stage in range(MAX_PENALTY_RAISES + 1):
        limit = solves.iterations_left if best is None else min(solves.iterations_left, MAX_ITERATIONS_PER_RAISE)
        found = solves.solve_from(x, limit)
        for _round in range(MAX_FREEZES if best is None else 0):
            if found.converged or not solves.iterations_left:
                break
            freezes += 1
            touching.freeze(found.x)
            frozen = solves.solve_from(found.x, FROZEN_ITERATIONS)
            touching.unfreeze()
            found = solves.solve_from(frozen.x)
        if best is not None and not found.converged:
            break
        x, best = found.x, ContactEquilibrium(found, touching.max_depth(found.x, is_free)[0], stage, freezes)
        if not found.converged or not solves.iterations_left or touching.max_depth(x, is_free)[1] <= MAX_DEPTH:
            break
        touching.penalty_factor *= PENALTY_GROWTH
    assert best is not None
    counted = replace(best.equilibrium, newton_iterations=solves.newton_iterations, cg_iterations=solves.cg_iterations)
    return replace(best, equilibrium=counted)
