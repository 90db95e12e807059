# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts between pieces of flesh, linearised at a search, with a convex energy until the next search.

The energy of a contact is ½ k h², where h > 0 is the distance of its point from the place it is pushed to, along the
normal at the search. From a depth l on, the force stays k l, and the energy is k l (h − l / 2): deep points, as where
fixed nodes jumped, are not shot out. The tangent is then k l / h, at least the true one. If the place is on an edge or
at a corner of the surface, ½ k s² is added along the directions in which the place does not move with the point.

A contact attaches to tets as in dynamic steps (`PairTets`), and couples the nodes of these tets.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...constraints.tet_pair_springs import MAX_TETS_PER_CONTACT, PairTets
from ...runtime.arrays import Bools, Floats
from ...runtime.jit import kernel
from ..contact_stiffness_blocks import NodeCouplings
from .exit_projection import SurfacePenetrations
from .flesh_contact import FleshContact
from .flesh_surface import FleshSurface

MAX_FORCE_DEPTH = 0.2  # depth from which the force on a point is constant, in tet sizes
MAX_NODES_PER_CONTACT = 4 * MAX_TETS_PER_CONTACT


@dataclass(frozen=True, eq=False)
class LinearisedContacts:
    """Contacts between pieces of flesh, c of them.

    Attributes:
        penetrations: Result of the search.
        rest_depth: Depth of the points at rest [m], (c,).
        couplings: Along the normals.
        lateral_contact, lateral_couplings: Contacts with further directions, (e,), and couplings along these.
        lateral_stiffness_ratio: k along these over k along the normal, (e,).
        penalty_share: Share of the penalty that each contact has (`FleshContact.penalty_shares`), (c,).
        max_force_depth: Depth l from which the force is constant [m], (c,).
    """

    penetrations: SurfacePenetrations
    rest_depth: Floats
    couplings: NodeCouplings
    lateral_contact: np.ndarray
    lateral_couplings: NodeCouplings
    lateral_stiffness_ratio: Floats
    penalty_share: Floats
    max_force_depth: Floats

    def select(self, which: Bools) -> LinearisedContacts:
        """Returns some of the contacts, by a mask."""
        own, lateral = np.flatnonzero(which), np.flatnonzero(which[self.lateral_contact])
        number = np.cumsum(which, dtype=np.int64) - 1
        return LinearisedContacts(
            penetrations=self.penetrations.select(own),
            rest_depth=self.rest_depth[own],
            couplings=self.couplings.select(own),
            lateral_contact=number[self.lateral_contact[lateral]],
            lateral_couplings=self.lateral_couplings.select(lateral),
            lateral_stiffness_ratio=self.lateral_stiffness_ratio[lateral],
            penalty_share=self.penalty_share[own],
            max_force_depth=self.max_force_depth[own],
        )

    def energies(self, k: Floats, x: Floats) -> Floats:
        """Returns the energies [J], (c,), at x [m], (n, 3), for the penalty k of every point [N/m]."""
        k, depth, lateral = self._depths(k, x)
        return self._energies(k, depth, lateral)

    def add(self, k: Floats, x: Floats, force: Floats) -> tuple[Floats, NodeCouplings]:
        """Adds forces at x to `force` [N], (n, 3); returns the energies [J], (c,), and the tangent."""
        k, depth, lateral = self._depths(k, x)
        own = k * np.minimum(1.0, self.max_force_depth / np.maximum(depth, 1e-300))
        own_lateral = own[self.lateral_contact] * self.lateral_stiffness_ratio
        add_coupling_forces(self.couplings.arrays, own * depth, force)
        add_coupling_forces(self.lateral_couplings.arrays, own_lateral * lateral, force)
        tangent = [self.couplings.scaled(np.sqrt(own)), self.lateral_couplings.scaled(np.sqrt(own_lateral))]
        return self._energies(k, depth, lateral), NodeCouplings.concatenate(tangent)

    def _energies(self, k: Floats, depth: Floats, lateral: Floats) -> Floats:
        own = k * np.minimum(1.0, self.max_force_depth / np.maximum(depth, 1e-300))
        limited = np.minimum(depth, self.max_force_depth)
        energies = k * limited * (depth - 0.5 * limited)
        own_lateral = own[self.lateral_contact] * self.lateral_stiffness_ratio
        if len(lateral):
            energies += np.bincount(self.lateral_contact, 0.5 * own_lateral * lateral**2, len(energies))
        return energies

    def depths(self, is_free: Bools) -> tuple[Floats, np.ndarray, Floats]:
        """Returns depths at the search of points that free nodes can move [m], which contacts these are, and shares."""
        kept = has_free_node(self.couplings, is_free)
        return (self.penetrations.depth - self.rest_depth)[kept], kept, self.penalty_share[kept]

    def _depths(self, k: Floats, x: Floats) -> tuple[Floats, Floats, Floats]:
        depth = coupling_distances(self.couplings, x) - self.rest_depth
        return (
            np.where(depth > 0.0, k[self.penetrations.point] * self.penalty_share, 0.0),
            depth,
            coupling_distances(self.lateral_couplings, x),
        )


def find_linearised_contacts(
    contact: FleshContact, x: Floats, previous: SurfacePenetrations | None = None
) -> LinearisedContacts | None:
    """Returns the contacts between pieces of flesh at x [m], (n, 3); None if there are none.

    Args:
        contact: What may touch.
        x: Node positions.
        previous: Those of the previous search, which persist.
    """
    found = contact.find_penetrations(x, previous)
    found = found.select(found.depth > contact.rest_depth[found.point])
    shares = contact.penalty_shares(found)
    found, shares = found.select(shares > 0.0), shares[shares > 0.0]
    if not len(found.point):
        return None
    rest_depth = contact.rest_depth[found.point]
    couplings = couple_contacts(contact, found)
    lateral, directions = lateral_directions(contact.surface, contact.surface.vertices_at(contact.model, x), found)
    ratio = 1.0 - rest_depth / found.depth
    max_depth = MAX_FORCE_DEPTH * contact.points.tet_size[found.point]
    along = replace(couplings.select(lateral), scaled_normals=directions)
    return LinearisedContacts(found, rest_depth, couplings, lateral, along, ratio[lateral], shares, max_depth)


def attach_contacts(contact: FleshContact, found: SurfacePenetrations) -> PairTets:
    """Returns the tets of contacts: the tet of the point, and those of the corners of the triangle, one for each."""
    points, surface, count = contact.points, contact.surface, len(found.point)
    corners = surface.triangles[found.triangle]
    on_corners = found.place[:, :, None] * surface.weights[corners]
    tet = np.concatenate([points.tet[found.point, None], surface.tet[corners]], axis=1)
    return PairTets(tet, np.concatenate([points.weights[found.point], on_corners.reshape(count, 12)], axis=1))


def couple_contacts(contact: FleshContact, found: SurfacePenetrations) -> NodeCouplings:
    """Returns the couplings of contacts for k = 1 N/m; the point's own nodes have positive coefficients."""
    count = len(found.point)
    nodes, coefficients = np.empty((count, MAX_NODES_PER_CONTACT), np.int32), np.empty((count, MAX_NODES_PER_CONTACT))
    counts = np.empty(count, np.int64)
    fill_couplings(contact.model.tets, attach_contacts(contact, found), nodes, coefficients, counts)
    is_used = np.arange(MAX_NODES_PER_CONTACT, dtype=np.int64) < counts[:, None]
    start = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    return NodeCouplings(start, nodes[is_used], coefficients[is_used], found.normal)


def lateral_directions(
    surface: FleshSurface, vertices: Floats, contacts: SurfacePenetrations
) -> tuple[np.ndarray, Floats]:
    """Returns directions in which a point moves without the place that it is pushed to.

    ½ φ² of the distance φ to an edge has a second derivative along a second direction, perpendicular to the edge; for a
    corner along all three, for a face along the normal alone. Unlike other terms of φ ∂²φ these are positive.

    Returns:
        The contact of each direction, rising, (e,), and the direction, (e, 3).
    """
    corner = vertices[surface.triangles[contacts.triangle]]
    is_zero = contacts.place == 0.0
    at_edge, at_corner = np.flatnonzero(is_zero.sum(axis=1) == 1), np.flatnonzero(is_zero.sum(axis=1) == 2)
    off = np.argmax(is_zero[at_edge], axis=1)
    rows = np.arange(len(at_edge), dtype=np.int64)
    side = corner[at_edge][rows, (off + 2) % 3] - corner[at_edge][rows, (off + 1) % 3]
    across = _normalized(np.cross(side, contacts.normal[at_edge]))
    n = contacts.normal[at_corner]
    first = _normalized(np.cross(n, np.eye(3)[np.argmin(np.abs(n), axis=1)]))
    which = np.concatenate([at_edge, at_corner, at_corner])
    order = np.argsort(which, kind="stable")
    return which[order], np.concatenate([across, first, np.cross(n, first)])[order]


def _normalized(vectors: Floats) -> Floats:
    return vectors / np.maximum(np.sqrt(np.sum(vectors**2, axis=1, keepdims=True)), 1e-300)


@kernel()
def fill_couplings(tets, attachment, nodes, coefficients, counts):
    """Writes the nodes of each contact, each once, and their coefficients; see `couple_contacts`."""
    tet, weights = attachment.tet, attachment.weights
    for c in range(len(tet)):
        count = 0
        if tet[c, 0] >= 0:
            for a in range(4):
                count = add_coefficient(tets[tet[c, 0], a], weights[c, a], nodes[c], coefficients[c], count)
        for end in range(1, MAX_TETS_PER_CONTACT):
            for a in range(4):
                share = -weights[c, 4 * end + a]
                if share != 0.0:
                    count = add_coefficient(tets[tet[c, end], a], share, nodes[c], coefficients[c], count)
        counts[c] = count


@kernel(device_only=True)
def add_coefficient(node, share, nodes, coefficients, count):
    """Adds a share to the coefficient of a node; returns the number of nodes then."""
    for i in range(count):
        if nodes[i] == node:
            coefficients[i] += share
            return count
    nodes[count], coefficients[count] = node, share
    return count + 1


@kernel()
def add_coupling_forces(couplings, size, force):
    """Adds c_i s n to the forces on the nodes of each coupling, `CouplingArrays`, for forces of size s [N] along n."""
    start, nodes, coefficients, normal = couplings
    for coupling in range(len(size)):
        for e in range(start[coupling], start[coupling + 1]):
            for axis in range(3):
                force[nodes[e], axis] += coefficients[e] * size[coupling] * normal[coupling, axis]


def coupling_distances(couplings: NodeCouplings, x: Floats) -> Floats:
    """Returns −Σ c_i n · x_i [m] of every coupling, (c,): the distance of its point from the place along n, its
    `scaled_normals`.
    """
    if not len(couplings):
        return np.zeros(0)
    along = np.sum(x[couplings.nodes] * np.repeat(couplings.scaled_normals, np.diff(couplings.start), axis=0), axis=1)
    return -np.add.reduceat(couplings.coefficients * along, couplings.start[:-1])


def has_free_node(couplings: NodeCouplings, is_free: Bools) -> np.ndarray:
    """Returns which couplings have a free node, (c,)."""
    if not len(couplings):
        return np.zeros(0, np.bool_)
    return np.logical_or.reduceat(is_free[couplings.nodes], couplings.start[:-1])
