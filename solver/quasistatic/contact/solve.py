# SPDX-License-Identifier: GPL-3.0-or-later
"""Newton's method for flesh that touches things: the penalty grows until nothing is deep in anything.

A finite penalty leaves a depth that the pressure asks for. Where that is more than `DEEP`, the penalty is raised and
the solve goes on from where it was. Where a solve with contacts that come and go does not arrive, it goes on with
contacts frozen, looks again, and so on: at the end what there is at a fresh look counts, and a solve that has not
arrived by then says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ...arrays import Floats
from ...hyperelastic.element import Hyperelastic
from ...model import Model
from ..held import Held
from ..newton import Equilibrium, Progress, solve
from ..outside import Acting
from .touching import Touching

DEEP = 0.05  # depth that is left, in sizes of a tet of the point's body
HARDER = 5.0  # by what the penalty is raised each time
STAGES = 3  # how often
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

    def go_on(self, x: Floats, most: int = 0) -> Equilibrium:
        before = self.newton_iterations

        def told(progress: Progress) -> None:
            self.on_iteration(replace(progress, newton_iterations=before + progress.newton_iterations))

        most = min(most or self.left, self.left)
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

    is_free, solves, freezes = held.is_free(model.node_count), _Solves(begin, max_iterations, on_iteration), 0
    for stage in range(STAGES + 1):
        found = solves.go_on(x)
        for _round in range(ROUNDS):
            if found.converged or not solves.left:
                break
            freezes += 1
            touching.freeze(found.x)
            frozen = solves.go_on(found.x, FROZEN)
            touching.thaw()
            found = solves.go_on(frozen.x)
        x = found.x
        depth, share = touching.deepest(x, is_free)
        if share <= DEEP or not found.converged or stage == STAGES:
            break
        touching.factor *= HARDER
    return InContact(found, depth, stage, freezes)
