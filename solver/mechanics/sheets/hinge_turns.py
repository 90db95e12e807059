# SPDX-License-Identifier: GPL-3.0-or-later
"""Angles of hinges that go on from step to step where a sheet is folded flat against itself.

An angle θ jumps from π to −π there, and with it the moment of a hinge would, which is largest then: where a sheet may
go through itself, the fold would be thrown to the other side. So the bend of a hinge is the one nearest to that at the
end of the step before, which is kept in the state for those that are bent by more than a quarter turn:

    tet.hinge_bend    φ, (m,)
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ..model import Model
from ..state import State
from ..state_fields import HINGE_BEND
from .hinge_records import hinge_bends

MIN_KEPT_BEND = 0.5 * math.pi  # others are as near to 0 as to what they were


def with_hinge_turns(model: Model, state: State) -> Model:
    """Returns the model whose hinges are bent by angles that go on from where the state is."""
    bends = state.fields.get(HINGE_BEND)
    if bends is None or model.sheets is None:
        return model
    hinges = model.sheets.hinges._replace(bent_before=bends[model.sheets.tets])
    return replace(model, sheets=replace(model.sheets, hinges=hinges))


def keep_hinge_turns(model: Model, state: State) -> None:
    """Writes into the state how far hinges are bent at the end of a step with this model; nothing where none is far."""
    sheets = model.sheets
    if sheets is None:
        return
    bent = hinge_bends(sheets, model.tets, state.x)[1]
    is_kept = np.abs(bent) > MIN_KEPT_BEND
    state.fields.pop(HINGE_BEND, None)
    if is_kept.any():
        state.fields[HINGE_BEND] = np.zeros(model.tet_count)
        state.fields[HINGE_BEND][sheets.tets[is_kept]] = bent[is_kept]
