# SPDX-License-Identifier: GPL-3.0-or-later
"""The contacts of one look, as something with a convex energy until the next.

Each has an energy ½ k h², where h > 0 is how far its point is from the place that it is pushed to, along the direction
that it had at the look. From a depth l on the force k h stays as it is, and the energy is k l (h − l / 2): points that
are deep, as where held nodes jumped, are not shot out. The tangent is then k l / h, which is no less than the true one.
Where the place is on an edge or at a corner of the surface, ½ k s² is added, along the directions in which the place
stays where it is (`tying.beside`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ...runtime.arrays import Bools, Floats
from ..contact_coupling import NodeCouplings
from .contact_candidates import SurfacePenetrations
from .node_attachment import add_coupling_forces, couple_contacts, coupling_distances, has_free_node, lateral_directions

if TYPE_CHECKING:
    from .flesh_contact import FleshContact

MAX_FORCE_DEPTH = 0.2  # depth from which the force on a point stays as it is, in tet sizes


@dataclass(frozen=True, eq=False)
class LinearisedContacts:
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

    penetrations: SurfacePenetrations
    rest_depth: Floats
    couplings: NodeCouplings
    lateral_contact: np.ndarray
    lateral_couplings: NodeCouplings
    lateral_stiffness_ratio: Floats
    penalty_share: Floats
    max_force_depth: Floats

    def energy(self, k: Floats, x: Floats) -> float:
        """Returns the energy [J] at x [m], (n, 3), for the penalty k of every point [N/m]."""
        k, depth, aside = self._depths(k, x)
        return self._energy(k, depth, aside)

    def add(self, k: Floats, x: Floats, force: Floats) -> tuple[float, NodeCouplings]:
        """Adds forces at x to `force` [N], (n, 3); returns the energy [J] and the tangent."""
        k, depth, aside = self._depths(k, x)
        own = k * np.minimum(1.0, self.max_force_depth / np.maximum(depth, 1e-300))
        beside_own = own[self.lateral_contact] * self.lateral_stiffness_ratio
        add_coupling_forces(
            self.couplings.start,
            self.couplings.nodes,
            self.couplings.coefficients,
            self.couplings.scaled_normals,
            own * depth,
            force,
        )
        add_coupling_forces(
            self.lateral_couplings.start,
            self.lateral_couplings.nodes,
            self.lateral_couplings.coefficients,
            self.lateral_couplings.scaled_normals,
            beside_own * aside,
            force,
        )
        ties = replace(self.couplings, scaled_normals=np.sqrt(own)[:, None] * self.couplings.scaled_normals)
        sides = replace(
            self.lateral_couplings, scaled_normals=np.sqrt(beside_own)[:, None] * self.lateral_couplings.scaled_normals
        )
        return self._energy(k, depth, aside), NodeCouplings.concatenate([ties, sides])

    def _energy(self, k: Floats, depth: Floats, aside: Floats) -> float:
        own = k * np.minimum(1.0, self.max_force_depth / np.maximum(depth, 1e-300))
        less = np.minimum(depth, self.max_force_depth)
        along = k * less * (depth - 0.5 * less)
        return float(np.sum(along) + 0.5 * np.sum(own[self.lateral_contact] * self.lateral_stiffness_ratio * aside**2))

    def depths(self, is_free: Bools) -> tuple[Floats, np.ndarray, Floats]:
        """Returns how deep points were at the look that free nodes can move [m], which these are, and their shares."""
        kept = has_free_node(self.couplings, is_free)
        return (
            (self.penetrations.depth - self.rest_depth)[kept],
            self.penetrations.point[kept],
            self.penalty_share[kept],
        )

    def _depths(self, k: Floats, x: Floats) -> tuple[Floats, Floats, Floats]:
        depth = coupling_distances(self.couplings, x) - self.rest_depth
        return (
            np.where(depth > 0.0, k[self.penetrations.point] * self.penalty_share, 0.0),
            depth,
            coupling_distances(self.lateral_couplings, x),
        )


def find_linearised_contacts(
    contact: FleshContact, x: Floats, known: LinearisedContacts | None = None
) -> LinearisedContacts | None:
    """Returns the contacts between pieces of flesh at x [m], (n, 3); None: there are none.

    Args:
        contact: What may touch.
        x: Node positions.
        known: Those of the look before, which go on.
    """
    met = contact.find_penetrations(x, None if known is None else known.penetrations)
    met = met.select(met.depth > contact.rest_depth[met.point])
    shares = contact.penalty_shares(met)
    met, shares = met.select(shares > 0.0), shares[shares > 0.0]
    if not len(met.point):
        return None
    allowed = contact.rest_depth[met.point]
    ties = couple_contacts(contact.model, contact.surface, contact.points, met)
    side_of, directions = lateral_directions(contact.surface, contact.surface.vertices_at(contact.model, x), met)
    deeper = 1.0 - allowed / met.depth
    limit = MAX_FORCE_DEPTH * contact.points.tet_size[met.point]
    sides = replace(ties.select(side_of), scaled_normals=directions)
    return LinearisedContacts(met, allowed, ties, side_of, sides, deeper[side_of], shares, limit)
