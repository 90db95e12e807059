# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotations that are found anew only every so many steps (`Method.rotations_every`), and kept in the state meanwhile.

    frames.age     steps since the rotations of each body were found, (bodies,)
    node.rotation  R of the nodes of bodies that are warped vertex by vertex and hold theirs, (n, 9)
    tet.rotation   R of the tets of polar, hybrid and hierarchical bodies that hold theirs, zero for all others,
                   (m, 3, 3)

Other methods that hold rotations ask `due` too; `grow_older` counts for all of them at the end of a step.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Bools, Floats, floats
from ..elements.frames import find_frames
from ..elements.records import method_of
from ..hierarchical.body import level_body
from ..method import HIERARCHICAL, HYBRID, POLAR
from ..model import Model
from ..state import State
from ..vertex_warp import Unturned, add_warped, is_any_warped

HOLDING = (POLAR, HYBRID, HIERARCHICAL)
AGE = "frames.age"
ROTATION = "tet.rotation"
TURNED = "node.rotation"
# where `plastic/` keeps what has flowed, and `reshaped/` what has been reshaped
FP_INVERSE, PLASTIC_STRAIN, REST = "tet.Fp_inverse", "tet.plastic_strain", "rest."

ALWAYS = np.ones(0, bool)  # what is due where every body has the default method


def due(model: Model, state: State) -> Bools:
    """Returns which bodies find their rotations anew in the step that begins at `state`, (bodies,), or (0,) for all."""
    if not model.methods:
        return ALWAYS
    every = _every(model)
    return np.ones(len(every), bool) if AGE not in state.fields else state.fields[AGE] + 1 >= every


def grow_older(model: Model, state: State, was_due: Bools) -> None:
    """Counts a step that has been taken, with what `due` said at its start."""
    if model.methods and (_every(model) > 1).any():
        age = state.fields.get(AGE, np.zeros(len(was_due), np.int64))
        state.fields[AGE] = np.where(was_due, 0, age + 1)


def held_rotations(model: Model, state: State) -> Floats | None:
    """Returns the rotations of tets of bodies that hold theirs, as they are in the step begun here.

    Returns:
        (m, 3, 3), for `ROTATION` in the fields of the state at the end of the step; None where no body holds them.
    """
    if not model.methods:
        return None
    holding = [k for k, every in enumerate(_every(model)) if every > 1 and method_of(model, k).name in HOLDING]
    if not holding:
        return None
    now, kept = due(model, state), state.fields.get(ROTATION)
    if kept is not None and not now[holding].any():
        return kept
    rotations = np.zeros((model.tet_count, 3, 3))
    for number in holding:
        t = model.bodies[number].tets
        if (now[number] or kept is None) and model.levels and model.levels[number]:
            own = level_body(model, number)
            found = own.rotations(floats(state.x[model.bodies[number].nodes]))
            rotations[t] = np.repeat(found, own.levels.per_coarse, axis=0)
        elif now[number] or kept is None:
            find_frames(method_of(model, number), floats(state.x), model.tets[t], model.Dm_inverse[t], rotations[t])
        else:
            rotations[t] = kept[t]
    return rotations


def warp_vertices(model: Model, state: State, dt: float, values: Floats, force: Floats) -> Floats | None:
    """Adds what bodies that are warped vertex by vertex bring to the system of the step that begins here.

    Returns:
        Rotations of nodes, (n, 9), for `TURNED` in the fields of the state at the end of the step; None where no body
        holds them.
    """
    if not is_any_warped(model):
        return None
    reshaped = tuple(name.removeprefix(REST) for name in state.fields if name.startswith(REST))
    unturned = Unturned(state.fields.get(FP_INVERSE), state.fields.get(PLASTIC_STRAIN), reshaped)
    return add_warped(
        model, state.x, dt, values, force, held=state.fields.get(TURNED), is_due=due(model, state), unturned=unturned
    )


def _every(model: Model) -> np.ndarray:
    return np.array([method_of(model, number).rotations_every for number in range(len(model.bodies))], np.int64)
