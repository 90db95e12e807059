# SPDX-License-Identifier: GPL-3.0-or-later
"""What two sides push against each other, deeper than both can have their way: it rests between.

Every contact pushes a copy of its place that it has for itself. A copy ends at the middle of both sides, where they
push a little, with friction; contacts of full depth would only push as fast as one step allows, on both sides alike,
and leave what is pinched wherever it is. A shift below zero is the depth that a contact allows (`contact_springs.py`).

Source: S07, section 6.4, figure 6.9: two copies, each of which collides with one of two spheres.
"""

from __future__ import annotations

import numpy as np

from ...mechanics.island_kinds import sheet_islands
from ...mechanics.model import Model
from ...runtime.arrays import Bools, Floats, Indices
from ..detection.contact_set import ContactSet, ContactState, Int64s

PINCHED_DEPTH = 0.02  # depth with which both sides push at their middle, in tet sizes
MAX_OPPOSING_COSINE = -0.5  # of the normals of two contacts that push against each other
MAX_COMMON_NORMAL = 0.9  # length of the mean of normals from which none of them oppose each other


def pinch_sheets(contacts: ContactSet, state: ContactState, model: Model) -> None:
    """Does what `allow_pinched_depths` does for the sheets of a model, if it has any."""
    if model.sheets is not None and len(contacts):
        is_thin = sheet_islands(model)[model.pattern.island_of_row[model.tets[:, 0]]]
        allow_pinched_depths(contacts, state, model.tets, is_thin)


def allow_pinched_depths(contacts: ContactSet, state: ContactState, tets: Indices, is_thin: Bools) -> None:
    """Lets contacts that push a node of a sheet from opposite sides act from the middle of both on.

    What has a thickness rests between by that; walls between which a third collider pressed a block gave way to it.

    Args:
        contacts, state: At the start of a step; shifts are changed.
        tets: Of the model, (m, 4).
        is_thin: Which of them are of sheets, (m,).
    """
    deep = np.flatnonzero((contacts.gap < -PINCHED_DEPTH * state.size) & is_thin[state.attachment.tet[:, 0]])
    if len(deep) < 2:
        return
    heaviest = state.attachment.weights[deep, :4].argmax(axis=1)
    node = tets[state.attachment.tet[deep, 0], heaviest]
    order = np.argsort(node, kind="stable")
    deep, (_, first, count) = deep[order], np.unique(node[order], return_index=True, return_counts=True)
    common = np.linalg.norm(np.add.reduceat(contacts.normal[deep], first), axis=1) / count
    for group in np.flatnonzero((count > 1) & (common < MAX_COMMON_NORMAL)):
        own = deep[first[group] : first[group] + count[group]]
        opposing = _opposing_depths(contacts, own)
        allowed = 0.5 * (opposing - contacts.gap[own]) - PINCHED_DEPTH * state.size[own]
        is_pinched = (opposing > 0.0) & (allowed > 0.0)
        state.shift[own[is_pinched]] = state.start_shift[own[is_pinched]] = -allowed[is_pinched]


def _opposing_depths(contacts: ContactSet, which: Int64s) -> Floats:
    """Returns the depth of the deepest contact that opposes each of some [m], 0 where none does, (q,)."""
    normal, depth = contacts.normal[which], -contacts.gap[which]
    opposes = normal @ normal.T < MAX_OPPOSING_COSINE
    return np.where(opposes, depth[None], 0.0).max(axis=1)
