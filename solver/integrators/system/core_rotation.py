# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotates rigid cores at the end of a step, given which islands have contacts, springs or fixed nodes."""

from __future__ import annotations

import numpy as np

from ...constraints.external_forces import ExternalForces
from ...constraints.rigid_core import rotate_cores
from ...mechanics.chord_ends import ChordEnds
from ...mechanics.model import Model
from ...mechanics.state import State
from ...runtime.arrays import Bools, Floats, Indices


def end_step_with_cores(
    model: Model, state: State, external_forces: ExternalForces, x: Floats, v: Floats, dt: float
) -> tuple[Floats, Floats]:
    """Returns the end of a step, x [m] and v [m/s], (n, 3) each, with rigid cores rotated.

    Args:
        model: The bodies.
        state: Start of the step.
        external_forces: Of the step.
        x, v: End of the step along straight lines.
        dt: Δt [s].
    """
    springs = len(external_forces.points) - external_forces.contact_count
    sprung = _islands_of_tets(model, external_forces.points.tet[:springs])
    if external_forces.node_force is not None:
        sprung |= np.logical_or.reduceat(external_forces.node_force.any(axis=1), model.pattern.island_start[:-1])
    return rotate_cores(
        model,
        (state.x, state.v),
        (x, v),
        dt,
        external_forces.is_fixed,
        external_forces.fixed_target,
        islands_in_contact(model, external_forces),
        sprung,
    )


def chord_ends(model: Model, external_forces: ExternalForces, x: Floats) -> ChordEnds | None:
    """Returns where a solve had bodies with cores that touch anything; None without cores.

    Args:
        model: The bodies.
        external_forces: Of the solve.
        x: End of the solve along straight lines [m], (n, 3).
    """
    if not model.cores:
        return None
    row = model.pattern.island_of_row
    has_core = np.zeros(model.pattern.island_count, bool)
    has_core[row[[core.nodes[0] for core in model.cores]]] = True
    return ChordEnds((has_core & islands_in_contact(model, external_forces))[row], x)


def islands_in_contact(model: Model, external_forces: ExternalForces) -> Bools:
    """Returns which islands have contacts, or are joined by bindings, (k,)."""
    springs = len(external_forces.points) - external_forces.contact_count
    found = _islands_of_tets(
        model,
        np.concatenate([external_forces.points.tet[springs:], external_forces.pairs.tet, external_forces.pairs.other]),
    )
    if model.bound is not None:
        found[model.pattern.island_of_row[model.bound.nodes]] = True
        found[model.pattern.island_of_row[model.bound.parents]] = True
    return found


def _islands_of_tets(model: Model, tets: Indices) -> Bools:
    found = np.zeros(model.pattern.island_count, bool)
    found[model.pattern.island_of_row[model.tets[tets, 0]]] = True
    return found
