# SPDX-License-Identifier: GPL-3.0-or-later
"""What contacts did in a step that is over: how they rubbed, and on which ways they pushed."""

from __future__ import annotations

import numpy as np

from ..arrays import Bools, Floats, Indices
from ..late_dataclass import dataclass
from .legs import LEGS
from .response import ContactStep


@dataclass(frozen=True, eq=False)
class Work:
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
    moved: Floats
    told_motion: Floats
    is_told: Bools
    lets_out: Bools
    island: Indices


def work_of(contacts: ContactStep) -> Work:
    """Returns what pushed in a step that contacts remember."""
    pushing, on, tets = contacts.pushing, np.flatnonzero(contacts.acted), contacts.model.tets
    x, normal_force, friction = contacts.end
    ends, weights, carried = pushing.ends[on], pushing.weights[on].reshape(-1, LEGS, 4), contacts.touching.carried[on]
    force = np.maximum(normal_force[on], 0.0)[:, None] * contacts.touching.normal[on] + friction[on]

    def apart(at: Floats) -> Floats:
        legs = np.einsum("kla,klai->kli", weights, at[tets[ends]])  # weights of legs that are not there are none
        return legs[:, 0] - legs[:, 1:].sum(axis=1)

    return Work(
        force=force,
        moved=apart(x) - carried,
        told_motion=carried - apart(contacts.start),
        is_told=ends[:, 1] < 0,
        lets_out=pushing.lift[on] < 0.0,
        island=contacts.model.pattern.island_of_row[tets[ends[:, 0], 0]],
    )
