# SPDX-License-Identifier: GPL-3.0-or-later
"""What a step has to know to turn rigid cores at its end: what touches, holds and pulls their bodies."""

from __future__ import annotations

import numpy as np

from ...constraints.external_forces import ExternalForces
from ...constraints.rigid_core import rotate_cores
from ...mechanics.model import Model
from ...mechanics.state import State
from ...runtime.arrays import Bools, Floats, Indices


def end_step_with_cores(
    model: Model, state: State, outside: ExternalForces, x: Floats, v: Floats, dt: float
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
    sprung = _islands_of_tets(model, outside.points.tet[:springs])
    if outside.node_force is not None:
        sprung |= np.logical_or.reduceat(outside.node_force.any(axis=1), model.pattern.island_start[:-1])
    return rotate_cores(
        model,
        (state.x, state.v),
        (x, v),
        dt,
        outside.is_fixed,
        outside.fixed_target,
        islands_in_contact(model, outside),
        sprung,
    )


def islands_in_contact(model: Model, outside: ExternalForces) -> Bools:
    """Returns which islands have contacts, (k,)."""
    springs = len(outside.points) - outside.contact_count
    return _islands_of_tets(
        model, np.concatenate([outside.points.tet[springs:], outside.pairs.tet, outside.pairs.other])
    )


def _islands_of_tets(model: Model, tets: Indices) -> Bools:
    found = np.zeros(model.pattern.island_count, bool)
    found[model.pattern.island_of_row[model.tets[tets, 0]]] = True
    return found
