# SPDX-License-Identifier: GPL-3.0-or-later
"""Predicts where nodes move before the first solve of a step, and what they touch there."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...runtime.arrays import Floats
from ...runtime.jit import kernel
from ..detection.contact_set import ContactSet, ids_among
from ..detection.persistent_contacts import PersistentContacts


@kernel(no_refcount=True)
def predict_positions(x, v, dt, gravity_scale, gravity, without_gravity, with_gravity):
    """Writes the positions that nodes reach in Δt by their velocities [m], (n, 3), and those with gravity as well."""
    for i in range(len(x)):
        for axis in range(3):
            without_gravity[i, axis] = x[i, axis] + dt * v[i, axis]
            with_gravity[i, axis] = without_gravity[i, axis] + dt * dt * gravity_scale[i] * gravity[axis]


def find_predicted_contacts(
    find: Callable[[Floats, bool], ContactSet],
    previous: PersistentContacts,
    with_gravity: Floats,
    without_gravity: Floats,
) -> ContactSet:
    """Returns the contacts of predicted positions, and those that pushed before and that gravity alone would end.

    What is pressed from above, or against a wall that leans over it, does not fall away from there. It has to begin
    with what presses: the first solve would throw it up otherwise, and the next ones have to bring it back.

    Args:
        find: Returns the contacts if nodes move to positions [m], (n, 3); with True, between surfaces those alone that
            the step before had, or that it has found before.
        previous: Contacts of the step before.
        with_gravity, without_gravity: See `predict_positions`.
    """
    found, pushed = find(with_gravity, False), previous.id[previous.force > 0.0]
    ended = pushed[~ids_among(pushed, found.id)]
    if not len(ended):
        return found
    again = find(without_gravity, True)
    both = ContactSet.concatenate([found, again.select(ids_among(again.id, ended))])
    return both.select(np.argsort(both.id, kind="stable"))
