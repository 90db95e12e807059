# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of bodies that are cut: copies of nodes and tets go on from where the nodes and tets were.

Copies of a node have its place and velocity, and their masses add up to its own, so a cut changes neither momentum nor
angular momentum nor energy.
"""

from __future__ import annotations

from ...mechanics.state import NODE_FIELDS, TET_FIELDS, State
from ...mechanics.state_fields import INPUT_DIGEST_FIELD
from ...runtime.arrays import floats
from .cut_model import CopiedRows


def copy_rows(state: State, rows: CopiedRows) -> None:
    """Gives a state the rows of the copies; flesh that follows a pose is brought to rest anew in the next sample."""
    state.fields.pop(INPUT_DIGEST_FIELD, None)
    state.x, state.v = floats(state.x[rows.node]), floats(state.v[rows.node])
    for name, values in state.fields.items():
        if name.startswith(NODE_FIELDS):
            state.fields[name] = values[rows.node]
        elif name.startswith(TET_FIELDS):
            state.fields[name] = values[rows.tet]
