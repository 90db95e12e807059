# SPDX-License-Identifier: GPL-3.0-or-later
"""Points that were in rigid colliders in the equilibrium before, as the first linear solve of the next one sees them.

A start that moves flesh along with what holds it lifts it off the colliders that it lies on, and a point that is off
has no penalty: the linear solve lets flesh fall through a bone by a centimetre, and the line search cuts the step to a
fortieth. Points that were in stay in for that solve, in a plane that goes along with the collider. With the direction
n out of it, the stiffness k of the penalty, and the distance g to the plane of a point that is off it now,

    K ← K + k n nᵀ,   f ← f − k g n,

as if the contact held both ways. Energies, forces and residuals are what they are; what comes to be off stays off.

Source: the active set of a primal-dual method, begun with that of the problem before: M. Hintermüller, K. Ito, K.
Kunisch (2002), The primal-dual active set strategy as a semismooth Newton method.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...runtime.arrays import Bools, Floats, Indices

MAX_GAP = 1.0  # in tet sizes of the point's body: what is farther off has been let go


@dataclass(frozen=True, eq=False)
class CarriedContacts:
    """Contacts with rigid colliders, moved along with these.

    Attributes:
        point: Numbers of the points, (k,).
        place: Where they were on their collider, moved with it [m], (k, 3).
        normal: Direction out of it, turned with it, (k, 3).
        depth: How deep they were [m], (k,).
    """

    point: Indices
    place: Floats
    normal: Floats
    depth: Floats

    def lifted(self, positions: Floats, is_pressed: Bools, tet_size: Floats) -> tuple[Indices, Floats]:
        """Returns which contacts have come off their planes, (l,), and how far [m], (l,).

        Args:
            positions: Of all points [m], (p, 3).
            is_pressed: Which of them are in a collider, (p,).
            tet_size: Tet size at all points [m], (p,).
        """
        gap = np.einsum("ki,ki->k", self.normal, positions[self.point] - self.place) - self.depth
        is_off = ~is_pressed[self.point] & (gap > 0.0) & (gap <= MAX_GAP * tet_size[self.point])
        rows = np.flatnonzero(is_off)
        return rows, gap[rows]

    @staticmethod
    def concatenate(parts: Sequence[CarriedContacts]) -> CarriedContacts | None:
        """Returns all of them, or None where there are none."""
        if not parts:
            return None
        names = ("point", "place", "normal", "depth")
        return CarriedContacts(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def carried_contacts(
    point: Indices, places: Floats, normal: Floats, depth: Floats, before: Floats, now: Floats
) -> CarriedContacts:
    """Returns contacts with a collider that has moved.

    Args:
        point, depth: Of the contacts, (k,); see `CarriedContacts`.
        places: Where their points were [m], (k, 3).
        normal: Directions out of the collider then, (k, 3).
        before, now: Poses of the collider, then and now, as rows R | t, (4, 3).
    """
    turn = before[:3] @ now[:3].T
    return CarriedContacts(point, (places - before[3]) @ turn + now[3], normal @ turn, depth)
