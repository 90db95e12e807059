# SPDX-License-Identifier: GPL-3.0-or-later
"""What a solve has come to: at rest where it should be, at rest elsewhere, inside out, or not at rest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..mechanics.hyperelastic.hyperelastic_element import Hyperelastic
from ..mechanics.model import Model
from ..runtime.arrays import Floats
from .equilibrium import Equilibrium, solve
from .fixed_nodes import FixedNodes
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
        ended: One of the words above. "elsewhere" is an equilibrium too, but a twisted or folded one: a start in
            the rest shape leads to another.
        distance: Of the node that is farthest from where that start leads, over the longest side of the mesh; None
            where nothing was compared.
    """

    kind: str
    distance: float | None = None


def classify_outcome(
    model: Model,
    law: Hyperelastic,
    held: FixedNodes,
    found: Equilibrium,
    is_compared: bool,
    tolerance: float,
    load: Floats | None = None,
) -> Outcome:
    """Returns what a solve has come to.

    Args:
        model, law, held, load: Of the solve.
        found: How it ended.
        is_compared: Whether it began far from rest, and has to be compared with a solve that began in the rest shape,
            moved along with the held nodes. That takes no time where held nodes moved rigidly.
        tolerance: Residual that the comparison has to reach.
    """
    if not found.converged:
        return Outcome(NOT_CONVERGED)
    if found.inverted_tets:
        return Outcome(INVERTED)
    if not is_compared:
        return Outcome(AT_REST)
    usual = solve(model, law, held, rigidly_aligned(model.X, held), tolerance, load=load)
    distance = float(np.linalg.norm(found.x - usual.x, axis=1).max() / np.ptp(model.X, axis=0).max())
    if not usual.converged:  # nothing is known of where it should be
        return Outcome(AT_REST)
    return Outcome(AT_REST if distance <= SAME_POSITION_TOLERANCE else OTHER_EQUILIBRIUM, distance)
