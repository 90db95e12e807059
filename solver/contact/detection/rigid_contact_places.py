# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts of rigid bodies act on both sides at one place, so that they change no angular momentum.

A contact pushes a point p and, in the opposite direction, a place q of the other side. Where bodies approach each
other, these are apart where a step begins, and both forces together turn. A rigid body also carries any place in
space: there its side of the contact moves to where the other one is. If q is moved to p, the gap of the contact
stays, since it is that of p when the other side carries p along. Own derivation.
"""

from __future__ import annotations

import numpy as np

from ...runtime.arrays import Bools, Floats
from ...runtime.jit import kernel
from .contact_binding import AttachedContacts, TetNodes, barycentric_weights


def meet_on_rigid_bodies(attached: AttachedContacts, carried: Floats, is_rigid: Bools, nodes: TetNodes) -> None:
    """Moves the side that is a rigid body, the second one of two, to the other one's place at the start of the step.

    Args:
        attached: Contacts, k of them; weights change.
        carried: p − q at the start [m], (k, 3); zero where a side has moved.
        is_rigid: Which tets are rigid bodies, (m,).
        nodes: Where these are.
    """
    tet, weights = attached.attachment
    _meet(tet, weights, carried, is_rigid, nodes.tets, nodes.start)


@kernel()
def _meet(end_tet, weights, carried, is_rigid, tets, start):
    place, own = np.empty(3), np.empty(4)
    for c in range(len(end_tet)):
        if end_tet[c, 1] < 0 or end_tet[c, 2] >= 0:
            continue
        if is_rigid[end_tet[c, 1]]:
            moved = 1
        elif is_rigid[end_tet[c, 0]]:
            moved = 0
        else:
            continue
        other = 1 - moved
        for i in range(3):
            place[i] = 0.0
            for a in range(4):
                place[i] += weights[c, 4 * other + a] * start[tets[end_tet[c, other], a], i]
        barycentric_weights(place, start, tets[end_tet[c, moved]], own)
        for a in range(4):
            weights[c, 4 * moved + a] = own[a]
        for i in range(3):
            carried[c, i] = 0.0
