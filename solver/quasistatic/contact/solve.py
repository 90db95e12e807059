# SPDX-License-Identifier: GPL-3.0-or-later
"""Newton's method for flesh that touches things: the penalty grows until nothing is deep in anything."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...arrays import Floats
from ...hyperelastic.element import Hyperelastic
from ...model import Model
from ..held import Held
from ..newton import Equilibrium, Progress, solve
from ..outside import Acting
from .touching import Touching


@dataclass(frozen=True, eq=False)
class InContact:
    """Where a solve in contact ended.

    Attributes:
        equilibrium: Its iterations are those of all stages.
        deepest: How deep a point is in something else [m].
        stages: How often the penalty was raised.
    """

    equilibrium: Equilibrium
    deepest: float
    stages: int


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
    found = solve(model, law, held, x, tolerance, max_iterations, load, on_iteration, [*acting, touching])
    return InContact(found, touching.deepest, 0)
