# SPDX-License-Identifier: GPL-3.0-or-later
"""What a step has to know to turn rigid cores at its end: what touches, holds and pulls their bodies."""

from __future__ import annotations

import numpy as np

from ..arrays import Bools, Floats, Indices
from ..model import Model
from ..rigid_core import turn_cores
from ..state import State
from .outside import Outside


def end_with_cores(
    model: Model, state: State, outside: Outside, x: Floats, v: Floats, dt: float
) -> tuple[Floats, Floats]:
    """Returns the end of a step, x [m] and v [m/s], (n, 3) each, with rigid cores turned.

    Args:
        model: The bodies.
        state: Where the step begins.
        outside: What acted in it.
        x, v: Where it leads along straight lines.
        dt: Δt [s].
    """
    springs = len(outside.points) - outside.contact_count
    sprung = _islands(model, outside.points.tet[:springs])
    if outside.node_force is not None:
        sprung |= np.logical_or.reduceat(outside.node_force.any(axis=1), model.pattern.island_start[:-1])
    return turn_cores(
        model, (state.x, state.v), (x, v), dt, outside.is_fixed, outside.fixed_target, touching(model, outside), sprung
    )


def touching(model: Model, outside: Outside) -> Bools:
    """Returns which islands have contacts, (k,)."""
    springs = len(outside.points) - outside.contact_count
    return _islands(model, np.concatenate([outside.points.tet[springs:], outside.pairs.tet, outside.pairs.other]))


def _islands(model: Model, tets: Indices) -> Bools:
    found = np.zeros(model.pattern.island_count, bool)
    found[model.pattern.island_of_row[model.tets[tets, 0]]] = True
    return found
