# SPDX-License-Identifier: GPL-3.0-or-later
"""The contacts of one look, as something with a convex energy until the next.

Each has an energy ½ k h², where h > 0 is how far its point is from the place that it is pushed to, along the direction
that it had at the look. From a depth l on the force k h stays as it is, and the energy is k l (h − l / 2): points that
are deep, as where held nodes jumped, are not shot out. The tangent is then k l / h, which is no less than the true one.
Where the place is on an edge or at a corner of the surface, ½ k s² is added, along the directions in which the place
stays where it is (`tying.beside`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Bools, Floats
from ...late_dataclass import dataclass
from ..ties import Ties
from .places import Meetings
from .tying import beside, heights, moves, push_nodes, tie

if TYPE_CHECKING:
    from .flesh_contact import FleshContact

LIMIT = 0.2  # depth from which the force on a point stays as it is, in tet sizes


@dataclass(frozen=True, eq=False)
class Planes:
    """Contacts between pieces of flesh, c of them.

    Attributes:
        met: What the look found.
        allowed: How deep points are at rest [m], (c,).
        ties: Along the normals.
        side_of, sides: Contacts with more directions, (e,), and ties along these, e of them.
        side_share: Their k over that of the normal, (e,).
        share: Part of the penalty that each has (`FleshContact.shares`), (c,).
        limit: Depth l from which the force stays as it is [m], (c,).
    """

    met: Meetings
    allowed: Floats
    ties: Ties
    side_of: np.ndarray
    sides: Ties
    side_share: Floats
    share: Floats
    limit: Floats

    def energy(self, k: Floats, x: Floats) -> float:
        """Returns the energy [J] at x [m], (n, 3), for the penalty k of every point [N/m]."""
        k, depth, aside = self._state(k, x)
        return self._energy(k, depth, aside)

    def add(self, k: Floats, x: Floats, force: Floats) -> tuple[float, Ties]:
        """Adds forces at x to `force` [N], (n, 3); returns the energy [J] and the tangent."""
        k, depth, aside = self._state(k, x)
        own = k * np.minimum(1.0, self.limit / np.maximum(depth, 1e-300))
        beside_own = own[self.side_of] * self.side_share
        push_nodes(self.ties.start, self.ties.nodes, self.ties.coefficients, self.ties.push, own * depth, force)
        push_nodes(
            self.sides.start, self.sides.nodes, self.sides.coefficients, self.sides.push, beside_own * aside, force
        )
        ties = replace(self.ties, push=np.sqrt(own)[:, None] * self.ties.push)
        sides = replace(self.sides, push=np.sqrt(beside_own)[:, None] * self.sides.push)
        return self._energy(k, depth, aside), Ties.together([ties, sides])

    def _energy(self, k: Floats, depth: Floats, aside: Floats) -> float:
        own = k * np.minimum(1.0, self.limit / np.maximum(depth, 1e-300))
        less = np.minimum(depth, self.limit)
        along = k * less * (depth - 0.5 * less)
        return float(np.sum(along) + 0.5 * np.sum(own[self.side_of] * self.side_share * aside**2))

    def depths(self, is_free: Bools) -> tuple[Floats, np.ndarray, Floats]:
        """Returns how deep points were at the look that free nodes can move [m], which these are, and their shares."""
        kept = moves(self.ties, is_free)
        return (self.met.depth - self.allowed)[kept], self.met.point[kept], self.share[kept]

    def _state(self, k: Floats, x: Floats) -> tuple[Floats, Floats, Floats]:
        depth = heights(self.ties, x) - self.allowed
        return np.where(depth > 0.0, k[self.met.point] * self.share, 0.0), depth, heights(self.sides, x)


def look(contact: FleshContact, x: Floats, known: Planes | None = None) -> Planes | None:
    """Returns the contacts between pieces of flesh at x [m], (n, 3); None: there are none.

    Args:
        contact: What may touch.
        x: Node positions.
        known: Those of the look before, which go on.
    """
    met = contact.meetings(x, None if known is None else known.met)
    met = met.some(met.depth > contact.rest_depth[met.point])
    shares = contact.shares(met)
    met, shares = met.some(shares > 0.0), shares[shares > 0.0]
    if not len(met.point):
        return None
    allowed = contact.rest_depth[met.point]
    ties = tie(contact.model, contact.skin, contact.points, met)
    side_of, directions = beside(contact.skin, contact.skin.vertices_at(contact.model, x), met)
    deeper = 1.0 - allowed / met.depth
    limit = LIMIT * contact.points.tet_size[met.point]
    sides = replace(ties.some(side_of), push=directions)
    return Planes(met, allowed, ties, side_of, sides, deeper[side_of], shares, limit)
