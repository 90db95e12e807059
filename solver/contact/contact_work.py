# SPDX-License-Identifier: GPL-3.0-or-later
"""What contacts did in a step that is over: how they rubbed, and on which ways they pushed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..runtime.arrays import Bools, Floats, Indices
from .contact_step import ContactStep
from .detection.multi_tet_contacts import MAX_TETS_PER_CONTACT


@dataclass(frozen=True, eq=False)
class ContactWork:
    """Contacts that pushed in a step, c of them.

    Attributes:
        force: On the point of each [N], (c, 3).
        moved: How the point moved relative to the other side [m], (c, 3).
        told_motion: How the other side was told to move, none where it is not told [m], (c, 3).
        is_told: Whether it is told, (c,).
        lets_out: Whether the contact lets out what overlapped, (c,).
        island: The island of the point, (c,).
    """

    force: Floats
    relative_motion: Floats
    prescribed_motion: Floats
    is_prescribed: Bools
    is_resolving: Bools
    island: Indices


def contact_work(contacts: ContactStep) -> ContactWork:
    """Returns what pushed in a step that contacts remember."""
    pushing, on, tets = contacts.contact_state, np.flatnonzero(contacts.was_active), contacts.model.tets
    x, normal_force, friction = contacts.end
    ends, weights, carried = (
        pushing.ends[on],
        pushing.weights[on].reshape(-1, MAX_TETS_PER_CONTACT, 4),
        contacts.contact_set.carried[on],
    )
    force = np.maximum(normal_force[on], 0.0)[:, None] * contacts.contact_set.normal[on] + friction[on]

    def apart(at: Floats) -> Floats:
        legs = np.einsum("kla,klai->kli", weights, at[tets[ends]])  # weights of legs that are not there are none
        return legs[:, 0] - legs[:, 1:].sum(axis=1)

    return ContactWork(
        force=force,
        relative_motion=apart(x) - carried,
        prescribed_motion=carried - apart(contacts.start),
        is_prescribed=ends[:, 1] < 0,
        is_resolving=pushing.lift[on] < 0.0,
        island=contacts.model.pattern.island_of_row[tets[ends[:, 0], 0]],
    )
