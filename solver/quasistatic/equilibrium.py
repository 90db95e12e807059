# SPDX-License-Identifier: GPL-3.0-or-later
"""Newton's method for f(x) + load = 0 with the clamped tangent K = −∂f/∂x, from any start.

Every iteration solves K d = f + load by conjugate gradients, as exactly as it pays, and takes a step along d whose
length is that of `line_search.py`, under the law of `law_stages.py`. A start that says nothing of the shape is first
replaced by a harmonic (Laplace) solve (`harmonic_reset.py`), unless the caller wants to keep it. The first solves of a
tangle are more exact than later ones: the disorder that is left decides whether a limb ends twisted.

Source: S07, chapter 3; tolerances of the linear solves: Eisenstat and Walker 1996, second choice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..runtime.arrays import Floats
from .active_bodies import ActiveBodies
from .equilibrium_problem import EquilibriumProblem
from .harmonic_reset import FLAT_STRETCH, harmonic_reset
from .law_stages import LawStages
from .newton_iterate import NewtonIterate
from .progress import Progress

# Relative residuals of the linear solves
TANGLED_FORCING_TERM = 0.01  # where more than `TANGLED_SHARE` of the tets are inverted
WEIGHTED_FORCING_TERM = 1.0e-5  # the same under weighted rotations, where errors are all the disorder that is left
MAX_FORCING_TERM = 0.1  # of other solves far from rest; with 0.5 they never converge
# of muscles: fibres and volume hold so much of the residual that a tenth of it leaves soft directions as they were, and
# steps of a fraction of their length follow (with 0.1 a curl of one muscle takes a third more iterations)
MAX_FORCING_TERM_OF_MUSCLES = 0.01

TANGLED_SHARE = 0.02  # share of inverted tets
STALE_TANGENT_TOLERANCE_RATIO = 0.1  # expected residual over the tolerance below which an old tangent is used again


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """Where a solve ended.

    Attributes:
        x: Node positions [m], (n, 3).
        converged: Whether `residual` is within the tolerance.
        residual: Of `equilibrium_residual.py`.
        energy: Energy of the tets and in the loads [J]; infinite where the law has none.
        inverted_tets: Number of tets that are inverted or have no volume.
        extended_tets: Number of tets under the constant extension, whose stress is not that of the law.
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
    problem: EquilibriumProblem,
    x: Floats,
    tolerance: float = 1.0e-6,
    max_iterations: int = 300,
    on_iteration: Callable[[Progress], None] = lambda progress: None,
    keeps_start: bool = False,
    other_starts: Sequence[Floats] = (),
) -> Equilibrium:
    """Returns the equilibrium, or the last iterate; `converged` says which.

    Args:
        problem: Bodies, fixed nodes and forces.
        x: Start [m], (n, 3): the rest shape, the equilibrium of the frame before, or anything.
        tolerance: Residual to reach.
        max_iterations: Most Newton iterations.
        on_iteration: Called before every iteration and at the end. An exception from it passes through.
        keeps_start: Whether to start at x even if it says nothing of the shape. Such a solve sometimes ends in a
            twisted equilibrium (`outcome_classification.py`).
        other_starts: Positions [m], (n, 3), at which nodes begin instead where that has less energy, for each group of
            bodies that touch.
    """
    model, law = problem.model, problem.law
    search = NewtonIterate(problem)
    x = search.move_with_fixed_nodes(x, problem.fixed)
    search.potentials.begin()
    stages = LawStages(law, orders=keeps_start)
    if other_starts:
        others = [search.move_with_fixed_nodes(start, problem.fixed) for start in other_starts]
        x = search.best_start(stages.unextended, x, others)
    answer = search.evaluate_tangent(stages.unextended, x)
    fresh = harmonic_reset(search, x) if answer.smallest <= FLAT_STRETCH and not keeps_start else None
    if fresh is None:
        stages.begin(answer)
    else:
        x, stages.has_harmonic_start = fresh, True
    search.potentials.set_tangled(stages.is_untangling)
    if stages.law is not stages.unextended:
        answer = search.evaluate_tangent(stages.law, x)
    iterations, before, has_way = search.system_count, np.inf, True
    loosest = MAX_FORCING_TERM if law.anisotropic_term is None else MAX_FORCING_TERM_OF_MUSCLES
    moving = ActiveBodies(problem, search)
    while True:
        residuals = moving.residuals(x)
        residual = max(residuals)
        is_over = iterations >= max_iterations or not has_way or answer.extended_count > 0
        if not moving.are_all_moving and (is_over or moving.must_all_move(residuals, tolerance)):
            x, answer = moving.move_all(stages.law, x, tolerance, for_good=is_over)
            search, has_way = moving.search, True
            continue
        if stages.next_stage(answer, residual, tolerance, iterations):
            search.potentials.set_tangled(stages.is_untangling)
            answer, before, has_way = search.evaluate_tangent(stages.law, x), np.inf, True
            continue
        on_iteration(Progress(iterations, residual, answer.inverted))
        if residual <= tolerance or iterations >= max_iterations or not has_way:
            break
        tangled = stages.is_untangling
        if not tangled and answer.extended_count == 0:
            left = moving.leave_resting(stages.law, x, residuals, tolerance)
            if left is not None:
                (x, answer), search = left, moving.search
        present_law = moving.law(stages.law)
        exact = min(loosest, _forcing_term(stages, answer.inverted / model.tet_count, residual, before, tolerance))
        is_smooth, d = not tangled and answer.extended_count == 0, None
        if is_smooth and residual * residual <= STALE_TANGENT_TOLERANCE_RATIO * tolerance * before < np.inf:
            d = search.stale_direction(exact)
        if d is None and is_smooth and search.may_use_true_tangent(residual):
            d = search.true_tangent_direction(present_law, x, exact, residual)
        if d is None:
            d = search.direction(present_law, x, exact)
        # an old tangent gains as many digits again
        is_last = residual * exact * exact <= STALE_TANGENT_TOLERANCE_RATIO * tolerance
        x, answer, has_way = search.step(present_law, x, answer, d, tangled, is_last)
        iterations, before = iterations + 1, residual
    if stages.is_untangling:  # report the result under the law of the problem
        search.potentials.set_tangled(False)
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
        cg_iterations=moving.cg_iterations,
        residuals=tuple(search.residuals()),
        start_replaced=fresh is not None,
    )


def _forcing_term(stages: LawStages, inverted: float, residual: float, before: float, tolerance: float) -> float:
    """Returns the relative residual to which K d = f is solved, for the share of tets that are inverted."""
    if stages.is_untangling and inverted > 0.0:
        if inverted <= TANGLED_SHARE:
            return MAX_FORCING_TERM
        return WEIGHTED_FORCING_TERM if stages.is_ordering else TANGLED_FORCING_TERM
    if not np.isfinite(before):
        return MAX_FORCING_TERM
    # as many digits as the residual gained last, and no more than the tolerance needs
    return min(MAX_FORCING_TERM, max(0.9 * (residual / before) ** 2, 0.5 * tolerance / residual))
