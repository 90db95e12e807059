# SPDX-License-Identifier: GPL-3.0-or-later
"""Which tets a contact of two edges moves: those of the middles of both, by the positions of its places at rest."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...runtime.arrays import Bools, Floats, Indices
from ...runtime.jit import kernel
from .contact_binding import barycentric_weights, write_relative_position


class EdgePlaces(NamedTuple):
    """Pairs of edges a and b, (k,) each, and where on them they touch, from 0 at the beginning to 1, (k,) each."""

    a: Indices
    b: Indices
    along_a: Floats
    along_b: Floats


class BoundEdges(NamedTuple):
    """The arrays of `SharpEdges` that contacts are attached by.

    Attributes:
        ends, tet, size, surface, is_of_sheet, at_rest: See there.
        node: The first of `CollisionSurfaces.nodes` of every vertex, (v,): of one of a sheet, the node that it is.
    """

    ends: Indices
    tet: Indices
    size: Floats
    surface: Indices
    is_of_sheet: Bools
    at_rest: Floats
    node: Indices


@kernel()
def attach_edges(places, edges, materials, nodes, prescribed, min_inertial_factor, attached, carried):
    """Attaches contacts of edges to tets, and writes sizes, stiffnesses and μ, as `attach_contacts` does for points.

    Args:
        places: `EdgePlaces`; a may be on a collider, b is on a body.
        edges: `BoundEdges`.
        materials: `ContactMaterialArrays`.
        nodes: `TetNodes`.
        prescribed: `PrescribedVertices`, and corners of rigid colliders.
        min_inertial_factor: Least stiffness of a contact per mass [1/s²].
        attached: Out, `AttachedContacts`.
        carried: Out, see `ContactSet`, (k, 3).
    """
    (end_tet, weights), size, k, mu, compliance, yield_force = attached
    stiffness, point_mass, friction, ends = materials.stiffness, materials.mass, materials.friction, edges.ends
    q, own = np.empty(3), np.empty(4)
    for c in range(len(places.a)):
        a, b, along = places.a[c], places.b[c], places.along_a[c]
        is_prescribed = edges.tet[a] < 0
        end_tet[c], weights[c], compliance[c], yield_force[c] = -1, 0.0, 0.0, np.inf
        softness, mass = 0.0, np.inf
        for side in range(1 if is_prescribed else 2):
            edge, at = (a, along) if side == 0 and not is_prescribed else (b, places.along_b[c])
            end_tet[c, side] = edges.tet[edge]
            _write_edge_weights(edge, at, edges, nodes, q, own)
            lever = 1.0
            for i in range(4):
                weights[c, 4 * side + i] = own[i]
                lever = max(lever, abs(own[i]))
            one, other = ends[edge, 0], ends[edge, 1]
            softness += lever * lever / ((1.0 - at) * stiffness[one] + at * stiffness[other])
            mass = min(mass, ((1.0 - at) * point_mass[one] + at * point_mass[other]) / (lever * lever))
        write_relative_position(c, end_tet, weights, nodes.tets, nodes.start, carried)
        if is_prescribed:
            one, other = ends[a, 0], ends[a, 1]
            for i in range(3):
                moved = prescribed.end[one, i] - prescribed.start[one, i]
                carried[c, i] += moved + along * (prescribed.end[other, i] - prescribed.start[other, i] - moved)
        size[c] = min(edges.size[a], edges.size[b])
        k[c] = max(1.0 / softness, min_inertial_factor * mass)
        mu[c] = friction[edges.surface[a]]
        if not is_prescribed:
            mu[c] = math.sqrt(mu[c] * friction[edges.surface[b]])


@kernel(device_only=True)
def _write_edge_weights(edge, along, edges, nodes, q, weights):
    """Writes the weights in its tet, (4,), of the place `along` an edge of a body; q is room for it, (3,)."""
    tet, one, other = nodes.tets[edges.tet[edge]], edges.ends[edge, 0], edges.ends[edge, 1]
    if edges.is_of_sheet[edge]:  # hinges have no inside
        weights[:] = 0.0
        _add_share(tet, edges.node[one], 1.0 - along, weights)
        _add_share(tet, edges.node[other], along, weights)
        return
    for i in range(3):
        q[i] = edges.at_rest[one, i] + along * (edges.at_rest[other, i] - edges.at_rest[one, i])
    barycentric_weights(q, nodes.rest, tet, weights)


@kernel(device_only=True)
def _add_share(hinge, node, share, weights):
    """Adds a share to the weight of a node of a hinge; a triangle names its last corner twice, a strand thrice."""
    for i in range(4):
        if hinge[i] == node:
            weights[i] += share
            return
