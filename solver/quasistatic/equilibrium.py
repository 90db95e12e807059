# SPDX-License-Identifier: GPL-3.0-or-later
"""Newton's method for f(x) + load = 0 with the clamped tangent K = −∂f/∂x, from any start.

Every iteration solves K d = f + load by conjugate gradients, as exactly as it pays, and goes along d as far as
`step_length.py` says, under the law that `continuation.py` says. A start that says nothing of the shape is replaced by
a harmonic (Laplace) solve first (`harmonic_reset.py`), unless it is to be kept. The first solves of a tangle are more
exact than later ones: what is left of the disorder decides whether a limb ends twisted.

Source: S07, chapter 3; tolerances of the linear solves: Eisenstat and Walker 1996, second choice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..mechanics.hyperelastic.hyperelastic_element import Hyperelastic
from ..mechanics.model import Model
from ..runtime.arrays import Floats
from .continuation import MaterialContinuation
from .external_terms import PotentialForce
from .fixed_nodes import FixedNodes
from .harmonic_reset import FLAT_STRETCH, harmonic_reset
from .newton_iterate import NewtonIterate
from .progress import Progress

TANGLED_SHARE = 0.02  # share of inverted tets above which solves are
TANGLED_FORCING_TERM = 0.01  # as exact as this,
WEIGHTED_FORCING_TERM = 1.0e-5  # or as this under weighted rotations: their errors are all the disorder that is left
MAX_FORCING_TERM = 0.1  # relative residual of other linear solves far from rest; 0.5 never arrives
PREDICTOR_TOLERANCE = 0.03  # the same of the solve that moves a body along with its held nodes
STALE_TANGENT_TOLERANCE_RATIO = 0.1  # of the tolerance: what an old tangent has to promise to be used once more


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """Where a solve ended.

    Attributes:
        x: Node positions [m], (n, 3).
        converged: Whether `residual` is within the tolerance.
        residual: Of `equilibrium_residual.py`.
        energy: Energy of the tets and in the loads [J]; infinite where the law has none.
        inverted_tets: Number of tets inside out, or without any volume, where laws may have no stress to tell it.
        extended_tets: Number of tets that the constant extension has hold of, whose stress is not the law's.
        newton_iterations: Newton iterations.
        cg_iterations: Iterations of conjugate gradients in all of them.
        residuals: Of every body.
        start_replaced: Whether a harmonic (Laplace) solve took the place of the start, or of some pieces of it.
    """

    x: Floats
    converged: bool
    residual: float
    energy: float
    inverted_tets: int
    extended_tets: int
    newton_iterations: int
    cg_iterations: int
    residuals: tuple[float, ...] = ()
    start_replaced: bool = False


def solve(
    model: Model,
    law: Hyperelastic,
    held: FixedNodes,
    x: Floats,
    tolerance: float = 1.0e-6,
    max_iterations: int = 300,
    load: Floats | None = None,
    on_iteration: Callable[[Progress], None] = lambda progress: None,
    acting: Sequence[PotentialForce] = (),
    keeps_start: bool = False,
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
        on_iteration: Called before every iteration but that which moves a body along with held nodes, and at the end.
            What it raises goes through.
        acting: Springs and contacts.
        keeps_start: Whether to begin at x even where it says nothing of the shape. Now and then such a solve ends in
            an equilibrium that is twisted (`diagnosis.py`).
    """
    search = NewtonIterate(model, held, load, acting)
    x = search.move_with_fixed_nodes(law, x, held, PREDICTOR_TOLERANCE)
    search.begin()
    stages = MaterialContinuation(law, orders=keeps_start)
    answer = search.evaluate_tangent(stages.unextended, x)
    fresh = harmonic_reset(search, x) if answer.smallest <= FLAT_STRETCH and not keeps_start else None
    if fresh is None:
        stages.begin(answer)
    else:
        x, stages.has_harmonic_start = fresh, True
    search.is_tangled = stages.is_untangling
    if stages.law is not stages.unextended:
        answer = search.evaluate_tangent(stages.law, x)
    iterations, before, has_way = search.system_count, np.inf, True
    while True:
        residual = search.residual()
        if stages.next_stage(answer, residual, tolerance, iterations):
            search.is_tangled = stages.is_untangling
            answer, before, has_way = search.evaluate_tangent(stages.law, x), np.inf, True
            continue
        on_iteration(Progress(iterations, residual, answer.inverted))
        if residual <= tolerance or iterations >= max_iterations or not has_way:
            break
        tangled = stages.is_untangling
        exact = _forcing_term(stages, answer.inverted / model.tet_count, residual, before, tolerance)
        is_smooth, d = not tangled and answer.extended_count == 0, None
        if is_smooth and residual * residual <= STALE_TANGENT_TOLERANCE_RATIO * tolerance * before < np.inf:
            d = search.stale_direction(exact)
        if d is None and is_smooth and search.may_use_true_tangent(residual):
            d = search.true_tangent_direction(stages.law, x, exact, residual)
        if d is None:
            d = search.direction(stages.law, x, exact)
        # an old tangent wins as many digits once more
        is_last = residual * exact * exact <= STALE_TANGENT_TOLERANCE_RATIO * tolerance
        x, answer, has_way = search.step(stages.law, x, answer, d, tangled, is_last)
        iterations, before = iterations + 1, residual
    if stages.is_untangling:  # told is what holds under the law that was asked for
        search.is_tangled = False
        answer = search.evaluate_tangent(law, x)
        residual = search.residual()
    return Equilibrium(
        x=x,
        converged=residual <= tolerance,
        residual=residual,
        energy=answer.energy,
        inverted_tets=answer.inverted + answer.flat,
        extended_tets=answer.extended_count,
        newton_iterations=iterations,
        cg_iterations=search.cg_iterations,
        residuals=tuple(search.residuals()),
        start_replaced=fresh is not None,
    )


def _forcing_term(
    stages: MaterialContinuation, inverted: float, residual: float, before: float, tolerance: float
) -> float:
    """Returns the relative residual to which K d = f is solved, for the share of tets that are inverted."""
    if stages.is_untangling and inverted > 0.0:
        if inverted <= TANGLED_SHARE:
            return MAX_FORCING_TERM
        return WEIGHTED_FORCING_TERM if stages.is_ordering else TANGLED_FORCING_TERM
    if not np.isfinite(before):
        return MAX_FORCING_TERM
    # as many digits as the residual won last, and no more than are asked for
    return min(MAX_FORCING_TERM, max(0.9 * (residual / before) ** 2, 0.5 * tolerance / residual))
