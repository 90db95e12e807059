# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotations that are found anew only every so many steps (`Method.rotations_every`), and kept in the state meanwhile.

    frames.age     steps since the rotations of each body were found, (bodies,)
    node.rotation  R of the nodes of bodies that are warped vertex by vertex and hold theirs, (n, 9)
    tet.rotation   R of the tets of polar, hybrid and hierarchical bodies that hold theirs, zero for all others,
                   (m, 3, 3)

Other methods that hold rotations ask `rotations_due` too; `advance_rotation_age` counts for all of them at the end of a
step.
"""

from __future__ import annotations

import numpy as np

from ...mechanics.elements.element_rotations import compute_rotations
from ...mechanics.elements.fill_element_buffer import method_of
from ...mechanics.hierarchical.hierarchical_body import hierarchical_body
from ...mechanics.model import Model
from ...mechanics.state import State
from ...mechanics.vertex_warp import LaggedRotations, UnrotatedShape, add_warped, is_any_warped
from ...runtime.arrays import Bools, Floats, floats
from ...scene.formulation import HIERARCHICAL, HYBRID, POLAR
from .workspace import workspace

METHODS_WITH_LAGGED_ROTATIONS = (POLAR, HYBRID, HIERARCHICAL)
ROTATION_AGE = "frames.age"
TET_ROTATION = "tet.rotation"
NODE_ROTATION = "node.rotation"
# where `plastic/` keeps what has flowed, and `reshaped/` what has been reshaped
FP_INVERSE, PLASTIC_STRAIN, REST_PREFIX = "tet.Fp_inverse", "tet.plastic_strain", "rest."

ALL_DUE = np.ones(0, bool)  # what is due where every body has the default method


def rotations_due(model: Model, state: State) -> Bools:
    """Returns which bodies find their rotations anew in the step that begins at `state`, (bodies,), or (0,) for all."""
    if not model.methods:
        return ALL_DUE
    every = _update_intervals(model)
    return np.ones(len(every), bool) if ROTATION_AGE not in state.fields else state.fields[ROTATION_AGE] + 1 >= every


def advance_rotation_age(model: Model, state: State, was_due: Bools) -> None:
    """Counts a step that has been taken, with what `rotations_due` said at its start."""
    if model.methods and (_update_intervals(model) > 1).any():
        age = state.fields.get(ROTATION_AGE, np.zeros(len(was_due), np.int64))
        state.fields[ROTATION_AGE] = np.where(was_due, 0, age + 1)


def lagged_rotations(model: Model, state: State) -> Floats | None:
    """Returns the rotations of tets of bodies that hold theirs, as they are in the step begun here.

    Returns:
        (m, 3, 3), for `TET_ROTATION` in the fields of the state at the end of the step; None where no body holds them.
    """
    if not model.methods:
        return None
    holding = [
        k
        for k, every in enumerate(_update_intervals(model))
        if every > 1 and method_of(model, k).name in METHODS_WITH_LAGGED_ROTATIONS
    ]
    if not holding:
        return None
    now, kept = rotations_due(model, state), state.fields.get(TET_ROTATION)
    if kept is not None and not now[holding].any():
        return kept
    rotations = np.zeros((model.tet_count, 3, 3))
    for number in holding:
        t = model.bodies[number].tets
        if (now[number] or kept is None) and model.levels and model.levels[number]:
            own = hierarchical_body(model, number)
            found = own.rotations(floats(state.x[model.bodies[number].nodes]))
            rotations[t] = np.repeat(found, own.levels.children_per_coarse_tet, axis=0)
        elif now[number] or kept is None:
            compute_rotations(
                method_of(model, number), floats(state.x), model.tets[t], model.Dm_inverse[t], rotations[t]
            )
        else:
            rotations[t] = kept[t]
    return rotations


def add_vertex_warp(model: Model, state: State, dt: float, values: Floats, force: Floats) -> Floats | None:
    """Adds what bodies that are warped vertex by vertex bring to the system of the step that begins here.

    Returns:
        Rotations of nodes, (n, 9), for `NODE_ROTATION` in the fields of the state at the end of the step; None where no
        body holds them.
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
        system=workspace(model.pattern).warped,
        lagged=None if previous is None else LaggedRotations(previous, rotations_due(model, state)),
        unturned=unturned,
    )


def _update_intervals(model: Model) -> np.ndarray:
    return np.array([method_of(model, number).rotations_every for number in range(len(model.bodies))], np.int64)
