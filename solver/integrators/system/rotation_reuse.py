# SPDX-License-Identifier: GPL-3.0-or-later
"""Lagged rotations: computed only every few steps (`FormulationSettings.rotations_every`) and stored in the state.

    frames.age     steps since the rotations of each body were computed, (bodies,)
    node.rotation  R of the nodes of bodies that are warped vertex by vertex and lag, (n, 9)
    tet.rotation   R of the tets of polar, hybrid and hierarchical bodies that lag, zero for all others, (m, 3, 3)

A step begins with `begin_rotations` and ends with `StepRotations.store`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...mechanics.elements.element_records import method_of
from ...mechanics.elements.element_rotations import compute_rotations
from ...mechanics.hierarchical.hierarchical_body import hierarchical_body
from ...mechanics.model import Model
from ...mechanics.state import State
from ...mechanics.state_fields import (
    FP_INVERSE,
    NODE_ROTATION,
    PLASTIC_STRAIN,
    REST_PREFIX,
    ROTATION_AGE,
    TET_ROTATION,
)
from ...mechanics.vertex_warp import LaggedRotations, UnrotatedShape, WarpedSystem, add_warped, is_any_warped
from ...runtime.arrays import Bools, Floats, floats
from ...scene.formulation import HIERARCHICAL, HYBRID, POLAR

METHODS_WITH_LAGGED_ROTATIONS = (POLAR, HYBRID, HIERARCHICAL)

ALL_DUE = np.ones(0, bool)  # where every body has the default formulation


def rotations_due(model: Model, state: State) -> Bools:
    """Returns which bodies compute their rotations in the step from `state`, (bodies,), or (0,) for all."""
    if not model.methods:
        return ALL_DUE
    every = _update_intervals(model)
    return np.ones(len(every), bool) if ROTATION_AGE not in state.fields else state.fields[ROTATION_AGE] + 1 >= every


@dataclass(eq=False)
class StepRotations:
    """The lagged rotations of one step.

    Attributes:
        is_due: Bodies that compute theirs in the step, (bodies,), or (0,) for all.
        of_tets: Rotations of tets, (m, 3, 3); None: no body lags.
        of_nodes: Rotations of nodes, (n, 9), see `add_vertex_warp`; None: no body lags.
    """

    is_due: Bools
    of_tets: Floats | None
    of_nodes: Floats | None = None

    def store(self, model: Model, state: State) -> None:
        """Writes the rotations and their age into the fields of the state at the end of the step."""
        if self.of_tets is not None:
            state.fields[TET_ROTATION] = self.of_tets
        if self.of_nodes is not None:
            state.fields[NODE_ROTATION] = self.of_nodes
        if model.methods and (_update_intervals(model) > 1).any():
            age = state.fields.get(ROTATION_AGE, np.zeros(len(self.is_due), np.int64))
            state.fields[ROTATION_AGE] = np.where(self.is_due, 0, age + 1)


def begin_rotations(model: Model, state: State) -> StepRotations:
    """Returns the lagged rotations for a step that is linearised at the positions of `state`."""
    return StepRotations(rotations_due(model, state), _tet_rotations(model, state))


def _tet_rotations(model: Model, state: State) -> Floats | None:
    """Returns the rotations of tets of bodies that lag, (m, 3, 3); None where no body lags."""
    if not model.methods:
        return None
    lagging = [
        k
        for k, every in enumerate(_update_intervals(model))
        if every > 1 and method_of(model, k).name in METHODS_WITH_LAGGED_ROTATIONS
    ]
    if not lagging:
        return None
    is_due, previous = rotations_due(model, state), state.fields.get(TET_ROTATION)
    if previous is not None and not is_due[lagging].any():
        return previous
    rotations = np.zeros((model.tet_count, 3, 3))
    for number in lagging:
        t = model.bodies[number].tets
        if (is_due[number] or previous is None) and model.levels and model.levels[number]:
            own = hierarchical_body(model, number)
            found = own.rotations(floats(state.x[model.bodies[number].nodes]))
            rotations[t] = np.repeat(found, own.levels.children_per_coarse_tet, axis=0)
        elif is_due[number] or previous is None:
            compute_rotations(
                method_of(model, number), floats(state.x), model.tets[t], model.Dm_inverse[t], rotations[t]
            )
        else:
            rotations[t] = previous[t]
    return rotations


def add_vertex_warp(
    model: Model, state: State, dt: float, values: Floats, force: Floats, warped: WarpedSystem
) -> Floats | None:
    """Adds stiffness and forces of bodies that are warped vertex by vertex to the system of the step from `state`.

    Args:
        model, state, dt: The step.
        values: Blocks of the matrix, (b, 9), in and out.
        force: Elastic forces [N], (n, 3), in and out.
        warped: What these bodies have in the system, out.

    Returns:
        Rotations of nodes, (n, 9), for `StepRotations.of_nodes`; None where no body lags.
    """
    if not is_any_warped(model):
        return None
    reshaped = tuple(name.removeprefix(REST_PREFIX) for name in state.fields if name.startswith(REST_PREFIX))
    unturned = UnrotatedShape(state.fields.get(FP_INVERSE), state.fields.get(PLASTIC_STRAIN), reshaped)
    previous = state.fields.get(NODE_ROTATION)
    return add_warped(
        model,
        state.x,
        dt,
        values,
        force,
        system=warped,
        lagged=None if previous is None else LaggedRotations(previous, rotations_due(model, state)),
        unturned=unturned,
    )


def _update_intervals(model: Model) -> np.ndarray:
    return np.array([method_of(model, number).rotations_every for number in range(len(model.bodies))], np.int64)
