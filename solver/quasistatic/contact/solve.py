# SPDX-License-Identifier: GPL-3.0-or-later
"""Newton's method for flesh that touches things: the penalty grows until nothing is deep in anything.

A finite penalty leaves a depth that the pressure asks for. Where that is more than `DEEP`, the penalty is raised and
the solve goes on from where it was; where that does not arrive, what was at rest under the softer one stays. Where a
solve with contacts that come and go finds no way on, it goes on with contacts frozen, looks again, and so on: at the
end what there is at a fresh look counts, and a solve that has not arrived by then says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ...arrays import Floats
from ...hyperelastic.element import Hyperelastic
from ...late_dataclass import dataclass
from ...model import Model
from ..held import Held
from ..newton import Equilibrium, solve
from ..outside import Acting
from ..progress import Progress
from .touching import Touching

DEEP = 0.05  # depth that is left, in sizes of a tet of the point's body
HARDER = 4.0  # by what the penalty is raised each time
STAGES = 2  # how often
PATIENCE = 60  # iterations under a harder penalty
FROZEN = 5  # iterations with contacts frozen
ROUNDS = 6  # of freezing and looking again


@dataclass(frozen=True, eq=False)
class InContact:
    """Where a solve in contact ended.

    Attributes:
        equilibrium: Its iterations are those of all solves.
        deepest: How deep a point is in something else that could move out [m].
        stages: How often the penalty was raised.
        freezes: How often contacts were frozen.
    """

    equilibrium: Equilibrium
    deepest: float
    stages: int
    freezes: int


class _Solves:
    """One solve after the other, counted together."""

    def __init__(self, begin: Callable[..., Equilibrium], most: int, on_iteration: Callable[[Progress], None]) -> None:
        self.begin, self.left, self.on_iteration = begin, most, on_iteration
        self.newton_iterations = self.cg_iterations = 0

    def go_on(self, x: Floats, most: int | None = None) -> Equilibrium:
        before = self.newton_iterations

        def told(progress: Progress) -> None:
            self.on_iteration(replace(progress, newton_iterations=before + progress.newton_iterations))

        most = self.left if most is None else min(most, self.left)
        found = self.begin(x=x, max_iterations=most, on_iteration=told)
        self.newton_iterations += found.newton_iterations
        self.cg_iterations += found.cg_iterations
        self.left = max(self.left - found.newton_iterations, 0)
        return replace(found, newton_iterations=self.newton_iterations, cg_iterations=self.cg_iterations)


def solve_in_contact(
    model: Model,
    law: Hyperelastic,
    held: Held,
    x: Floats,
    touching: Touching,
    tolerance: float = 1.0e-6,
    max_iterations: int = 300,
    load: Floats | None = None,
    on_iteration: Callable[[Progress], None] = lambda progress: None,
    acting: Sequence[Acting] = (),
) -> InContact:
    """Returns where bodies are at rest against what they touch, or how far that came.

    Args:
        model, law, held, x, tolerance, max_iterations, load, on_iteration, acting: As for `newton.solve`; what
            touches is not in `acting`.
        touching: What they may touch.
    """

    def begin(x: Floats, max_iterations: int, on_iteration: Callable[[Progress], None]) -> Equilibrium:
        return solve(model, law, held, x, tolerance, max_iterations, load, on_iteration, [*acting, touching])

    solves, freezes = _Solves(begin, max_iterations, on_iteration), 0
    is_free, best = held.is_free(model.node_count), None
    for stage in range(STAGES + 1):
        limit = solves.left if best is None else min(solves.left, PATIENCE)
        found = solves.go_on(x, limit)
        for _round in range(ROUNDS if best is None else 0):
            if found.converged or not solves.left:
                break
            freezes += 1
            touching.freeze(found.x)
            frozen = solves.go_on(found.x, FROZEN)
            touching.thaw()
            found = solves.go_on(frozen.x)
        if best is not None and not found.converged:
            break
        x, best = found.x, InContact(found, touching.deepest(found.x, is_free)[0], stage, freezes)
        if not found.converged or not solves.left or touching.deepest(x, is_free)[1] <= DEEP:
            break
        touching.factor *= HARDER
    assert best is not None
    counted = replace(best.equilibrium, newton_iterations=solves.newton_iterations, cg_iterations=solves.cg_iterations)
    return replace(best, equilibrium=counted)
