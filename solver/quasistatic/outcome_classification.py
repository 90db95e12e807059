# SPDX-License-Identifier: GPL-3.0-or-later
"""Classifies the result of a solve: at rest, at rest in another shape, with inverted tets, or not converged."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .equilibrium import Equilibrium, solve
from .equilibrium_problem import EquilibriumProblem
from .initial_guesses import rigidly_aligned

AT_REST = "at rest"
OTHER_EQUILIBRIUM = "elsewhere"
INVERTED = "inside out"
NOT_CONVERGED = "not converged"

SAME_POSITION_TOLERANCE = 1.0e-4  # of the size of the mesh: as far as nodes may be from where they belong


@dataclass(frozen=True)
class Outcome:
    """What a solve has come to.

    Attributes:
        kind: One of the words above. "elsewhere" is an equilibrium too, but a twisted or folded one: a start in the
            rest shape leads to another.
        distance: Largest distance of a node from that other equilibrium, over the longest side of the mesh; None
            where nothing was compared.
    """

    kind: str
    distance: float | None = None


def classify_outcome(problem: EquilibriumProblem, found: Equilibrium, is_compared: bool, tolerance: float) -> Outcome:
    """Returns what a solve has come to.

    Args:
        problem: Of the solve.
        found: Its result.
        is_compared: Whether the solve started far from rest, and is compared with one that starts in the rest shape,
            moved along with the fixed nodes. The comparison takes no time where fixed nodes moved rigidly.
        tolerance: Residual that the comparison has to reach.
    """
    if not found.converged:
        return Outcome(NOT_CONVERGED)
    if found.inverted_tets:
        return Outcome(INVERTED)
    if not is_compared:
        return Outcome(AT_REST)
    X = problem.model.X
    usual = solve(replace(problem, forces=()), rigidly_aligned(X, problem.fixed), tolerance)
    distance = float(np.linalg.norm(found.x - usual.x, axis=1).max() / np.ptp(X, axis=0).max())
    if not usual.converged:  # then it is not known where the body should be
        return Outcome(AT_REST)
    return Outcome(AT_REST if distance <= SAME_POSITION_TOLERANCE else OTHER_EQUILIBRIUM, distance)
